import type { Database, ServersTable } from "@shoal/database";
import { sql, type Updateable } from "kysely";
import { setTimeout as delay } from "node:timers/promises";
import { createId } from "@shoal/primitives";
import type { Log } from "../log/log.ts";
import { StartError } from "../config/start-error.ts";
import { version } from "../config/version.ts";
import { ownAddresses } from "./replica-address.ts";

const usualBeatMs = 1_000;
/** A server without a heartbeat for this time is dead, and so are its sessions. Detection takes at most 9 s. */
const silenceMs = 7_000;
/** Missed heartbeats prove nothing after a longer pause of this process or the database. */
const gapMs = 4_000;

export interface Peer {
  readonly id: string;
  /** Changes with each registration. */
  readonly life: string;
  readonly address: string | null;
  /** Of its machine. */
  readonly addresses: readonly string[];
  readonly region: string | null;
}

export interface HeartbeatOptions {
  readonly serverId: string;
  readonly secretCheck: Buffer;
  readonly region: string;
  readonly log: Log;
  /** Monotonic, in milliseconds. */
  readonly now?: () => number;
  readonly beatMs?: number;
  /** Called when the others declared this server dead: its sessions are `instance_lost` and must end. */
  readonly onGivenUp: () => void;
  readonly onGone?: (peer: Peer) => void;
}

interface Heard {
  readonly beat: string;
  readonly life: string;
  sinceMs: number;
}

export class Heartbeat {
  readonly #embedded: boolean;
  readonly #query: Database["query"];
  readonly #serverId: string;
  readonly #secretCheck: Buffer;
  readonly #region: string;
  readonly #log: Log;
  readonly #now: () => number;
  readonly #beatMs: number;
  readonly #onGivenUp: () => void;
  readonly #onGone: ((peer: Peer) => void) | undefined;
  readonly peers = new Map<string, Peer>();
  readonly #heard = new Map<string, Heard>();
  readonly #moment = sql<string>`clock_timestamp()`;
  #life = createId();
  #address: string | null = null;
  #drain: { readonly draining_since: Date; readonly drain_until: Date | null } | undefined;
  #lastOkMs: number;
  #pauses = 0;
  #cleared = 0;
  #stopped = false;
  #running: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor({ embedded, pulse: query }: Database, options: HeartbeatOptions) {
    this.#embedded = embedded;
    this.#query = query;
    const {
      serverId,
      secretCheck,
      region,
      log,
      now = () => performance.now(),
      beatMs = usualBeatMs,
      onGivenUp,
      onGone,
    } = options;
    this.#serverId = serverId;
    this.#secretCheck = secretCheck;
    this.#region = region;
    this.#log = log;
    this.#now = now;
    this.#beatMs = beatMs;
    this.#onGivenUp = onGivenUp;
    this.#onGone = onGone;
    this.#lastOkMs = this.#now();
  }

  async start(): Promise<void> {
    await this.#refuseOtherSecrets();
    if (!this.#embedded) await this.#refuseTwin();
    await this.#register();
    await this.#beat();
    let lastTickMs = this.#now();
    this.#timer = setInterval(() => {
      const atMs = this.#now();
      if (atMs - lastTickMs > gapMs) this.#pauses += 1;
      lastTickMs = atMs;
      this.#running ??= this.#beat()
        .catch((error: unknown) => {
          this.#log.warn({ err: error }, "the heartbeat could not be written");
        })
        .finally(() => {
          this.#running = undefined;
        });
    }, this.#beatMs);
  }

  async refresh(): Promise<void> {
    await this.#hear();
  }

  // An embedded database has no other server that could declare this one dead.
  /** True while the others may have declared this server dead after a pause; false after the next beat. */
  isDoubtful(): boolean {
    return this.#cleared !== this.#pauses && (!this.#embedded || this.peers.size > 0);
  }

  async announce(own: string): Promise<void> {
    this.#address = own;
    await this.#update({ address: own });
  }

  /** @param forMs - until the server ends its sessions; `undefined` = until the operator stops it. */
  async announceDrain(forMs: number | undefined): Promise<void> {
    const now = new Date();
    this.#drain = {
      draining_since: this.#drain?.draining_since ?? now,
      drain_until: forMs === undefined ? null : new Date(now.getTime() + forMs),
    };
    await this.#update(this.#drain);
  }

  async #update(changes: Updateable<ServersTable>): Promise<void> {
    await this.#query
      .updateTable("servers")
      .set(changes)
      .where("id", "=", this.#serverId)
      .where("life", "=", this.#life)
      .execute();
  }

  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    clearInterval(this.#timer);
    await this.#running;
    await this.#query.transaction().execute(async (transaction) => {
      const removed = await transaction
        .deleteFrom("servers")
        .where("id", "=", this.#serverId)
        .where("life", "=", this.#life)
        .executeTakeFirst();
      if (removed.numDeletedRows === 0n) return;
      await transaction
        .updateTable("sessions")
        .set({ ended_at: sql<string>`now()`, ended_reason: "server_stopped" })
        .where("server_id", "=", this.#serverId)
        .where("ended_at", "is", null)
        .execute();
    });
  }

  async #register(): Promise<void> {
    const own = {
      life: this.#life,
      address: this.#address,
      addresses: ownAddresses(),
      version,
      region: this.#region,
      secret_check: this.#secretCheck,
      draining_since: this.#drain?.draining_since ?? null,
      drain_until: this.#drain?.drain_until ?? null,
      started_at: this.#moment,
      heartbeat_at: this.#moment,
    };
    await this.#query
      .insertInto("servers")
      .values({ id: this.#serverId, ...own })
      .onConflict((conflict) => conflict.column("id").doUpdateSet(own))
      .execute();
    await this.#query
      .deleteFrom("idempotency_keys")
      .where("server_id", "=", this.#serverId)
      .where("status", "=", 0)
      .execute();
  }

  async #refuseOtherSecrets(): Promise<void> {
    const other = await this.#query
      .selectFrom("servers")
      .select(["id", "address"])
      .where("id", "<>", this.#serverId)
      .where("secret_check", "is not", null)
      .where("secret_check", "<>", this.#secretCheck)
      .where(sql<boolean>`heartbeat_at > now() - interval '10 seconds'`)
      .executeTakeFirst();
    if (other === undefined) return;
    throw new StartError(
      `Another server of this database (${other.address ?? other.id}) has a different secret: the servers could not decrypt each other's data or accept each other's session URLs.`,
      {
        hint: "Give every server the same secret with --secret-key or SHOAL_SECRET_KEY.",
      },
    );
  }

  /** Two servers with one id would end each other's sessions. A killed server has the id too, but no new heartbeats. */
  async #refuseTwin(): Promise<void> {
    const beatOf = async () =>
      (
        await this.#query
          .selectFrom("servers")
          .select(sql<string>`heartbeat_at::text`.as("beat"))
          .where("id", "=", this.#serverId)
          .where(sql<boolean>`heartbeat_at > clock_timestamp() - interval '3 seconds'`)
          .executeTakeFirst()
      )?.beat;
    const before = await beatOf();
    if (before === undefined) return;
    await delay(2.5 * usualBeatMs);
    const after = await beatOf();
    if (after === undefined || after === before) return;
    throw new StartError(`A server with this id (${this.#serverId}) is already running: the data folder is a copy.`, {
      hint: "Delete the file server-id from the copy; this server then creates a new id.",
    });
  }

  /** Does nothing if the server beats again or another server has cleaned up. */
  async #takeOver(id: string, silent: Heard): Promise<void> {
    const left = await this.#query.transaction().execute(async (transaction) => {
      const removed = await transaction
        .deleteFrom("servers")
        .where("id", "=", id)
        .where("life", "=", silent.life)
        .where(sql<boolean>`heartbeat_at::text = ${silent.beat}`)
        .executeTakeFirst();
      if (removed.numDeletedRows === 0n) return undefined;
      const { numUpdatedRows } = await transaction
        .updateTable("sessions")
        .set({ ended_at: sql<string>`now()`, ended_reason: "instance_lost" })
        .where("server_id", "=", id)
        .where("ended_at", "is", null)
        .executeTakeFirst();
      await sql`select shoal_lose_invocations(${id})`.execute(transaction);
      await sql`select shoal_lose_logins(${id})`.execute(transaction);
      await sql`select shoal_lose_flow_runs(${id})`.execute(transaction);
      await transaction.deleteFrom("browser_pool_waiters").where("server_id", "=", id).execute();
      await transaction.deleteFrom("idempotency_keys").where("server_id", "=", id).where("status", "=", 0).execute();
      return Number(numUpdatedRows);
    });
    if (left !== undefined)
      this.#log.warn(
        { server_id: id, sessions: left },
        "a server stopped sending heartbeats: its sessions were ended as instance_lost",
      );
  }

  /** Updates {@link peers}. @returns the last heartbeat of each server, by id. */
  async #hear(): Promise<Map<string, string>> {
    const rows = await this.#query
      .selectFrom("servers")
      .select(["id", "life", "address", "addresses", "region", sql<string>`heartbeat_at::text`.as("beat")])
      .where("id", "<>", this.#serverId)
      .execute();
    for (const peer of [...this.peers.values()]) {
      const row = rows.find(({ id }) => id === peer.id);
      if (row?.life === peer.life) continue;
      this.peers.delete(peer.id);
      this.#heard.delete(peer.id);
      this.#onGone?.(peer);
    }
    for (const { beat: _beat, ...peer } of rows) this.peers.set(peer.id, peer);
    return new Map(rows.map(({ id, beat: last }) => [id, last]));
  }

  async #beat(): Promise<void> {
    const known = this.#pauses;
    const { numUpdatedRows } = await this.#query
      .updateTable("servers")
      .set({ heartbeat_at: this.#moment, addresses: ownAddresses() })
      .where("id", "=", this.#serverId)
      .where("life", "=", this.#life)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) {
      this.#log.error({}, "the other servers declared this server dead; it ends its sessions and registers again");
      this.#life = createId();
      this.#onGivenUp();
      await this.#register();
    }
    const beats = await this.#hear();
    const atMs = this.#now();
    const paused = atMs - this.#lastOkMs > gapMs;
    this.#lastOkMs = atMs;
    for (const peer of [...this.peers.values()]) {
      const last = beats.get(peer.id);
      if (last === undefined) continue;
      const before = this.#heard.get(peer.id);
      if (before?.beat !== last || paused) this.#heard.set(peer.id, { beat: last, life: peer.life, sinceMs: atMs });
      else if (atMs - before.sinceMs >= silenceMs) await this.#takeOver(peer.id, before);
    }
    this.#cleared = known;
  }
}

/**
 * For a dead server, ends the sessions as `instance_lost`, drops waiting pool requests and releases Idempotency-Keys.
 * Clock changes, database outages and pauses of this process do not make a running server look dead.
 * @throws {StartError} when another server of this database has different secrets or the same id.
 */
export async function startHeartbeat(database: Database, options: HeartbeatOptions): Promise<Heartbeat> {
  const heartbeat = new Heartbeat(database, options);
  await heartbeat.start();
  return heartbeat;
}
