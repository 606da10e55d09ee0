import type { Database } from "@shoal/database";
import { sql } from "kysely";

/** The time of the database, by which all servers agree about deadlines: the clock of one server may be wrong. */
export async function databaseTimeMs(query: Database["query"]): Promise<number> {
  const { rows } = await sql<{
    ms: number;
  }>`select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`.execute(query);
  const [{ ms } = { ms: Number.NaN }] = rows;
  return Math.floor(ms);
}
