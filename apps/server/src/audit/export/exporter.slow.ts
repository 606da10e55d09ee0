import { AuditLogExportDestination, type AuditLogEntry } from "@shoal/schemas";
import { sql } from "kysely";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { AuditChain } from "../logs/chain.ts";
import { hashOf } from "../logs/entry.ts";
import { createId } from "@shoal/primitives";
import type { RunningServer } from "../../main/running-server.ts";
import { createSecrets } from "../../storage/secrets.ts";
import { type ExportTarget, startExportTarget, targetDestination } from "../../testing/export-target.ts";
import { sharedSecret, startSecondServer } from "../../testing/second-server.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import { DestinationStore } from "./destination-store.ts";
import { createExportObjects, maxEntries } from "./export-objects.ts";
import { backoffMs } from "./exporter.ts";

const path = "/audit-logs/export/destinations";
let target: ExportTarget;
let server: TestServer;
let second: RunningServer;
let prefix = "";
let id = "";
beforeAll(async () => {
  target = await startExportTarget();
  server = await startTestServer({ ...target.settings, secret_key: sharedSecret });
  second = await startSecondServer(server, target.settings);
});
afterAll(async () => {
  await second.close();
  await server.close();
  await target.close();
});
beforeEach(async () => {
  target.s3.fault = undefined;
  if (id !== "") await server.request("DELETE", `${path}/${id}`);
  prefix = `${createId()}/`;
  const { body } = await server.request("POST", path, { body: { ...targetDestination, prefix } });
  ({ id } = AuditLogExportDestination.parse(body));
});

/** Matches writes of this test's objects, not reads. */
const putting = (fault: "lost" | "unanswered") => (asked: string) =>
  asked.startsWith(`PUT /shoal/${prefix}`) ? fault : undefined;
const get = async () => AuditLogExportDestination.parse((await server.request("GET", `${path}/${id}`)).body);
const patch = async (body: object) => {
  expect((await server.request("PATCH", `${path}/${id}`, { body })).status).toBe(200);
};
const log = async (): Promise<AuditLogEntry[]> => {
  const entries: AuditLogEntry[] = [];
  for (let token: string | null = ""; token !== null;) {
    const reply = await server.request(
      "GET",
      `/audit-logs?start=${new Date(Date.now() - 86_400_000 * 20).toISOString()}&end=${new Date(Date.now() + 86_400_000).toISOString()}${token === "" ? "" : `&page_token=${token}`}`,
    );
    entries.push(...(reply.body as AuditLogEntry[]));
    token = reply.headers.get("x-next-page-token");
  }
  return entries.sort((a, b) => (a.sequence ?? 0) - (b.sequence ?? 0));
};
/** Makes audited changes through both servers in turn. */
async function change(times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    const base = time % 2 === 0 ? server.baseUrl : second.baseUrl;
    await fetch(`${base}/profiles/nothing`, { method: "DELETE", headers: { authorization: `Bearer ${server.key}` } });
  }
}
const last = () =>
  server.database.query
    .selectFrom("audit_chain")
    .select("last_sequence")
    .executeTakeFirstOrThrow()
    .then(({ last_sequence }) => last_sequence);
/** Waits until all current entries are exported. */
async function whole(): Promise<void> {
  // Flushes the entries of both servers.
  await server.request("GET", `/audit-logs/verify`);
  await fetch(`${second.baseUrl}/audit-logs/verify`, { headers: { authorization: `Bearer ${server.key}` } });
  const wanted = await last();
  await expect.poll(async () => Number((await get()).last_exported_cursor ?? 0)).toBeGreaterThanOrEqual(wanted);
}
/** Makes the retry due now. */
const due = () =>
  server.database.query
    .updateTable("audit_export_destinations")
    .set({ next_attempt_at: sql<string>`clock_timestamp()` })
    .where("id", "=", id)
    .execute();
/** Expects consecutive objects that together equal the log of the API, each entry once. */
async function expectExact(from = 1): Promise<void> {
  const names = [...(await target.objects(prefix)).keys()];
  let next = from;
  for (const name of names) {
    const [, first, until] = /^\d{4}\/\d\d\/\d\d\/(\d{15})-(\d{15})\.jsonl\.gz$/.exec(name) ?? [];
    expect(Number(first)).toBe(next);
    next = Number(until) + 1;
  }
  const lines = await target.lines(prefix);
  const entries = await log();
  expect(lines.map(({ hash: _hash, previous_hash: _previous, ...entry }) => entry)).toEqual(
    entries.filter(({ sequence = 0 }) => sequence >= from && sequence < next),
  );
  expect(new Set(lines.map(({ sequence }) => sequence)).size).toBe(lines.length);
}

it("writes the log from its first entry on, in order, with the same entries as the API", async () => {
  await change(3);
  expect((await target.objects(prefix)).size).toBe(0);
  await patch({ status: "active" });
  await whole();
  await change(7);
  await whole();
  await expectExact();
  const row = await get();
  expect(row).toMatchObject({
    status: "active",
    consecutive_failures: 0,
    last_success_at: expect.any(String) as unknown,
    next_attempt_at: expect.any(String) as unknown,
  });
  expect(row).not.toHaveProperty("last_error");
  // The objects are sufficient to verify the chain.
  let previous: Uint8Array = new Uint8Array(32);
  for (const line of await target.lines(prefix)) {
    const { timestamp, event_id, project_id = null, previous_hash, hash, ...rest } = line as Record<string, never>;
    expect(previous_hash).toBe(Buffer.from(previous).toString("hex"));
    previous = hashOf(previous, { ...rest, id: event_id, at: timestamp, project_id } as never);
    expect(hash).toBe(Buffer.from(previous).toString("hex"));
  }
  // The role is assumed once per validity period, not for each object.
  const { external_id } = row;
  expect(target.sts.asked.filter(({ ExternalId }) => ExternalId === external_id).length).toBeLessThanOrEqual(4);
});

it("waits longer after each failure, reports the error, and continues when the cause is fixed", async () => {
  const role_arn = "arn:aws:iam::123456789012:role/refused";
  target.sts.refused.add(role_arn);
  await patch({ role_arn, status: "active" });
  let row = await get();
  const failures = async () => {
    row = await get();
    return row.consecutive_failures;
  };
  // A slow look may come after the next try.
  await expect.poll(failures).toBeGreaterThanOrEqual(1);
  expect(row).toMatchObject({ status: "active", last_error: expect.stringContaining("AccessDenied") as unknown });
  const waitSeconds = () =>
    Math.round((Date.parse(row.next_attempt_at ?? "") - Date.parse(row.last_error_at ?? "")) / 1000);
  const first = row.consecutive_failures;
  expect(waitSeconds()).toBe(backoffMs(first) / 1000);
  await due();
  // A try that began before may set its own time.
  await expect
    .poll(async () => [(await failures()) > first, waitSeconds() === backoffMs(row.consecutive_failures) / 1000])
    .toEqual([true, true]);
  expect(row).not.toHaveProperty("last_success_at");
  // A change triggers the next try at once.
  await patch({ role_arn: targetDestination.role_arn, bucket: "not-there" });
  await expect.poll(async () => (await get()).last_error).toContain("NoSuchBucket");
  expect((await target.objects(prefix)).size).toBe(0);
  await patch({ bucket: "shoal" });
  await whole();
  await expectExact();
  expect(await get()).toMatchObject({
    consecutive_failures: 0,
    last_error: expect.stringContaining("NoSuchBucket") as unknown,
  });
  expect([1, 2, 3, 9, 10, 1000].map(backoffMs)).toEqual([15_000, 30_000, 60_000, 3_600_000, 3_600_000, 3_600_000]);
});

it("writes the same object again after a lost answer", async () => {
  target.s3.fault = putting("lost");
  await patch({ status: "active" });
  await expect.poll(async () => (await get()).consecutive_failures).toBeGreaterThanOrEqual(1);
  const before = await target.objects(prefix);
  expect(before.size).toBe(1);
  await change(4);
  target.s3.fault = undefined;
  await due();
  await whole();
  const after = await target.objects(prefix);
  for (const [name, bytes] of before) expect(after.get(name)).toEqual(bytes);
  expect(after.size).toBeGreaterThan(1);
  await expectExact();
});

it("writes the same object again when the database did not record it", async () => {
  const { query } = server.database;
  await sql`create function refuse_advance() returns trigger language plpgsql as $$ begin raise exception 'the database is away'; end $$`.execute(
    query,
  );
  await sql`create trigger refuse_advance before update of exported_sequence on audit_export_destinations for each row execute function refuse_advance()`.execute(
    query,
  );
  await patch({ status: "active" });
  await expect.poll(async () => (await target.objects(prefix)).size).toBe(1);
  await change(4);
  // Retries write the same object.
  const puts = async () => {
    await due();
    return target.s3.done.filter((asked) => asked.startsWith(`PUT /shoal/${prefix}`)).length;
  };
  await expect.poll(puts).toBeGreaterThanOrEqual(2);
  expect((await target.objects(prefix)).size).toBe(1);
  expect(await get()).not.toHaveProperty("last_exported_cursor");
  await sql`drop trigger refuse_advance on audit_export_destinations`.execute(query);
  await sql`drop function refuse_advance`.execute(query);
  await due();
  await whole();
  await expectExact();
});

it("stops at once when paused or deleted, and resumes from the same position", async () => {
  target.s3.fault = putting("unanswered");
  await patch({ status: "active" });
  const asked = () => target.s3.requests.filter((request) => request.startsWith(`PUT /shoal/${prefix}`)).length;
  await expect.poll(asked).toBe(1);
  await patch({ status: "paused" });
  const lease = async () =>
    (
      await server.database.query
        .selectFrom("audit_export_destinations")
        .select("lease_server")
        .where("id", "=", id)
        .executeTakeFirst()
    )?.lease_server;
  await expect.poll(lease).toBeNull();
  target.s3.fault = undefined;
  await change(3);
  await due();
  // The exporter found the other destination, not this one.
  const other = AuditLogExportDestination.parse(
    (await server.request("POST", path, { body: { ...targetDestination, prefix: `${prefix}other/`, bucket: "shoal" } }))
      .body,
  );
  await server.request("PATCH", `${path}/${other.id}`, { body: { status: "active" } });
  await expect.poll(async () => (await target.objects(`${prefix}other/`)).size).toBeGreaterThan(0);
  await server.request("DELETE", `${path}/${other.id}`);
  expect(
    target.s3.requests.filter((request) => request.startsWith(`PUT /shoal/${prefix}`) && !request.includes("other"))
      .length,
  ).toBe(1);
  expect(await get()).toMatchObject({ status: "paused" });

  target.s3.fault = putting("unanswered");
  await patch({ status: "active" });
  await expect
    .poll(
      () =>
        target.s3.requests.filter((request) => request.startsWith(`PUT /shoal/${prefix}`) && !request.includes("other"))
          .length,
    )
    .toBe(2);
  target.s3.fault = undefined;
  await patch({ prefix: `${prefix}moved/` });
  prefix += "moved/";
  await whole();
  await expectExact();
  expect((await server.request("DELETE", `${path}/${id}`)).status).toBe(204);
  const count = asked();
  await change(2);
  await server.request("GET", `/audit-logs/verify`);
  // The exporter finds another destination, but not the deleted one.
  await server.request("POST", path, { body: { ...targetDestination, prefix: "after/" } }).then(async ({ body }) => {
    const { id: after } = AuditLogExportDestination.parse(body);
    await server.request("PATCH", `${path}/${after}`, { body: { status: "active" } });
    await expect.poll(async () => (await target.objects("after/")).size).toBeGreaterThan(0);
    await server.request("DELETE", `${path}/${after}`);
  });
  expect(asked()).toBe(count);
});

it("is leased by one server at a time; a server with an expired lease cannot continue", async () => {
  const [slow, quick] = ["slow", "quick"].map((serverId) => new DestinationStore(server.database, serverId));
  if (slow === undefined || quick === undefined) throw new Error("unreachable");
  const { query } = server.database;
  // One transaction, or the running servers might lease it first.
  const claim = (serverId: string, changes: { lease_until?: Date } = {}) =>
    query.transaction().execute(async (transaction) => {
      await transaction
        .updateTable("audit_export_destinations")
        .set({ status: "active", next_attempt_at: sql<string>`clock_timestamp()`, ...changes })
        .where("id", "=", id)
        .execute();
      return new DestinationStore({ ...server.database, query: transaction }, serverId).claim();
    });
  const object = { first: 1, last: 2, name: "x" };
  const claimed = await claim("slow");
  if (claimed === undefined) throw new Error("It was not to be had.");
  expect(claimed).toMatchObject({ id, lease_server: "slow" });
  expect(await claim("quick")).toBeUndefined();
  const taken = await claim("quick", { lease_until: new Date(Date.now() - 1000) });
  if (taken === undefined) throw new Error("It was not to be had.");
  expect(await slow.begin(claimed, object)).toBeUndefined();
  const begun = await quick.begin(taken, object);
  expect(begun).toMatchObject({ pending_first: 1, pending_last: 2, pending_name: "x" });
  expect(await slow.advance(claimed, object)).toBeUndefined();
  await slow.fail(claimed, { message: "late", afterMs: 0 });
  await slow.finish(claimed, 0);
  await slow.release(claimed);
  expect(await quick.advance(begun ?? taken, { ...object, last: 3 })).toBeUndefined();
  const done = await quick.advance(begun ?? taken, object);
  expect(done).toMatchObject({
    exported_sequence: 2,
    pending_first: null,
    lease_server: "quick",
    consecutive_failures: 0,
  });
  // A row that was read earlier fails as well.
  expect(await quick.begin(taken, object)).toBeUndefined();
  await patch({ status: "paused" });
  expect(await quick.begin(done ?? taken, { ...object, first: 3, last: 4 })).toBeUndefined();
  await quick.releaseAll();
  expect(
    await query
      .selectFrom("audit_export_destinations")
      .select(["lease_server", "last_error"])
      .where("id", "=", id)
      .executeTakeFirst(),
  ).toEqual({
    lease_server: null,
    last_error: null,
  });
});

it("is due at once after a change, regardless of fractions of a millisecond", async () => {
  // Invisible to the running servers.
  const transaction = await server.database.query.startTransaction().execute();
  try {
    const store = new DestinationStore({ ...server.database, query: transaction }, "any");
    await sql`create schema standing`.execute(transaction);
    await sql`create function standing.clock_timestamp() returns timestamptz language sql as $$ select timestamptz '2026-01-01T00:00:00.0006Z' $$`.execute(
      transaction,
    );
    await sql`set local search_path to standing, public, pg_catalog`.execute(transaction);
    const paused = await store.find(id);
    expect(await store.update(paused ?? expect.unreachable(), { status: "active" })).toMatchObject({
      next_attempt_at: "2026-01-01T00:00:00.001Z",
    });
    expect(await store.claim()).toMatchObject({ id, lease_server: "any" });
  } finally {
    await transaction.rollback().execute();
  }
});

it("writes a long log as objects of limited size, each entry once with two servers", async () => {
  const chain = new AuditChain(server.database, { secrets: createSecrets(sharedSecret) });
  const at = new Date(Date.now() - 1000).toISOString();
  const note = (index: number, user_agent = "test") => ({
    id: createId(),
    at,
    project_id: null,
    auth_strategy: "api_key",
    user_id: "u",
    email: "u@localhost",
    method: "POST",
    path: `/${String(index)}`,
    route: "/x",
    operation: "x.create",
    status: 200,
    duration_ms: 1,
    domain: "localhost",
    client_ip: "127.0.0.1",
    user_agent,
    request_id: "r",
  });
  const from = (await last()) + 1;
  await chain.append(Array.from({ length: maxEntries + 500 }, (_, index) => note(index)));
  // Longer than HTTP allows: only the size matters here.
  await chain.append(Array.from({ length: 20 }, (_, index) => note(index, "x".repeat(2 ** 20))));
  await server.database.query
    .updateTable("audit_export_destinations")
    .set({ exported_sequence: from - 1 })
    .where("id", "=", id)
    .execute();
  await patch({ status: "active" });
  await Promise.all([change(20), whole()]);
  await whole();
  const objects = await target.objects(prefix);
  const sizes = [...objects.values()].map((bytes) => gunzipSync(bytes));
  for (const text of sizes) expect(text.length).toBeLessThanOrEqual(8 * 2 ** 20);
  const counts = sizes.map((text) => text.toString().split("\n").length - 1);
  expect(counts[0]).toBe(maxEntries);
  expect(Math.max(...counts)).toBe(maxEntries);
  const lines = await target.lines(prefix);
  expect(lines.map(({ sequence }) => sequence)).toEqual(
    Array.from({ length: lines.length }, (_, index) => from + index),
  );
  expect(target.s3.done.filter((asked) => asked.startsWith(`PUT /shoal/${prefix}`)).length).toBe(objects.size);
});

it("keeps a complete object when retention has since removed some of its entries, and continues with the rest", async () => {
  const objects = createExportObjects(server.database);
  target.s3.fault = putting("lost");
  const from = await last();
  await change(4);
  await server.request("GET", `/audit-logs/verify`);
  await server.database.query
    .updateTable("audit_export_destinations")
    .set({ exported_sequence: from })
    .where("id", "=", id)
    .execute();
  await patch({ status: "active" });
  await expect.poll(async () => (await get()).consecutive_failures).toBeGreaterThanOrEqual(1);
  const [[name, bytes] = ["", Buffer.alloc(0)]] = await target.objects(prefix);
  const row = await server.database.query
    .selectFrom("audit_export_destinations")
    .select(["pending_first", "pending_last"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  const pending = { first: row.pending_first ?? 0, last: row.pending_last ?? 0, name };
  expect((await objects.again(pending))?.bytes).toEqual(bytes);
  // Retention removes the first entries.
  const removed = await server.database.query
    .deleteFrom("audit_logs")
    .where("sequence", "<=", pending.first)
    .returning("sequence")
    .execute();
  expect(removed.length).toBeGreaterThan(0);
  expect(await objects.again(pending)).toMatchObject({ isCut: true, first: pending.first });
  const asked: unknown[] = [];
  target.s3.fault = (request) => {
    if (!request.startsWith("PUT ") || !request.endsWith(name)) return undefined;
    asked.push(target.s3.lastHeaders["if-none-match"]);
    return 412;
  };
  await due();
  await whole();
  expect(asked).toEqual(["*"]);
  expect((await target.objects(prefix)).get(name)).toEqual(bytes);
  expect(await objects.again({ ...pending, first: 0, last: pending.first })).toBeUndefined();
});
