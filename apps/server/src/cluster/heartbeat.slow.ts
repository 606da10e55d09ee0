import { type Database, openDatabase } from "@shoal/database";
import { sql } from "kysely";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { createId } from "@shoal/primitives";
import { type Heartbeat, startHeartbeat } from "./heartbeat.ts";
import { sessionRow } from "../testing/session-row.ts";

const log = pino({ level: "silent" });
const secretCheck = Buffer.from("the same");
let folder: string;
let database: Database;
let project: string;
const beating = new Set<Heartbeat>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "shoal-heartbeat-"));
  database = await openDatabase({ dataDir: folder, log });
  project = (await database.query.selectFrom("projects").select("id").executeTakeFirstOrThrow()).id;
});
afterEach(async () => {
  for (const heartbeat of beating) await heartbeat.stop();
  beating.clear();
  await database.query.deleteFrom("servers").execute();
  await database.query.deleteFrom("sessions").execute();
});
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

async function startServer(serverId: string, check = secretCheck, embedded = true) {
  let ms = 0;
  const now = vi.fn(() => ms);
  const onGivenUp = vi.fn<() => void>();
  const onGone = vi.fn<() => void>();
  const heartbeat = await startHeartbeat(
    { ...database, embedded },
    { serverId, secretCheck: check, region: "default", log, now, beatMs: 50, onGivenUp, onGone },
  );
  beating.add(heartbeat);
  return {
    heartbeat,
    now,
    onGivenUp,
    onGone,
    advance: (byMs: number) => {
      ms += byMs;
    },
  };
}

async function addSession(server_id: string): Promise<string> {
  const id = createId();
  await database.query
    .insertInto("sessions")
    .values(
      sessionRow({
        id,
        project_id: project,
        server_id,
      }),
    )
    .execute();
  return id;
}

const addServer = (id: string) =>
  database.query
    .insertInto("servers")
    .values({ id, life: "life", address: null, version: null, secret_check: secretCheck })
    .execute();
const serverIds = async () => (await database.query.selectFrom("servers").select("id").execute()).map(({ id }) => id);
const endedReason = async (id: string) =>
  (await database.query.selectFrom("sessions").select("ended_reason").where("id", "=", id).executeTakeFirst())
    ?.ended_reason;
/** Advances the clock in steps shorter than a pause, waiting for a heartbeat after each. */
async function live(
  server: Awaited<ReturnType<typeof startServer>>,
  seconds: number,
  own: string,
  beforeEach?: () => Promise<unknown>,
): Promise<void> {
  for (let step = 0; step < seconds; step += 1) {
    await beforeEach?.();
    const beat = async () =>
      (await database.query.selectFrom("servers").select("heartbeat_at").where("id", "=", own).executeTakeFirst())
        ?.heartbeat_at;
    server.advance(1_000);
    const before = await beat();
    await expect.poll(beat).not.toBe(before);
  }
}

it("ends the sessions of a silent server, and none of a running one", async () => {
  const [me, silent, alive] = [createId(), createId(), createId()];
  await Promise.all([addServer(silent), addServer(alive)]);
  const [lost, kept] = [await addSession(silent), await addSession(alive)];
  await database.query
    .insertInto("idempotency_keys")
    .values({ scope: "s", key: silent, fingerprint: "f", status: 0, server_id: silent, response: null })
    .execute();
  const server = await startServer(me);
  expect([...server.heartbeat.peers.keys()].sort()).toEqual([silent, alive].sort());
  const beat = () =>
    database.query.updateTable("servers").set({ heartbeat_at: new Date() }).where("id", "=", alive).execute();
  await live(server, 6, me, beat);
  expect(await endedReason(lost)).toBeNull();
  await live(server, 3, me, beat);
  await expect.poll(() => endedReason(lost)).toBe("instance_lost");
  expect(await endedReason(kept)).toBeNull();
  expect((await serverIds()).sort()).toEqual([me, alive].sort());
  expect(await database.query.selectFrom("idempotency_keys").select("key").where("key", "=", silent).execute()).toEqual(
    [],
  );
  await expect.poll(() => server.onGone.mock.calls.length).toBe(1);
});

/** Locks the row of a server until `seen` is resolved. */
async function holdRow(serverId: string) {
  const locked = Promise.withResolvers<undefined>();
  const seen = Promise.withResolvers<undefined>();
  const holding = database.query.transaction().execute(async (transaction) => {
    await transaction.selectFrom("servers").select("id").where("id", "=", serverId).forUpdate().execute();
    locked.resolve(undefined);
    await seen.promise;
  });
  await locked.promise;
  return { holding, seen };
}

it("does not count its own pauses as silence of other servers", async () => {
  const [me, other] = [createId(), createId()];
  await addServer(other);
  const session = await addSession(other);
  const server = await startServer(me);
  await live(server, 2, me);
  expect(server.heartbeat.isDoubtful()).toBe(false);
  // The next heartbeat waits for its row, so that the state before it is visible.
  const { holding, seen } = await holdRow(me);
  // One hour in one step: a pause of the process, or a database outage.
  server.advance(3_600_000);
  await expect.poll(() => server.heartbeat.isDoubtful()).toBe(true);
  seen.resolve(undefined);
  await holding;
  await expect.poll(() => server.heartbeat.isDoubtful()).toBe(false);
  await live(server, 3, me);
  expect(await endedReason(session)).toBeNull();
  expect(await serverIds()).toContain(other);
});

it.each([
  ["a server is doubtful when another server may have declared it dead", false],
  ["a server with an embedded database is never doubtful", true],
])("after a pause, %s", async (_what, embedded) => {
  const me = createId();
  const server = await startServer(me, secretCheck, embedded);
  const { holding, seen } = await holdRow(me);
  server.advance(3_600_000);
  // It has read its clock again, and its heartbeat waits for the row.
  const looked = server.now.mock.calls.length;
  try {
    await expect.poll(() => server.now.mock.calls.length).toBeGreaterThan(looked + 1);
    expect(server.heartbeat.isDoubtful()).toBe(!embedded);
  } finally {
    seen.resolve(undefined);
    await holding;
  }
  await expect.poll(() => server.heartbeat.isDoubtful()).toBe(false);
});

it("notices that it was declared dead, and registers again", async () => {
  const me = createId();
  const server = await startServer(me);
  await database.query.deleteFrom("servers").where("id", "=", me).execute();
  await expect.poll(() => server.onGivenUp.mock.calls.length).toBe(1);
  await expect.poll(serverIds).toEqual([me]);
  await live(server, 2, me);
  expect(server.onGivenUp).toHaveBeenCalledTimes(1);
});

it("ends its sessions and removes itself when it stops", async () => {
  const me = createId();
  const server = await startServer(me);
  const session = await addSession(me);
  await server.heartbeat.stop();
  expect(await endedReason(session)).toBe("server_stopped");
  expect(await serverIds()).toEqual([]);
});

it("rejects a second server with the same id, but not after a killed one", async () => {
  const me = createId();
  await startServer(me);
  await expect(startServer(me, secretCheck, false)).rejects.toThrow("the data folder is a copy");
  const killed = createId();
  await addServer(killed);
  const again = await startServer(killed, secretCheck, false);
  expect(again.onGivenUp).not.toHaveBeenCalled();
});

it("sends heartbeats while all query connections are busy", async () => {
  const me = createId();
  const server = await startServer(me);
  const [locked, seen] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  const holding = database.query.transaction().execute(async (transaction) => {
    await sql`select pg_advisory_xact_lock(7)`.execute(transaction);
    locked.resolve(undefined);
    await seen.promise;
  });
  await locked.promise;
  // Each query waits until the heartbeat was seen, on a machine of any speed.
  const busy = Array.from({ length: 30 }, () => sql`select pg_advisory_xact_lock(7)`.execute(database.query));
  try {
    await expect.poll(() => database.connections().waiting).toBeGreaterThan(0);
    const beat = async () =>
      (await database.pulse.selectFrom("servers").select("heartbeat_at").where("id", "=", me).executeTakeFirst())
        ?.heartbeat_at;
    const before = await beat();
    await expect.poll(beat).not.toBe(before);
    expect(database.connections().waiting).toBeGreaterThan(0);
  } finally {
    seen.resolve(undefined);
    await Promise.all([holding, ...busy]);
  }
  expect(server.onGivenUp).not.toHaveBeenCalled();
});

it("refuses to join servers with a different secret", async () => {
  const server = await startServer(createId());
  await server.heartbeat.announce("http://10.0.0.7:7777");
  await expect(startServer(createId(), Buffer.from("another"))).rejects.toThrow(
    "Another server of this database (http://10.0.0.7:7777) has a different secret",
  );
});
