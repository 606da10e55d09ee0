import type { PostgresPoolClient, PostgresQueryResult } from "kysely";
import { Client, type Pool, type PoolClient } from "pg";
import type { HoldablePool, PooledClient } from "./one-transaction.ts";
import { markBroken, markNoConnection } from "./outage.ts";

/** Each costs some kilobytes per connection; queries with lists of varying length would fill the server's memory. */
const maxStatements = 200;

interface PreparedQuery {
  name?: string;
  text: string;
  values: unknown[];
  query_timeout?: number;
}

/** Returns whether a migration changed the statement's columns. The next attempt prepares a new one. */
export function isOutdatedPlan(error: unknown): boolean {
  return typeof error === "object" && error !== null && "routine" in error && error.routine === "RevalidateCachedQuery";
}

/**
 * Prepares queries with parameters under a name, so that a connection parses and plans each once. Repeats a statement
 * that a migration outdated, outside a transaction. Does not reuse broken connections.
 * @param patienceMs - timeout on the client, for networks that drop packets; `undefined` = unlimited.
 */
export function preparing(pool: Pool, patienceMs: () => number | undefined): HoldablePool {
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
  const limit = (): { query_timeout?: number } => {
    const limitMs = patienceMs();
    return limitMs === undefined ? {} : { query_timeout: limitMs };
  };
  const prepared = (text: string, values: unknown[]): PreparedQuery => {
    const name = nameOf(text);
    return name === undefined ? { text, values, ...limit() } : { name, text, values, ...limit() };
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

  // Kysely identifies a connection by its object, so each client has one wrapper.
  const wrappers = new WeakMap<PoolClient, PooledClient>();
  const broken = new WeakSet<PoolClient>();
  async function connect(): Promise<PooledClient> {
    try {
      return wrap(await pool.connect());
    } catch (error) {
      throw markNoConnection(error);
    }
  }

  function wrap(client: PoolClient): PooledClient {
    const known = wrappers.get(client);
    if (known !== undefined) return known;
    const query = async (text: string, parameters: readonly unknown[] = []): Promise<unknown> => {
      try {
        return await (parameters.length === 0
          ? client.query({ text, ...limit() })
          : run(client, text, [...parameters]));
      } catch (error) {
        if (markBroken(error)) broken.add(client);
        throw error;
      }
    };
    const wrapper: PooledClient = {
      query: query as <R>(
        text: string,
        parameters: readonly unknown[],
      ) => Promise<PostgresQueryResult<R>> as PostgresPoolClient["query"],
      release: (destroy) => {
        client.release(broken.has(client) || destroy);
      },
      isIdle: () => client.getTransactionStatus() === "I",
    };
    wrappers.set(client, wrapper);
    return wrapper;
  }

  return { Client, options: pool.options, connect, end: () => pool.end() };
}
