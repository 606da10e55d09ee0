import type { Placement } from "@shoal/placement";
import { Browser, type Replay } from "@shoal/schemas";
import { mkdtempSync, rmSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import { withMembers } from "../../testing/with-members.ts";
import { ReplayStore } from "./replay-store.ts";

describe("stored recordings", () => {
  let server: TestServer;
  let id: string;
  /** Called when an instance has started a recording, before the server gets the answer. */
  let onRecording = (): Promise<unknown> => Promise.resolve();
  const held = (placement: Placement) =>
    withMembers(placement, {
      async acquire(...given) {
        const instance = await placement.acquire(...given);
        return withMembers(instance, {
          async request(init, body) {
            const answer = await instance.request(init, body);
            if (init.path === "/replays") await onRecording();
            init.signal?.throwIfAborted();
            return answer;
          },
        });
      },
    });
  const newSession = async () =>
    Browser.parse(
      (await server.request("POST", "/browsers", { body: { name: "filmed", viewport: { width: 640, height: 480 } } }))
        .body,
    ).session_id;
  beforeAll(async () => {
    server = await startTestServer({}, { aroundPlacement: held });
    id = await newSession();
  });
  afterAll(() => server.close());

  const start = async (body: object = {}) => {
    const { status, body: replay } = await server.request("POST", `/browsers/${id}/replays`, { body });
    expect([status, replay]).toEqual([201, expect.anything()]);
    return replay as Replay;
  };
  const list = async () => (await server.request("GET", `/browsers/${id}/replays`)).body as Replay[];
  const download = (replayId: string) =>
    fetch(`${server.baseUrl}/browsers/${id}/replays/${replayId}`, {
      headers: { authorization: `Bearer ${server.key}` },
    });

  it("lists a recording whose client left before the answer", async () => {
    const [arrived, answered] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    onRecording = () => {
      arrived.resolve(undefined);
      return answered.promise;
    };
    const client = new AbortController();
    const asked = server.request("POST", `/browsers/${id}/replays`, { body: {}, signal: client.signal });
    await arrived.promise;
    onRecording = () => Promise.resolve();
    client.abort();
    await expect(asked).rejects.toThrow();
    expect(await list()).toEqual([]);
    answered.resolve(undefined);
    await expect.poll(list).toHaveLength(1);
    const left = (await list())[0]?.replay_id ?? "";
    expect((await server.request("POST", `/browsers/${id}/replays/${left}/stop`)).status).toBe(200);
    await expect.poll(async () => (await list())[0]?.finished_at ?? null).not.toBeNull();
    expect((await server.request("DELETE", `/browsers/${id}`)).status).toBeLessThan(300);
    id = await newSession();
  });

  it("answers 202 while a file grows, and returns the file after the end of the session", async () => {
    const [stopped, cut] = [await start(), await start({ framerate: 5 })];
    const early = await download(stopped.replay_id);
    const views = (await list()).map(({ replay_view_url: url = "" }) => url);
    expect((await fetch(`${views[0] ?? ""}/film`)).status).toBe(202);
    expect(await (await fetch(`${views[0] ?? ""}/info`)).json()).toMatchObject({
      session_name: "filmed",
      finished_at: null,
      marks: [],
      ready: false,
    });
    expect([early.status, early.headers.get("retry-after")]).toEqual([202, "1"]);
    const recorded = async () =>
      ((await (await fetch(`${views[0] ?? ""}/info`)).json()) as { recorded_bytes?: number }).recorded_bytes ?? 0;
    await expect.poll(recorded).toBeGreaterThan(0);
    const bytes = await recorded();
    await expect.poll(recorded).toBeGreaterThan(bytes);
    const readSoFar = (headers = {}) => fetch(`${views[0] ?? ""}/film?bytes=${String(bytes)}`, { headers });
    const soFar = Buffer.from(await (await readSoFar()).arrayBuffer());
    expect([soFar.length, soFar.toString("latin1", 4, 8)]).toEqual([bytes, "ftyp"]);
    const tail = await readSoFar({ range: `bytes=${String(bytes - 4)}-` });
    expect([tail.status, tail.headers.get("content-range")]).toEqual([
      206,
      `bytes ${String(bytes - 4)}-${String(bytes - 1)}/${String(bytes)}`,
    ]);
    expect((await fetch(`${views[0] ?? ""}/film?bytes=x`)).status).toBe(202);
    expect((await server.request("POST", `/browsers/${id}/replays/${stopped.replay_id}/stop`)).status).toBe(200);
    await expect.poll(async () => (await download(stopped.replay_id)).status).toBe(200);
    expect((await list()).map(({ replay_id, finished_at }) => [replay_id, typeof finished_at])).toEqual([
      [stopped.replay_id, "string"],
      [cut.replay_id, "object"],
    ]);
    expect((await server.request("DELETE", `/browsers/${id}`)).status).toBeLessThan(300);
    await expect.poll(async () => (await download(cut.replay_id)).status).toBe(200);
    const whole = await download(cut.replay_id);
    expect([whole.headers.get("content-type"), whole.headers.get("content-length")]).toEqual([
      "video/mp4",
      expect.stringMatching(/^[1-9]/),
    ]);
    expect(Buffer.from(await whole.arrayBuffer()).toString("latin1", 4, 8)).toBe("ftyp");
    const complete = Buffer.from(await (await readSoFar()).arrayBuffer());
    expect(complete.equals(soFar)).toBe(true);
    const [view = "", other = ""] = (await list()).map(({ replay_view_url: url }) => url);
    const seen = await fetch(`${other}/film`);
    // Inline: a browser would save an attachment.
    expect([seen.status, seen.headers.get("content-type"), seen.headers.get("content-disposition")]).toEqual([
      200,
      "video/mp4",
      null,
    ]);
    const film = Buffer.from(await seen.arrayBuffer());
    const part = await fetch(`${other}/film`, { headers: { range: "bytes=4-11" } });
    expect([part.status, part.headers.get("content-range"), part.headers.get("content-length")]).toEqual([
      206,
      `bytes 4-11/${String(film.length)}`,
      "8",
    ]);
    expect(Buffer.from(await part.arrayBuffer())).toEqual(film.subarray(4, 12));
    const changed = await fetch(`${other}/film`, { headers: { range: "bytes=4-11", "if-range": '"another"' } });
    expect([changed.status, (await changed.arrayBuffer()).byteLength]).toEqual([200, film.length]);
    const beyond = await fetch(`${other}/film`, { headers: { range: `bytes=${String(film.length)}-` } });
    expect([beyond.status, beyond.headers.get("content-range")]).toEqual([416, `bytes */${String(film.length)}`]);
    const head = await fetch(`${other}/film`, { method: "HEAD" });
    expect([head.status, head.headers.get("accept-ranges"), head.headers.get("content-length")]).toEqual([
      200,
      "bytes",
      String(film.length),
    ]);
    const page = await fetch(view);
    expect([
      page.status,
      page.headers.get("content-type"),
      page.headers.get("content-security-policy"),
      await page.text(),
    ]).toEqual([
      200,
      "text/html; charset=utf-8",
      expect.stringMatching(/^default-src 'none'; script-src 'self'; style-src 'self' 'nonce-.*frame-ancestors /),
      expect.stringMatching(/<base href="\/console\/" \/>[^]*<script type="module"[^>]* src="\.\/assets\/replay/),
    ]);
    for (const tail of ["", "/film", "/info", "/chapters"])
      expect((await fetch(view.replace(stopped.replay_id, cut.replay_id) + tail)).status).toBe(401);
    expect(server.log()).not.toContain(view.split(".").at(-1));
    expect((await list()).every(({ finished_at }) => typeof finished_at === "string")).toBe(true);
    expect((await server.request("POST", `/browsers/${id}/replays/${cut.replay_id}/stop`)).status).toBe(200);
    expect((await server.request("POST", `/browsers/${id}/replays`, { body: {} })).status).toBe(404);
    expect((await download("../../secret.key")).status).toBe(404);
    const stranger = await server.addProject("stranger");
    expect((await server.request("GET", `/browsers/${id}/replays`, { key: stranger.key })).status).toBe(404);
  });

  it("accepts chapters during and after the recording", async () => {
    const { session_id: session } = (await server.request("POST", "/browsers", { body: {} })).body as {
      session_id: string;
    };
    const path = `/browsers/${session}/replays`;
    const {
      replay_id: replayId,
      started_at,
      clock,
    } = (await server.request("POST", path, { body: {} })).body as Replay;
    expect(clock).toEqual({ started_ts: Date.parse(started_at ?? "") * 1000 });
    const mark = (body: object, headers = {}) => server.request("POST", `${path}/${replayId}/marks`, { body, headers });
    const now = await mark({ title: "Now <b>" }, { "idempotency-key": "same" });
    expect(now).toMatchObject({
      status: 201,
      body: { title: "Now <b>", offset_seconds: expect.any(Number) as number },
    });
    expect((await mark({ title: "Now <b>" }, { "idempotency-key": "same" })).body).toEqual(now.body);
    expect((await mark({ title: "First", offset_seconds: 0 })).body).toEqual({ title: "First", offset_seconds: 0 });
    expect((await mark({ title: "" })).status).toBe(400);
    expect((await mark({ title: "x", offset_seconds: -1 })).status).toBe(400);
    await Promise.all(
      Array.from({ length: 20 }, (_, place) =>
        mark({ title: `Chapter ${String(place)}`, offset_seconds: 500 + place }),
      ),
    );
    expect((await server.request("DELETE", `/browsers/${session}`)).status).toBe(204);
    const shown = async () => ((await server.request("GET", path)).body as Replay[])[0];
    await expect.poll(async () => typeof (await shown())?.finished_at).toBe("string");
    const ended = await shown();
    const seconds = (Date.parse(ended?.finished_at ?? "") - Date.parse(ended?.started_at ?? "")) / 1000;
    expect((await mark({ title: "Last" })).body).toEqual({ title: "Last", offset_seconds: seconds });
    const marks = (await shown())?.marks ?? [];
    expect(marks.map(({ title }) => title).slice(0, 3)).toEqual(["First", "Now <b>", "Last"]);
    expect(marks).toHaveLength(23);
    const chapters = await fetch(`${ended?.replay_view_url ?? ""}/chapters`);
    expect(chapters.headers.get("content-type")).toBe("text/vtt; charset=utf-8");
    expect((await chapters.text()).split("\n").slice(0, 7)).toEqual([
      "WEBVTT",
      "",
      expect.stringMatching(/^00:00:00\.000 --> 00:00:\d\d\.\d{3}$/),
      "First",
      "",
      expect.stringMatching(/^00:00:\d\d\.\d{3} --> /),
      "Now &lt;b&gt;",
    ]);
    expect((await server.request("POST", `${path}/${"0".repeat(24)}/marks`, { body: { title: "x" } })).status).toBe(
      404,
    );
  });
});

it("keeps the film of a killed instance", async () => {
  const server = await startTestServer();
  try {
    const { session_id: id } = (await server.request("POST", "/browsers", { body: {} })).body as { session_id: string };
    const { replay_id: replayId } = (await server.request("POST", `/browsers/${id}/replays`, { body: {} }))
      .body as Replay;
    const path = join(server.dataDir, "replays", id, `${replayId}.mp4`);
    // Complete fragments of the growing film.
    await expect.poll(async () => (await readFile(path)).includes("moof")).toBe(true);
    const pid = Number(/"session_id":"\w+"[^\n]*"pid":(\d+)[^\n]*session started/.exec(server.log())?.[1]);
    process.kill(pid, "SIGKILL");
    await expect
      .poll(async () => ((await server.request("GET", `/browsers/${id}/replays`)).body as Replay[])[0]?.finished_at)
      .toEqual(expect.any(String));
    const kept = await fetch(`${server.baseUrl}/browsers/${id}/replays/${replayId}`, {
      headers: { authorization: `Bearer ${server.key}` },
    });
    expect([kept.status, Buffer.from(await kept.arrayBuffer()).includes("moof")]).toEqual([200, true]);
    expect(((await server.request("GET", `/browsers/${id}/replays`)).body as Replay[])[0]?.failure_reason).toMatch(
      /The film is truncated\.$/,
    );
  } finally {
    await server.close();
  }
});

function box(type: string, sizeBytes: number): Buffer {
  const bytes = Buffer.alloc(sizeBytes);
  bytes.writeUInt32BE(sizeBytes, 0);
  bytes.write(type, 4, "latin1");
  return bytes;
}

it("deletes recordings after their retention, and treats recordings of a killed server as ended", async () => {
  const directory = mkdtempSync(join(tmpdir(), "shoal-replays-"));
  try {
    const store = new ReplayStore({
      directory,
      retentionDays: 2,
      quota: { maxRunning: 10, maxBytes: 2 ** 30 },
      log: pino({ level: "silent" }),
    });
    const names = ["a", "b"].map((letter) => letter.repeat(24));
    await mkdir(join(directory, "session"));
    for (const [place, replay_id] of names.entries()) {
      const replay: Replay = {
        replay_id,
        started_at: "2026-01-01T00:00:00.000Z",
        finished_at: place === 0 ? "2026-01-01T01:00:00.000Z" : null,
      };
      await writeFile(join(directory, "session", `${replay_id}.json`), JSON.stringify(replay));
      await writeFile(join(directory, "session", `${replay_id}.mp4`), Buffer.concat([box("moof", 8), box("mdat", 16)]));
    }
    expect((await store.list("session")).map(({ finished_at }) => typeof finished_at)).toEqual(["string", "string"]);
    expect(await store.sweep(Date.now())).toBe(Date.now() > Date.parse("2026-01-03T01:00:00.000Z") ? 1 : 0);
    expect(await store.read("session", names[1] ?? "")).toMatchObject({ sizeBytes: 24 });
    expect(await store.sweep(Date.now() + 3 * 24 * 60 * 60 * 1000)).toBe(1);
    expect(await readdir(directory)).toEqual([]);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
