import type { Database } from "@shoal/database";
import { sql } from "kysely";
import { setTimeout as delay } from "node:timers/promises";
import { createId } from "../ids.ts";
import type { Log } from "../log.ts";
import { StartError } from "../start-error.ts";
import { version } from "../version.ts";

const usualBeatMs = 1_000;
/** A server that was not heard of for so long, while this one heard everything, is gone, and its sessions with it. At most 9 s pass from its death until then. */
const silenceMs = 7_000;
/** One of an earlier version beats every 10 s. */
const oldSilenceMs = 60_000;
/** This process stood still, or the database was away: what was not heard meanwhile says nothing about the others. */
const gapMs = 4_000;

/** Another server, as it was last heard of. */
export interface Peer {
  readonly id: string;
  /** Another one at each of its registrations. */
  readonly life: string;
  /** `null` until it listens, and of an earlier version. */
  readonly address: string | null;
  /** Where it is; `null` of a version without regions. */
  readonly region: string | null;
}

/** Tells other servers that this one lives, and takes over what those leave that do not. */
export interface Heartbeat {
  /** The other servers, by id. */
  readonly peers: ReadonlyMap<string, Peer>;
  /** Hears of the others at once. */
  refresh(): Promise<void>;
  /** Whether the others may have given this server up without its having noticed yet: this process has stood still. Over with the next beat. */
  isDoubtful(): boolean;
  /** Says where the others reach this one. */
  announce(address: string): Promise<void>;
  stop(): Promise<void>;
}

export interface HeartbeatOptions {
  readonly serverId: string;
  /** The same on servers whose secrets are the same. */
  readonly secretCheck: Buffer;
  /** Where this server is. */
  readonly region: string;
  readonly log: Log;
  /** Milliseconds on a clock that nobody sets. */
  readonly now?: () => number;
  /** Between beats; 1 s when absent. */
  readonly beatMs?: number;
  /** Called when the others have taken this server for dead: its sessions are theirs to tell of as `instance_lost`, and must not go on. */
  readonly onGivenUp: () => void;
  /** Called with a server that is there no more, whether it said so or not. */
  readonly onGone?: (peer: Peer) => void;
}

/** What was last heard of a server, and since when it has not changed. */
interface Heard {
  readonly beat: string;
  readonly life: string;
  sinceMs: number;
}

/**
 * Registers the server, then repeats every second. A server that was not heard of for 7 s is removed: its sessions end as `instance_lost`, who waits there for a
 * browser is forgotten, and the Idempotency-Keys of its requests are free. Only time counts during which this server could hear, so neither clocks that
 * are set, nor a database that is away, nor a pause of this process make a living server look dead.
 *
 * @throws {StartError} when another server over this database has other secrets, or the same id.
 */
export async function startHeartbeat({ embedded, pulse: query }: Database, options: HeartbeatOptions): Promise<Heartbeat> {
  const { serverId, secretCheck, region, log, now = () => performance.now(), beatMs = usualBeatMs, onGivenUp, onGone } = options;
  const peers = new Map<string, Peer>();
  const heard = new Map<string, Heard>();
  const moment = sql<string>`clock_timestamp()`;
  let life = createId();
  let address: string | null = null;
  let lastOkMs = now();
  let lastTickMs = now();
  /** Pauses of this process so far, and how many of them the latest beat knew of. */
  let pauses = 0;
  let cleared = 0;
  let stopped = false;

  async function register(): Promise<void> {
    const own = { life, address, version, region, secret_check: secretCheck, started_at: moment, heartbeat_at: moment };
    await query
      .insertInto("servers")
      .values({ id: serverId, ...own })
      .onConflict((conflict) => conflict.column("id").doUpdateSet(own))
      .execute();
    // Keys of requests that ran in an earlier life.
    await query.deleteFrom("idempotency_keys").where("server_id", "=", serverId).where("status", "=", 0).execute();
  }

  async function refuseOtherSecrets(): Promise<void> {
    const other = await query
      .selectFrom("servers")
      .select(["id", "address"])
      .where("id", "<>", serverId)
      .where("secret_check", "is not", null)
      .where("secret_check", "<>", secretCheck)
      .where(sql<boolean>`heartbeat_at > now() - interval '10 seconds'`)
      .executeTakeFirst();
    if (other === undefined) return;
    throw new StartError(
      `Another server of this database (${other.address ?? other.id}) has another secret: neither could read what the other seals, nor open its sessions' addresses.`,
      {
        hint: "Give every server the same secret with --secret-key or SHOAL_SECRET_KEY.",
      },
    );
  }

  /** Two servers with one id would end one another's sessions for ever. One that was killed a moment ago looks like that too, but beats no more. */
  async function refuseTwin(): Promise<void> {
    const beatOf = async () =>
      (
        await query
          .selectFrom("servers")
          .select(sql<string>`heartbeat_at::text`.as("beat"))
          .where("id", "=", serverId)
          .where(sql<boolean>`heartbeat_at > clock_timestamp() - interval '3 seconds'`)
          .executeTakeFirst()
      )?.beat;
    const before = await beatOf();
    if (before === undefined) return;
    await delay(2.5 * usualBeatMs);
    const after = await beatOf();
    if (after === undefined || after === before) return;
    throw new StartError(`A server with the id of this one (${serverId}) runs already: the data folder is a copy of that server's.`, {
      hint: "Remove the file server-id from the copy: this server then makes an id of its own.",
    });
  }

  /** Takes over from a server, unless it was heard of meanwhile, or another has done so. */
  async function takeOver(id: string, silent: Heard): Promise<void> {
    const left = await query.transaction().execute(async (transaction) => {
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
      await transaction.deleteFrom("browser_pool_waiters").where("server_id", "=", id).execute();
      await transaction.deleteFrom("idempotency_keys").where("server_id", "=", id).where("status", "=", 0).execute();
      return Number(numUpdatedRows);
    });
    if (left !== undefined) log.warn({ server_id: id, sessions: left }, "a server has fallen silent: its sessions were ended as instance_lost");
  }

  /** Learns which other servers there are. @returns when each was last heard of, by id. */
  async function hear(): Promise<Map<string, string>> {
    const rows = await query
      .selectFrom("servers")
      .select(["id", "life", "address", "region", sql<string>`heartbeat_at::text`.as("beat")])
      .where("id", "<>", serverId)
      .execute();
    for (const peer of [...peers.values()]) {
      const row = rows.find(({ id }) => id === peer.id);
      if (row?.life === peer.life) continue;
      peers.delete(peer.id);
      heard.delete(peer.id);
      onGone?.(peer);
    }
    for (const { beat: _beat, ...peer } of rows) peers.set(peer.id, peer);
    return new Map(rows.map(({ id, beat: last }) => [id, last]));
  }

  async function beat(): Promise<void> {
    const known = pauses;
    const { numUpdatedRows } = await query
      .updateTable("servers")
      .set({ heartbeat_at: moment })
      .where("id", "=", serverId)
      .where("life", "=", life)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) {
      log.error({}, "the other servers took this one for dead; it ends its sessions and begins anew");
      life = createId();
      onGivenUp();
      await register();
    }
    const beats = await hear();
    const atMs = now();
    // Whatever this server did not hear in a pause of its own, nobody else may be blamed for.
    const paused = atMs - lastOkMs > gapMs;
    lastOkMs = atMs;
    for (const peer of [...peers.values()]) {
      const last = beats.get(peer.id);
      if (last === undefined) continue;
      const before = heard.get(peer.id);
      if (before?.beat !== last || paused) heard.set(peer.id, { beat: last, life: peer.life, sinceMs: atMs });
      else if (atMs - before.sinceMs >= (peer.life === "" ? oldSilenceMs : silenceMs)) await takeOver(peer.id, before);
    }
    cleared = known;
  }

  await refuseOtherSecrets();
  if (!embedded) await refuseTwin();
  await register();
  await beat();
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    const atMs = now();
    if (atMs - lastTickMs > gapMs) pauses += 1;
    lastTickMs = atMs;
    running ??= beat()
      .catch((error: unknown) => {
        log.warn({ err: error }, "the heartbeat could not be written");
      })
      .finally(() => {
        running = undefined;
      });
  }, beatMs);

  return {
    peers,
    async refresh() {
      await hear();
    },
    // Only another server can have given this one up, and none comes to a database that this one has for itself.
    isDoubtful: () => cleared !== pauses && (!embedded || peers.size > 0),
    async announce(own) {
      address = own;
      await query.updateTable("servers").set({ address: own }).where("id", "=", serverId).where("life", "=", life).execute();
    },
    async stop() {
      if (stopped) return;
      stopped = true;
      clearInterval(timer);
      await running;
      await query.transaction().execute(async (transaction) => {
        const removed = await transaction.deleteFrom("servers").where("id", "=", serverId).where("life", "=", life).executeTakeFirst();
        if (removed.numDeletedRows === 0n) return;
        // Rows whose end could not be written when it came.
        await transaction
          .updateTable("sessions")
          .set({ ended_at: sql<string>`now()`, ended_reason: "server_stopped" })
          .where("server_id", "=", serverId)
          .where("ended_at", "is", null)
          .execute();
      });
    },
  };
}
