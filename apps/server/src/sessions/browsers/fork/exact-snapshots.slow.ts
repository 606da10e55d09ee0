import { Snapshot } from "@shoal/schemas";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ExactSessions, noCopiesBecause as reason } from "../../../testing/exact-sessions.ts";
import type { TestServer } from "../../../testing/test-server.ts";

const page = `<title>Trip</title><label>To <input></label><p id="made"></p><script>
  made.textContent = "made " + Math.random();
</script>`;

let sessions: ExactSessions;
let server: TestServer;
const create = (body: object) => sessions.create(body);
const outlineOf = (id: string) => sessions.outlineOf(id);
const begin = () =>
  sessions.begin(
    { forkable: true, tags: { team: "a" }, network: { private_hosts: ["127.0.0.1"] } },
    "Oslo is a rare word",
  );

async function take(id: string, body: object): Promise<Snapshot> {
  const answer = await server.request("POST", `/browsers/${id}/snapshots`, { body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return Snapshot.parse(answer.body);
}

const blobs = () => readdirSync(join(server.dataDir, "blobs", "snapshots"));

describe.skipIf(reason !== undefined)(`exact snapshots${reason === undefined ? "" : ` (${reason})`}`, () => {
  beforeAll(async () => {
    sessions = await ExactSessions.open(page);
    ({ server } = sessions);
  });
  afterAll(() => sessions.close());

  it("start sessions with the page as it was, after the end of their session, several at a time", async () => {
    const parent = await begin();
    const outline = await outlineOf(parent.session_id);
    const snapshot = await take(parent.session_id, { name: "half filled", stop: true });
    expect(snapshot).toMatchObject({
      name: "half filled",
      session_id: parent.session_id,
      engine: "exact",
      compatibility: { placement: "sandbox", chromium: expect.stringContaining("Chromium") as unknown },
    });
    expect(snapshot.paused_ms).toBeGreaterThan(0);
    expect(await server.request("GET", `/browsers/${parent.session_id}`)).toMatchObject({ status: 404 });
    const { loads } = sessions;
    const ref = { snapshot: { id: snapshot.id } };
    const started = await Promise.all([
      create({ ...ref, name: "first", timeout_seconds: 900, tags: { team: "b" } }),
      create(ref),
    ]);
    expect(started).toMatchObject([
      { name: "first", timeout_seconds: 900, tags: { team: "b" }, snapshot_id: snapshot.id },
      { tags: { team: "a" }, network: { private_hosts: ["127.0.0.1"] }, forked_from: parent.session_id },
    ]);
    for (const { session_id: id } of started) expect(await outlineOf(id)).toBe(outline);
    expect(sessions.loads).toBe(loads);
    await expect.poll(sessions.images).toEqual([]);
    // A session of a snapshot is as forkable as its original.
    const again = await take(started[0].session_id, { mode: "exact" });
    expect((await server.request("GET", "/snapshots")).body).toMatchObject([{ id: again.id }, { id: snapshot.id }]);
    for (const { id } of [again, snapshot])
      expect((await server.request("DELETE", `/snapshots/${id}`)).status).toBe(204);
    expect(blobs()).toEqual([]);
    expect(await server.request("POST", "/browsers", { body: ref })).toMatchObject({ status: 404 });
  });

  it("are encrypted in the store", async () => {
    const parent = await begin();
    const { id } = await take(parent.session_id, { mode: "exact" });
    const names = blobs();
    expect(names).toHaveLength(1);
    for (const name of names) {
      const bytes = readFileSync(join(server.dataDir, "blobs", "snapshots", name));
      expect(bytes.subarray(0, 6).toString("latin1")).toBe("shoal\x01");
      // The compressed archive begins with it, and has nothing to find by its text. Sealed, it is after the header.
      expect(bytes.subarray(0, 256).includes(Buffer.from("28b52ffd", "hex"))).toBe(false);
    }
    expect((await server.request("DELETE", `/snapshots/${id}`)).status).toBe(204);
  });

  it("are refused where the server is another, with the difference", async () => {
    const parent = await begin();
    const { compatibility, id } = await take(parent.session_id, { mode: "exact" });
    for (const [change, text] of [
      [{ kernel: "2.6.32" }, "It needs the Linux kernel 2.6.32, and this server has"],
      [{ cpu: "other" }, "The processor of this server has other features"],
      [{ program: "other" }, "another version of Shoal"],
    ] as const) {
      await server.database.query
        .updateTable("snapshots")
        .set({ compatibility: JSON.stringify({ ...compatibility, ...change }) as never })
        .where("id", "=", id)
        .execute();
      expect(await server.request("POST", "/browsers", { body: { snapshot: { id } } })).toMatchObject({
        status: 409,
        body: { code: "snapshot_incompatible", message: expect.stringContaining(text) as unknown },
      });
    }
  });

  it("are not taken while a recording runs, and are restored ones then", async () => {
    const parent = await begin();
    const path = `/browsers/${parent.session_id}`;
    expect((await server.request("POST", `${path}/replays`, { body: {} })).status).toBeLessThan(300);
    expect(await server.request("POST", `${path}/snapshots`, { body: { mode: "exact" } })).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining("a recording") as unknown },
    });
    const { engine, id, not_exact_because: why } = await take(parent.session_id, {});
    expect([engine, why]).toEqual(["restored", expect.stringContaining("a recording")]);
    const started = await create({ snapshot: { id } });
    expect(await outlineOf(started.session_id)).toContain("Oslo is a rare word");
  });
});
