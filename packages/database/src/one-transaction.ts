import { AsyncLocalStorage } from "node:async_hooks";
import type { PostgresPool, PostgresPoolClient } from "kysely";
import { markNoConnection } from "./outage.ts";

export interface HeldConnection {
  /** Sends statements without parameters in one round trip, up to the first that fails. @returns the rows of each. */
  send(statements: string): Promise<readonly (readonly Readonly<Record<string, unknown>>[])[]>;
  /** Runs the queries of `work` here, one at a time; a transaction becomes a savepoint. Later queries use the pool. */
  share<Result>(work: () => Result | Promise<Result>): Promise<Result>;
}

export interface OneTransaction {
  /** Rolls back unless {@link HeldConnection.send} commits. `use` must not need a second connection. */
  hold<Result>(use: (connection: HeldConnection) => Promise<Result>): Promise<Result>;
  /** Whether queries here join an open transaction: reads may be uncommitted, so do not cache them. */
  readonly isJoined: () => boolean;
  /** Runs `task`, which must not fail, once the joined transaction has ended, or now outside of one. */
  afterwards(task: () => void | Promise<void>): Promise<void>;
}

export interface PooledClient extends PostgresPoolClient {
  isIdle(): boolean;
}

export interface HoldablePool extends PostgresPool {
  connect(): Promise<PooledClient>;
}

interface Session {
  readonly client: PooledClient;
  readonly turns: Turns;
  isOpen: boolean;
  isOver: boolean;
  readonly tasks: (() => void | Promise<void>)[];
}

interface Turns {
  take(): Promise<boolean>;
  pass(): void;
  dismiss(): void;
}

function createTurns(patienceMs: number): Turns {
  const waiting: { readonly resolve: (isMine: boolean) => void }[] = [];
  let isTaken = false;
  return {
    async take() {
      if (!isTaken) {
        isTaken = true;
        return true;
      }
      const { promise, reject, resolve } = Promise.withResolvers<boolean>();
      const mine = { resolve };
      waiting.push(mine);
      const timer = setTimeout(() => {
        const index = waiting.indexOf(mine);
        if (index === -1) return;
        waiting.splice(index, 1);
        // Begins like the timeout error of the pool, by which outages are classified.
        reject(
          new Error(
            "timeout exceeded while waiting for the connection of this transaction; its current query may depend on this one",
          ),
        );
      }, patienceMs);
      try {
        return await promise;
      } finally {
        clearTimeout(timer);
      }
    },
    pass() {
      const next = waiting.shift();
      if (next === undefined) isTaken = false;
      else next.resolve(true);
    },
    dismiss() {
      for (const { resolve } of waiting.splice(0)) resolve(false);
    },
  };
}

const parts: Readonly<Record<string, string>> = {
  begin: "savepoint shoal_part",
  commit: "release savepoint shoal_part",
  rollback: "rollback to savepoint shoal_part; release savepoint shoal_part",
};

function guestOf(session: Session): PostgresPoolClient {
  const { client, turns } = session;
  const query = (text: string, parameters: readonly unknown[]) => {
    if (session.isOver) throw new Error("The transaction of this query has ended.");
    if (/^start transaction/i.test(text))
      throw new Error("A nested transaction cannot choose an isolation level or access mode.");
    return client.query(parts[text] ?? text, parameters);
  };
  return {
    // Kysely's signature is overloaded for cursors, which are not configured here.
    query: query as PostgresPoolClient["query"],
    release: () => {
      turns.pass();
    },
  };
}

async function withdraw(session: Session): Promise<void> {
  session.isOpen = false;
  session.turns.dismiss();
  await session.turns.take();
  session.turns.pass();
}

async function giveBack(session: Session, hasFailed: boolean): Promise<void> {
  session.isOver = true;
  const { client } = session;
  // After an error, the driver updates the state of the transaction later.
  if (!hasFailed && client.isIdle()) {
    client.release();
    return;
  }
  try {
    await client.query("rollback", []);
    client.release();
  } catch {
    client.release(true);
  }
}

/** @param patienceMs - milliseconds that a query waits for earlier ones on the same connection. */
export function joining(pool: HoldablePool, patienceMs: number): OneTransaction & { readonly pool: PostgresPool } {
  const storage = new AsyncLocalStorage<Session | undefined>();
  const joined = (): Session | undefined => {
    const session = storage.getStore();
    return session?.isOpen === true ? session : undefined;
  };

  async function connect(): Promise<PostgresPoolClient> {
    const session = joined();
    if (session === undefined) return pool.connect();
    const isMine = await session.turns.take().catch((error: unknown) => {
      throw markNoConnection(error);
    });
    if (isMine && session.isOpen) return guestOf(session);
    if (isMine) session.turns.pass();
    return pool.connect();
  }

  return {
    pool: { ...pool, connect },
    isJoined: () => joined() !== undefined,

    async afterwards(task) {
      const session = joined();
      if (session === undefined) await task();
      else session.tasks.push(task);
    },

    async hold(use) {
      const client = await pool.connect();
      const session: Session = { client, turns: createTurns(patienceMs), isOpen: false, isOver: false, tasks: [] };
      let hasFailed = true;
      try {
        const result = await use({
          async send(statements) {
            const result: unknown = await client.query(statements, []);
            return (Array.isArray(result) ? result : [result]).map(
              ({ rows }: { readonly rows: readonly Record<string, unknown>[] }) => rows,
            );
          },
          async share(work) {
            session.isOpen = true;
            try {
              return await storage.run(session, async () => work());
            } finally {
              await withdraw(session);
            }
          },
        });
        hasFailed = false;
        return result;
      } finally {
        await giveBack(session, hasFailed);
        await storage.run(undefined, async () => {
          for (const task of session.tasks) await task();
        });
      }
    },
  };
}
