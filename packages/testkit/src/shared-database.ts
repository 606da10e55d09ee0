export interface SharedDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** @returns a new, migrated database in the PostgreSQL of this run of Vitest; `undefined` if the run has none. */
export async function sharedDatabase(): Promise<SharedDatabase | undefined> {
  const databases = process.env.SHOAL_TEST_DATABASES;
  if (databases === undefined) return undefined;
  const url = await ask(databases, "POST");
  const drop = async (): Promise<void> => {
    await ask(databases, "DELETE", url);
  };
  return { url, drop };
}

async function ask(databases: string, method: string, body?: string): Promise<string> {
  const response = await fetch(databases, { method, ...(body !== undefined && { body }) });
  const answer = await response.text();
  if (!response.ok) throw new Error(`The databases of this run: ${answer}`);
  return answer;
}
