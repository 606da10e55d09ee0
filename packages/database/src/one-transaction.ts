import { AsyncLocalStorage } from "node:async_hooks";
import type { PostgresPool, PostgresPoolClient } from "kysely";
import { markNoConnection } from "./outage.ts";

/** A connection of the pool for one purpose. */
export interface HeldConnection {
  /**
   * Sends statements without parameters in one message, so that they cost one round trip; those after a failed one are not run.
   *
   * @returns the rows of each.
   */
  send(statements: string): Promise<readonly (readonly Readonly<Record<string, unknown>>[])[]>;
  /**
   * Runs work whose queries all go to this connection, without being passed it: those at once wait for one another, and a transaction of the
   * work is a part (savepoint) of the one that is open here. What the work leaves running goes back to the pool as soon as this has resolved.
   */
  share<Result>(work: () => Result | Promise<Result>): Promise<Result>;
}

/** How queries join one transaction. */
export interface OneTransaction {
  /**
   * Holds a connection. Whatever transaction is open at the end is rolled back, so a transaction is done only by a `commit` of {@link HeldConnection.send}.
   * Nothing done in it may need a second connection: as many as there are can be held.
   */
  hold<Result>(use: (connection: HeldConnection) => Promise<Result>): Promise<Result>;
  /** Whether queries from here join a transaction that is still open: what they read may be what nobody else can see, and may never be. */
  readonly isJoined: () => boolean;
  /** Does something, outside of it, when the transaction that queries from here join has ended, well or not; now where they join none. `hold` resolves after it. @param task - must not fail. */
  afterwards(task: () => void | Promise<void>): Promise<void>;
}

/** As the pool of `prepared-statements.ts` gives them. */
export interface PooledClient extends PostgresPoolClient {
  /** Whether no transaction is open. */
  isIdle(): boolean;
}

/** A pool of such. */
export interface HoldablePool extends PostgresPool {
  connect(): Promise<PooledClient>;
}

interface Session {
  readonly client: PooledClient;
  readonly turns: Turns;
  /** Whether queries join. */
  isOpen: boolean;
  /** Somebody else may have the connection now. */
  isOver: boolean;
  readonly tasks: (() => void | Promise<void>)[];
}

/** One at a time, in the order in which they came. */
interface Turns {
  /** @returns false when those who did not hold the connection were sent away meanwhile. */
  take(): Promise<boolean>;
  pass(): void;
  /** Sends away those who wait. */
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
        // In the pool's own words, as it would say of a connection that does not come.
        reject(new Error("timeout exceeded while waiting for the connection of this transaction; what holds it may wait for this query"));
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

/** Kysely's words for a transaction, as a part of one that is open already. */
const parts: Readonly<Record<string, string>> = {
  begin: "savepoint shoal_part",
  commit: "release savepoint shoal_part",
  rollback: "rollback to savepoint shoal_part; release savepoint shoal_part",
};

function guestOf(session: Session): PostgresPoolClient {
  const { client, turns } = session;
  const query = (text: string, parameters: readonly unknown[]) => {
    if (session.isOver) throw new Error("The transaction that this query was a part of has ended.");
    if (/^start transaction/i.test(text)) throw new Error("A part of a transaction has the isolation level and the access mode of the whole.");
    return client.query(parts[text] ?? text, parameters);
  };
  return {
    // Kysely's signature is overloaded for cursors, which this package does not configure.
    query: query as PostgresPoolClient["query"],
    release: () => {
      turns.pass();
    },
  };
}

/**
 * @param pool - whose connections are held, and where queries go that join nothing.
 * @param patienceMs - how long a query waits for those before it on the same connection.
 * @returns what Kysely is to use instead of the pool.
 */
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

  /** Nobody else has the connection when this resolves. */
  async function withdraw(session: Session): Promise<void> {
    session.isOpen = false;
    session.turns.dismiss();
    await session.turns.take();
    session.turns.pass();
  }

  async function giveBack(session: Session, hasFailed: boolean): Promise<void> {
    session.isOver = true;
    const { client } = session;
    // After an error the driver learns of the transaction's state only later.
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
            // The driver's result of one statement, or a list of those of several.
            return (Array.isArray(result) ? result : [result]).map(({ rows }: { readonly rows: readonly Record<string, unknown>[] }) => rows);
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
