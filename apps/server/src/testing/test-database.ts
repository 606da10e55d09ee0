import { type Database, openDatabase } from "@shoal/database";
import { join } from "node:path";

export interface TestDatabase {
  /** Its `close` also drops it. */
  readonly database: Database;
  readonly url: string;
}

const silent = () => undefined;
export const silentLog = { debug: silent, info: silent, warn: silent, error: silent };

/**
 * Opens a new, migrated database: in the PostgreSQL of the run of Vitest, or without one embedded in this directory.
 * @param directory - missing or empty.
 * @param options.embedded - with a separate PostgreSQL, to look at its files and processes.
 */
export async function openTestDatabase(
  directory: string,
  options: { readonly embedded?: boolean } = {},
): Promise<TestDatabase> {
  const databases = process.env.SHOAL_TEST_DATABASES;
  if (databases === undefined || options.embedded === true) {
    const database = await openDatabase({ dataDir: directory, log: silentLog });
    const url = `postgres:///postgres?host=${encodeURIComponent(join(directory, "run"))}&port=5432&user=shoal`;
    return { database, url };
  }
  const url = await ask(databases, "POST");
  const database = await openDatabase({ url, dataDir: "", log: silentLog });
  let closing: Promise<void> | undefined;
  const close = async () => {
    await database.close();
    await ask(databases, "DELETE", url);
  };
  // A server with an embedded database is alone: an own database is as good.
  return { url, database: { ...database, embedded: true, close: () => (closing ??= close()) } };
}

async function ask(databases: string, method: string, body?: string): Promise<string> {
  const response = await fetch(databases, { method, ...(body !== undefined && { body }) });
  const answer = await response.text();
  if (!response.ok) throw new Error(`The databases of this run: ${answer}`);
  return answer;
}
