import { Client } from "pg";
import { connectionConfig, type Target } from "./connect.ts";
import type { DatabaseLog } from "./log.ts";
import type { Tables } from "./tables.ts";

/** A row that was inserted, updated or deleted by any replica, this one included. */
export interface Change {
  readonly table: keyof Tables;
  readonly id: string;
}

/** `undefined` = changes may have been missed: forget everything cached. */
export type ChangeListener = (change: Change | undefined) => void;

/** A connection of its own that hears every change. */
export interface ChangeFeed {
  listen(listener: ChangeListener): () => void;
  /** Whether changes are being heard now; while not, what is read may change unnoticed. */
  isListening(): boolean;
  close(): Promise<void>;
}

const channel = "shoal_changes";
const firstRetryMs = 50;
const maxRetryMs = 5000;
/** A peer that vanished without a word (a cable, a firewall's forgotten connection) is noticed by the next of these. */
const heartbeatMs = 30_000;

const notifyingTables: ReadonlySet<string> = new Set<keyof Tables>([
  "projects",
  "api_keys",
  "profiles",
  "browser_pools",
  "telemetry_destinations",
  "audit_export_destinations",
]);

function isNotifyingTable(name: string): name is keyof Tables {
  return notifyingTables.has(name);
}

function parse(payload: string): Change | undefined {
  const colon = payload.indexOf(":");
  const table = payload.slice(0, colon);
  return isNotifyingTable(table) ? { table, id: payload.slice(colon + 1) } : undefined;
}

/**
 * Listens for changes until it is closed. When the connection is lost, listeners get `undefined` at once and again when it is
 * back, because what was cached in between went unwatched too; retries start at 50 ms and slow down to 5 s.
 */
export async function openChangeFeed(target: Target, log: DatabaseLog): Promise<ChangeFeed> {
  const listeners = new Set<ChangeListener>();
  let closed = false;
  let current: Client | undefined;
  let retry: NodeJS.Timeout | undefined;

  function tell(change: Change | undefined): void {
    for (const listener of listeners) {
      try {
        listener(change);
      } catch (error) {
        log.error({ error: error instanceof Error ? error.message : String(error) }, "a listener for database changes failed");
      }
    }
  }

  async function connect(): Promise<void> {
    const client = new Client({ ...connectionConfig(target), query_timeout: 10_000 });
    // Until it is connected, failures reach the caller through connect() and query().
    client.on("error", () => undefined);
    try {
      await client.connect();
      await client.query(`listen ${channel}`);
    } catch (error) {
      client.end().catch(() => undefined);
      throw error;
    }
    client.on("notification", ({ payload = "" }) => {
      const change = parse(payload);
      // A table that this version does not know was added by a newer replica; nothing of it is cached here.
      if (change !== undefined) tell(change);
    });
    let lost = false;
    const lose = (): void => {
      if (lost) return;
      lost = true;
      clearInterval(heartbeat);
      client.end().catch(() => undefined);
      onLost();
    };
    const heartbeat = setInterval(() => {
      client.query("select 1").catch(lose);
    }, heartbeatMs);
    client.on("error", lose);
    client.on("end", lose);
    if (closed) {
      lose();
      return;
    }
    current = client;
  }

  function onLost(): void {
    current = undefined;
    if (closed) return;
    log.warn({}, "lost the connection that hears database changes");
    tell(undefined);
    reconnect(firstRetryMs);
  }

  function reconnect(delayMs: number): void {
    retry = setTimeout(() => {
      connect().then(
        () => {
          if (closed) return;
          log.info({}, "database changes are heard again");
          tell(undefined);
        },
        () => {
          if (!closed) reconnect(Math.min(delayMs * 2, maxRetryMs));
        },
      );
    }, delayMs);
  }

  await connect();
  return {
    listen(listener) {
      // A function of its own for each call, so that one listener registered twice is told and removed twice.
      const entry: ChangeListener = (change) => {
        listener(change);
      };
      listeners.add(entry);
      return () => {
        listeners.delete(entry);
      };
    },
    isListening: () => current !== undefined,
    async close() {
      closed = true;
      clearTimeout(retry);
      listeners.clear();
      const client = current;
      current = undefined;
      await client?.end().catch(() => undefined);
    },
  };
}
