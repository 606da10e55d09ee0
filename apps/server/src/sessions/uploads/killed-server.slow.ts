import type { Replay } from "@shoal/schemas";
import { once } from "node:events";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestS3, type TestS3 } from "../../testing/s3-server.ts";
import { type ServerProcess, type ServerProcesses, startServerProcesses } from "../../testing/server-processes.ts";

let s3: TestS3;
let servers: ServerProcesses;
let one: ServerProcess;
let two: ServerProcess;
let settings: Readonly<Record<string, string>>;
beforeAll(async () => {
  s3 = await startTestS3();
  settings = { SHOAL_BLOB_STORE_URL: s3.url };
  const started = await startServerProcesses(settings);
  servers = started;
  one = started.one;
  two = await servers.start("two", settings);
});
afterAll(async () => {
  await servers.close();
  await s3.close();
});

async function ask(server: ServerProcess, method: string, path: string, body?: object) {
  const answer = await fetch(server.baseUrl + path, {
    method,
    headers: { authorization: `Bearer ${servers.key}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const content = Buffer.from(await answer.arrayBuffer());
  const json = answer.headers.get("content-type")?.includes("json") === true;
  return { status: answer.status, body: (json ? JSON.parse(content.toString()) : content) as unknown };
}

interface Recorded {
  readonly id: string;
  readonly replayId: string;
}

async function record(): Promise<Recorded> {
  const created = await ask(two, "POST", "/browsers", {
    timeout_seconds: 600,
    telemetry: { enabled: true, browser: { platform: {} } },
  });
  const { session_id: id } = created.body as { session_id: string };
  const { replay_id: replayId } = (await ask(two, "POST", `/browsers/${id}/replays`, {})).body as Replay;
  await ask(two, "GET", `/browsers/${id}/fs/list_files?path=/`);
  return { id, replayId };
}
const isStored = async ({ id }: Recorded) =>
  (await servers.database.query.selectFrom("sessions").select("files_stored").where("id", "=", id).executeTakeFirst())
    ?.files_stored;
const film = ({ id, replayId }: Recorded, server = one) => ask(server, "GET", `/browsers/${id}/replays/${replayId}`);
const replaysOf = async ({ id }: Recorded) => (await ask(one, "GET", `/browsers/${id}/replays`)).body as Replay[];
const telemetryOf = ({ id }: Recorded) => ask(one, "GET", `/browsers/${id}/telemetry/events?since=1h`);
const uploadsSeen = () => s3.requests.filter((asked) => asked.startsWith("PUT /shoal/kept/sessions/")).length;

it("loses only files that a killed server had not uploaded, and has them again after its restart", async () => {
  const [stored, cut, running] = [await record(), await record(), await record()];
  await expect.poll(async () => (await film(stored, two)).status).toBe(202);
  expect((await ask(two, "DELETE", `/browsers/${stored.id}`)).status).toBe(204);
  await expect.poll(() => isStored(stored)).toBe(true);
  const before = await film(stored);
  expect([before.status, (before.body as Buffer).toString("latin1", 4, 8)]).toEqual([200, "ftyp"]);

  // The store receives the next uploads, but its answers are lost.
  const seen = uploadsSeen();
  s3.fault = (asked) => (asked.startsWith("PUT ") ? "unanswered" : undefined);
  expect((await ask(two, "DELETE", `/browsers/${cut.id}`)).status).toBe(204);
  await expect.poll(uploadsSeen).toBeGreaterThan(seen);
  const ended = once(two.child, "close");
  two.child.kill("SIGKILL");
  await ended;
  await expect
    .poll(async () => (await ask(one, "GET", `/browsers/${running.id}?include_deleted=true`)).body)
    .toMatchObject({ ended_reason: "instance_lost" });

  expect((await film(stored)).body).toEqual(before.body);
  expect((await telemetryOf(stored)).body).not.toEqual([]);
  for (const lost of [cut, running]) {
    // The row ends a moment before this server stops asking the killed one.
    await expect
      .poll(() => replaysOf(lost))
      .toMatchObject([{ failure_reason: expect.stringContaining("stopped before it had uploaded") as unknown }]);
    expect(await film(lost)).toMatchObject({ status: 404, body: { code: "not_found" } });
    expect(await telemetryOf(lost)).toMatchObject({ status: 503, body: { code: "server_unreachable" } });
  }

  s3.fault = undefined;
  two = await servers.start("two", settings);
  for (const again of [cut, running]) {
    await expect.poll(() => isStored(again)).toBe(true);
    expect((await telemetryOf(again)).body).not.toEqual([]);
  }
  expect((await film(cut)).status).toBe(200);
  expect((await replaysOf(cut))[0]?.failure_reason).toBeUndefined();
  expect((await replaysOf(running))[0]?.failure_reason).toContain("The server was killed");
});
