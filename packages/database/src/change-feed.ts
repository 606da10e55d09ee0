import { messageOf } from "@shoal/primitives";
import { Client } from "pg";
import { connectionConfig, type Target } from "./connect.ts";
import type { DatabaseLog } from "./log.ts";
import type { Tables } from "./tables.ts";

export interface Change {
  readonly table: keyof Tables;
  /** Of the row; of a chunk of logs `INVOCATION@DEPLOYMENT`; of a new delivery the event. */
  readonly id: string;
}

/** `undefined` = changes may have been missed, so evict everything. */
export type ChangeListener = (change: Change | undefined) => void;

const channel = "shoal_changes";
const firstRetryMs = 50;
const maxRetryMs = 5000;
/** Detects connections that were dropped silently, for example by a firewall. */
const heartbeatMs = 30_000;

const notifyingTables: ReadonlySet<string> = new Set<keyof Tables>([
  "projects",
  "api_keys",
  "users",
  "profiles",
  "browser_pools",
  "telemetry_destinations",
  "handoffs",
  "live_view_links",
  "auth_flows",
  "flow_runs",
  "credential_providers",
  "vault_items",
  "invocations",
  "audit_export_destinations",
  "deployments",
  "app_log_chunks",
  "webhooks",
  "webhook_deliveries",
]);

function isNotifyingTable(name: string): name is keyof Tables {
  return notifyingTables.has(name);
}

function parse(payload: string): Change | undefined {
  const colon = payload.indexOf(":");
  const table = payload.slice(0, colon);
  return isNotifyingTable(table) ? { table, id: payload.slice(colon + 1) } : undefined;
}

/** Listeners also get `undefined` when the connection is lost or restored, because changes were missed. */
export class ChangeFeed {
  readonly #target: Target;
  readonly #log: DatabaseLog;
  readonly #listeners = new Set<ChangeListener>();
  #isClosed = false;
  #client: Client | undefined;
  #retry: NodeJS.Timeout | undefined;

  private constructor(target: Target, log: DatabaseLog) {
    this.#target = target;
    this.#log = log;
  }

  static async open(target: Target, log: DatabaseLog): Promise<ChangeFeed> {
    const feed = new ChangeFeed(target, log);
    await feed.#connect();
    return feed;
  }

  listen(listener: ChangeListener): () => void {
    // A new function, so that a listener can be added and removed twice.
    const entry: ChangeListener = (change) => {
      listener(change);
    };
    this.#listeners.add(entry);
    return () => {
      this.#listeners.delete(entry);
    };
  }

  isListening(): boolean {
    return this.#client !== undefined;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.#listeners.clear();
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => undefined);
  }

  async #connect(): Promise<void> {
    const client = new Client({ ...connectionConfig(this.#target), query_timeout: 10_000 });
    // Before the connection is open, connect() and query() report failures.
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
      // A newer server may have added a table that this version does not cache.
      if (change !== undefined) this.#notify(change);
    });
    let isLost = false;
    const lose = (): void => {
      if (isLost) return;
      isLost = true;
      clearInterval(heartbeat);
      client.end().catch(() => undefined);
      this.#onLost();
    };
    const heartbeat = setInterval(() => {
      client.query("select 1").catch(lose);
    }, heartbeatMs);
    client.on("error", lose);
    client.on("end", lose);
    if (this.#isClosed) lose();
    else this.#client = client;
  }

  #onLost(): void {
    this.#client = undefined;
    if (this.#isClosed) return;
    this.#log.warn({}, "lost the connection for database changes");
    this.#notify(undefined);
    this.#reconnect(firstRetryMs);
  }

  #reconnect(delayMs: number): void {
    this.#retry = setTimeout(() => {
      this.#connect().then(
        () => {
          if (this.#isClosed) return;
          this.#log.info({}, "receiving database changes again");
          this.#notify(undefined);
        },
        () => {
          if (!this.#isClosed) this.#reconnect(Math.min(delayMs * 2, maxRetryMs));
        },
      );
    }, delayMs);
  }

  #notify(change: Change | undefined): void {
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (error) {
        this.#log.error({ error: messageOf(error) }, "a listener for database changes failed");
      }
    }
  }
}
