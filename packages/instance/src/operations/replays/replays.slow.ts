import { ALL_FORMATS, BufferSource, Input } from "mediabunny";
import { request } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import type { Replay } from "@shoal/schemas";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { WebSocket } from "ws";
import { describeChromium } from "../../testing/chromium.ts";
import { killAll, processesWith } from "../../testing/processes.ts";
import { cdpClient, runInstance, type RunningInstance } from "../../testing/run-instance.ts";

const moving =
  "document.body.style.margin = 0; let i = 0; globalThis.timer = setInterval(() => { document.body.style.background = `hsl(${i++ * 7 % 360} 80% 50%)` }, 30); 0";

function get(
  instance: RunningInstance,
  path: string,
): Promise<{ status: number; headers: Record<string, unknown>; bytes: Buffer }> {
  return new Promise((resolve, reject) => {
    request({ socketPath: instance.config.listen_path, path }, (response) => {
      buffer(response).then((bytes) => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes });
      }, reject);
    })
      .on("error", reject)
      .end();
  });
}

async function start(instance: RunningInstance, body: object = {}): Promise<Replay> {
  const { status, text } = await instance.call("POST", "/replays", JSON.stringify(body));
  expect([status, text]).toEqual([201, expect.any(String)]);
  return JSON.parse(text) as Replay;
}

async function list(instance: RunningInstance): Promise<Replay[]> {
  return JSON.parse((await instance.call("GET", "/replays")).text) as Replay[];
}

async function download(instance: RunningInstance, id: string): Promise<Buffer> {
  for (;;) {
    const { status, headers, bytes } = await get(instance, `/replays/${id}`);
    if (status === 200) return bytes;
    expect([status, headers["retry-after"]]).toEqual([202, "1"]);
    const retryMs = 100;
    await new Promise((resolve) => setTimeout(resolve, retryMs));
  }
}

async function examine(
  bytes: Buffer,
): Promise<{ codec: string | null; width: number; height: number; seconds: number; frames: number }> {
  const input = new Input({ source: new BufferSource(bytes), formats: ALL_FORMATS });
  const track = await input.getPrimaryVideoTrack();
  if (track === null) throw new Error("The file has no video track.");
  return {
    codec: await track.getCodec(),
    width: await track.getDisplayWidth(),
    height: await track.getDisplayHeight(),
    seconds: await input.computeDuration(),
    frames: (await track.computePacketStats()).packetCount,
  };
}

async function wallSeconds(instance: RunningInstance, id: string): Promise<number> {
  const replay = (await list(instance)).find(({ replay_id }) => replay_id === id);
  return (Date.parse(replay?.finished_at ?? "") - Date.parse(replay?.started_at ?? "")) / 1000;
}

/** The length of a recording is the time that passes. */
const lengthsMs = { moment: 500, second: 1_000, scene: 2_000, film: 3_500, long: 6_000 };
const filmed = (length: keyof typeof lengthsMs) => delay(lengthsMs[length]);

describeChromium("recordings", (chromium) => {
  let instance: RunningInstance;
  let socket: WebSocket;
  let cdp: ReturnType<typeof cdpClient>;
  let sessionId: string;
  beforeAll(async () => {
    instance = await runInstance({ chromium });
    await instance.assign({ viewport: { width: 801, height: 600 } });
    await instance.ready();
    await connect();
  });
  afterAll(async () => {
    socket.close();
    await instance[Symbol.asyncDispose]();
  });
  async function connect(): Promise<void> {
    socket = await instance.connect();
    cdp = cdpClient(socket);
    const { result } = (await cdp.send("Target.getTargets")) as {
      result: { targetInfos: { type: string; targetId: string }[] };
    };
    const targetId = result.targetInfos.find(({ type }) => type === "page")?.targetId;
    ({ sessionId } = (
      (await cdp.send("Target.attachToTarget", { targetId, flatten: true })) as { result: { sessionId: string } }
    ).result);
  }
  const evaluate = (expression: string) => cdp.send("Runtime.evaluate", { expression }, sessionId);

  it("records motion as H.264, and streams the file while it grows", async () => {
    await evaluate(moving);
    const { replay_id: id, started_at, finished_at } = await start(instance, { framerate: 10 });
    expect([Date.parse(started_at ?? "") > 0, finished_at]).toEqual([true, null]);
    const followed = get(instance, `/_instance/replays/${id}`);
    expect((await get(instance, `/replays/${id}`)).status).toBe(202);
    await filmed("film");
    expect((await instance.call("POST", `/replays/${id}/stop`)).status).toBe(200);
    const file = await download(instance, id);
    const found = await examine(file);
    expect(found).toMatchObject({ codec: "avc", width: 802, height: 600 });
    expect(Math.abs(found.seconds - (await wallSeconds(instance, id)))).toBeLessThan(1);
    expect(found.frames).toBeGreaterThan(4);
    expect(found.frames).toBeLessThanOrEqual(found.seconds * 10 + 3);
    expect((await followed).bytes.equals(file)).toBe(true);
    expect((await instance.call("POST", `/replays/${id}/stop`)).status).toBe(200);
  });
  it("keeps the time of a still page, stops at a viewport change and at the maximum duration", async () => {
    await evaluate("clearInterval(timer)");
    const [still, short] = [await start(instance), await start(instance, { max_duration_in_seconds: 1 })];
    await filmed("scene");
    await instance.assign({ viewport: { width: 600, height: 700 } });
    await filmed("scene");
    await instance.call("POST", `/replays/${still.replay_id}/stop`);
    for (const { replay_id: id } of [still, short]) {
      const found = await examine(await download(instance, id));
      const wall = await wallSeconds(instance, id);
      expect(Math.abs(found.seconds - wall)).toBeLessThan(1);
      expect(wall).toBeGreaterThan(id === short.replay_id ? 0.9 : 3.4);
      if (id === short.replay_id) expect(wall).toBeLessThan(3.4);
    }
  });
  it("rejects unsupported requests", async () => {
    expect((await instance.call("POST", "/replays", '{"record_audio":true}')).status).toBe(501);
    expect((await instance.call("GET", "/replays/none")).status).toBe(404);
    expect((await instance.call("POST", "/replays/none/stop")).status).toBe(404);
  });
  it("has the picture of a page that was navigating at the start and stays unchanged", async () => {
    await using fresh = await runInstance({ chromium });
    await fresh.assign({
      viewport: { width: 320, height: 240 },
      start_url: "data:text/html,<body style='background:red'>",
    });
    const { replay_id: id } = await start(fresh);
    await filmed("scene");
    await fresh.call("POST", `/replays/${id}/stop`);
    // Every recording has a picture at the end.
    expect((await examine(await download(fresh, id))).frames).toBeGreaterThan(1);
  });

  it("continues in the browser that starts after a crash", async () => {
    const { replay_id: id } = await start(instance);
    void cdp.send("Browser.crash");
    await instance.ready(await instance.event(({ type }) => type === "browser_restarted"));
    await connect();
    await evaluate(moving);
    await filmed("scene");
    await instance.call("POST", `/replays/${id}/stop`);
    const found = await examine(await download(instance, id));
    expect(Math.abs(found.seconds - (await wallSeconds(instance, id)))).toBeLessThan(1);
    expect(found.frames).toBeGreaterThan(4);
  });
  it("keeps the existing part when the encoder dies, and starts another encoder", async () => {
    const { replay_id: id } = await start(instance);
    await filmed("film");
    const encoders = processesWith(join(instance.config.session_dir, "replays"));
    expect(encoders.length).toBeGreaterThan(0);
    killAll(encoders);
    const found = await examine(await download(instance, id));
    expect(found.seconds).toBeGreaterThan(0.9);
    const next = await start(instance);
    await filmed("moment");
    await instance.call("POST", `/replays/${next.replay_id}/stop`);
    expect((await examine(await download(instance, next.replay_id))).seconds).toBeGreaterThan(0.4);
  });
  // The headless shell has no tabs: each page has a separate window.
  if (chromium.kind === "chrome")
    it("follows a tab that is brought back to the front", async () => {
      const { result } = (await cdp.send("Target.createTarget", {
        url: "data:text/html,<body style='background:red'>",
      })) as {
        result: { targetId: string };
      };
      await filmed("moment");
      const { replay_id: id } = await start(instance, { framerate: 20 });
      // A still page yields one frame per second; this page moves.
      await evaluate(moving);
      await filmed("scene");
      await cdp.send("Page.bringToFront", {}, sessionId);
      await filmed("long");
      await instance.call("POST", `/replays/${id}/stop`);
      const found = await examine(await download(instance, id));
      expect(found.frames).toBeGreaterThan(12);
      await cdp.send("Target.closeTarget", result);
    });
  it("rejects a fifth concurrent recording", async () => {
    const started = await Promise.all([1, 2, 3, 4].map(() => start(instance, { framerate: 1 })));
    expect((await instance.call("POST", "/replays", "{}")).status).toBe(409);
    for (const { replay_id: id } of started) await instance.call("POST", `/replays/${id}/stop`);
    await Promise.all(started.map(({ replay_id: id }) => download(instance, id)));
  });
  it("leaves a playable file when the session ends", async () => {
    const { replay_id: id } = await start(instance);
    const followed = get(instance, `/_instance/replays/${id}`);
    await filmed("second");
    await instance.call("POST", "/_instance/stop");
    expect((await examine((await followed).bytes)).seconds).toBeGreaterThan(0.9);
    await instance.exited;
  });
});
