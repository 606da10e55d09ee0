import { type Database, openDatabase } from "@shoal/database";
import { sharedDatabase } from "@shoal/testkit";
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
  const shared = options.embedded === true ? undefined : await sharedDatabase();
  if (shared === undefined) {
    const database = await openDatabase({ dataDir: directory, log: silentLog });
    const url = `postgres:///postgres?host=${encodeURIComponent(join(directory, "run"))}&port=5432&user=shoal`;
    return { database, url };
  }
  const { url } = shared;
  const database = await openDatabase({ url, dataDir: "", log: silentLog });
  let closing: Promise<void> | undefined;
  const close = async () => {
    await database.close();
    await shared.drop();
  };
  // A server with an embedded database is alone: an own database is as good.
  return { url, database: { ...database, embedded: true, close: () => (closing ??= close()) } };
}
