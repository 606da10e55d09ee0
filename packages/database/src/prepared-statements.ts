import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from "kysely";
import { Client, type Pool, type PoolClient } from "pg";

/** Each costs the server some kilobytes a connection; queries with lists of changing length would else fill its memory. */
const maxStatements = 200;

interface PreparedQuery {
  name?: string;
  text: string;
  values: unknown[];
}

/** Whether the server refuses a prepared statement because a migration changed the columns that it returns. */
function isOutdatedPlan(error: unknown): boolean {
  return typeof error === "object" && error !== null && "routine" in error && error.routine === "RevalidateCachedQuery";
}

/**
 * A pool for Kysely whose queries with parameters are prepared under a name, so that a connection parses and plans each of
 * them once. A statement that a migration of another replica outdated is prepared anew, and outside of a transaction
 * repeated at once.
 */
export function preparing(pool: Pool): PostgresPool {
  const names = new Map<string, string>();
  let made = 0;
  const nameOf = (text: string): string | undefined => {
    const known = names.get(text);
    if (known !== undefined || names.size >= maxStatements) return known;
    made += 1;
    const name = `shoal_${made}`;
    names.set(text, name);
    return name;
  };
  const prepared = (text: string, values: unknown[]): PreparedQuery => {
    const name = nameOf(text);
    return name === undefined ? { text, values } : { name, text, values };
  };

  async function run(client: PoolClient, text: string, values: unknown[]): Promise<unknown> {
    const query = prepared(text, values);
    try {
      return await client.query(query);
    } catch (error) {
      if (!isOutdatedPlan(error)) throw error;
      if (names.get(text) === query.name) names.delete(text);
      if (client.getTransactionStatus() !== "I") throw error;
      return await client.query(prepared(text, values));
    }
  }

  // Kysely recognises a connection by its object, so a client always gets the same one.
  const wrappers = new WeakMap<PoolClient, PostgresPoolClient>();
  function wrap(client: PoolClient): PostgresPoolClient {
    const known = wrappers.get(client);
    if (known !== undefined) return known;
    const query = (text: string, parameters: readonly unknown[] = []): Promise<unknown> =>
      parameters.length === 0 ? client.query(text) : run(client, text, [...parameters]);
    const wrapper: PostgresPoolClient = {
      // Kysely's signature is overloaded for cursors, which this package does not configure.
      query: query as <R>(text: string, parameters: readonly unknown[]) => Promise<PostgresQueryResult<R>> as PostgresPoolClient["query"],
      release: (destroy) => {
        client.release(destroy);
      },
    };
    wrappers.set(client, wrapper);
    return wrapper;
  }

  return { Client, options: pool.options, connect: async () => wrap(await pool.connect()), end: () => pool.end() };
}
