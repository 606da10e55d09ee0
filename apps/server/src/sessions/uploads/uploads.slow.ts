import type { BrowserDownload, Replay } from "@shoal/schemas";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { RunningServer } from "../../main/running-server.ts";
import { startTestS3, type TestS3 } from "../../testing/s3-server.ts";
import { sharedSecret, startSecondServer } from "../../testing/second-server.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

let s3: TestS3;
let first: TestServer;
let second: RunningServer;
beforeAll(async () => {
  s3 = await startTestS3();
  const settings = { blob_store_url: s3.url, download_retention_hours: 1 };
  first = await startTestServer({ secret_key: sharedSecret, ...settings });
  second = await startSecondServer(first, settings);
});
afterAll(async () => {
  await second.close(1000);
  await first.close();
  await s3.close();
});

async function there<Answer>(method: string, path: string, body?: object): Promise<Answer> {
  const answer = await fetch(second.baseUrl + path, {
    method,
    headers: { authorization: `Bearer ${first.key}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  expect(answer.status, `${method} ${path}`).toBeLessThan(300);
  const text = await answer.text();
  return (text === "" ? undefined : JSON.parse(text)) as Answer;
}
const here = async <Answer>(path: string) => {
  const { body, status } = await first.request("GET", path);
  expect(status, JSON.stringify(body)).toBe(200);
  return body as Answer;
};
const filmHere = (id: string, replayId: string, headers: Record<string, string> = {}) =>
  fetch(`${first.baseUrl}/browsers/${id}/replays/${replayId}`, {
    headers: { authorization: `Bearer ${first.key}`, ...headers },
  });
const isStored = async (id: string) =>
  (await first.database.query.selectFrom("sessions").select("files_stored").where("id", "=", id).executeTakeFirst())
    ?.files_stored;
const secondDir = () => join(first.dataDir, "..", "second");
const page = `data:text/html,<a id=a download=notes.txt href='data:text/plain,noted'>notes</a><script>a.click()</script>`;

it("moves recordings, telemetry and downloads to the store, where every server reads them", async () => {
  const { session_id: id } = await there<{ session_id: string }>("POST", "/browsers", {
    start_url: page,
    telemetry: { enabled: true, browser: { platform: {} } },
    timeout_seconds: 600,
  });
  const { replay_id: replayId } = await there<Replay>("POST", `/browsers/${id}/replays`, {});
  const download = await there<BrowserDownload>("POST", `/browsers/${id}/downloads/wait`, { timeout_seconds: 50 });
  await there("POST", `/browsers/${id}/replays/${replayId}/stop`);
  // A finished film is stored while its session runs.
  const local = join(secondDir(), "replays", id);
  await expect.poll(() => existsSync(local)).toBe(false);
  const whole = await fetch(`${second.baseUrl}/browsers/${id}/replays/${replayId}`, {
    headers: { authorization: `Bearer ${first.key}` },
  });
  const film = Buffer.from(await whole.arrayBuffer());
  expect(film.toString("latin1", 4, 8)).toBe("ftyp");
  await there("POST", `/browsers/${id}/replays/${replayId}/marks`, { title: "After the end" });
  await there("DELETE", `/browsers/${id}`);
  await expect.poll(() => isStored(id)).toBe(true);
  for (const name of ["replays", "telemetry", "downloads"])
    await expect.poll(() => readdirSync(join(secondDir(), name)), { message: name }).toEqual([]);

  const events = await here<{ event: { type: string } }[]>(`/browsers/${id}/telemetry/events?since=1h&limit=100`);
  expect(events.map(({ event }) => event.type)).toContain("platform_api_call");
  const latest = await here<object[]>(`/browsers/${id}/telemetry/events?order=desc&limit=1`);
  expect(latest).toEqual(events.slice(-1));
  await second.close();
  // The same without the session's server.
  expect(await here(`/browsers/${id}/telemetry/events?since=1h&limit=100`)).toEqual(events);
  const [replay] = await here<Replay[]>(`/browsers/${id}/replays`);
  expect(replay?.marks?.map(({ title }) => title)).toEqual(["After the end"]);
  expect(Buffer.from(await (await filmHere(id, replayId)).arrayBuffer()).equals(film)).toBe(true);
  const view = `${first.baseUrl}${new URL(replay?.replay_view_url ?? "").pathname}`;
  const part = await fetch(`${view}/film`, { headers: { range: "bytes=4-11" } });
  expect([part.status, part.headers.get("content-range"), Buffer.from(await part.arrayBuffer())]).toEqual([
    206,
    `bytes 4-11/${String(film.length)}`,
    film.subarray(4, 12),
  ]);
  expect(await (await fetch(`${view}/chapters`)).text()).toContain("After the end");
  expect(await (await fetch(`${view}/info`)).json()).toMatchObject({ ready: true });
  const marked = await first.request("POST", `/browsers/${id}/replays/${replayId}/marks`, { body: { title: "Later" } });
  expect(marked.status).toBe(201);
  expect((await here<Replay[]>(`/browsers/${id}/replays`))[0]?.marks?.map(({ title }) => title)).toEqual([
    "After the end",
    "Later",
  ]);
  expect(await here(`/browsers/${id}/downloads`)).toEqual([download]);
  const content = await fetch(`${first.baseUrl}/browsers/${id}/downloads/${download.download_id}/content`, {
    headers: { authorization: `Bearer ${first.key}` },
  });
  expect(await content.text()).toBe("noted");
  const stranger = await first.addProject("stranger");
  for (const path of ["replays", "downloads", "telemetry/events"])
    expect((await first.request("GET", `/browsers/${id}/${path}`, { key: stranger.key })).status).toBe(404);

  // A broken store must not look like the end of a film.
  s3.fault = (asked) => (asked.startsWith("GET ") ? "half" : undefined);
  const broken = filmHere(id, replayId).then(async (answer) => [answer.ok, await answer.text()]);
  expect(await broken.catch(() => "broken")).not.toEqual([true, expect.anything()]);
  s3.fault = undefined;
  expect((await filmHere(id, replayId)).status).toBe(200);
});

it("ends sessions while the store is unavailable, and uploads their files later", async () => {
  s3.fault = () => 503;
  const created = await first.request("POST", "/browsers", {
    body: { telemetry: { enabled: true, browser: { platform: {} } } },
  });
  const { session_id: id } = created.body as { session_id: string };
  await here(`/browsers/${id}/fs/list_files?path=/`);
  await expect.poll(() => existsSync(join(first.dataDir, "telemetry", id))).toBe(true);
  expect((await first.request("DELETE", `/browsers/${id}`)).status).toBe(204);
  await expect.poll(() => first.log()).toContain("could not be uploaded to the store");
  expect(await isStored(id)).toBe(false);
  const local = await here<object[]>(`/browsers/${id}/telemetry/events?since=1h`);
  expect(local).not.toEqual([]);
  s3.fault = undefined;
  await expect.poll(() => isStored(id)).toBe(true);
  expect(await here(`/browsers/${id}/telemetry/events?since=1h`)).toEqual(local);
  await expect.poll(() => existsSync(join(first.dataDir, "telemetry", id))).toBe(false);
});

it("marks a session without files soon after its end", async () => {
  const { session_id: id } = (await first.request("POST", "/browsers", { body: {} })).body as { session_id: string };
  expect((await first.request("DELETE", `/browsers/${id}`)).status).toBe(204);
  await expect.poll(() => isStored(id)).toBe(true);
});
