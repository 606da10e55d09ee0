import type { Replay } from "@shoal/schemas";
import type { Instance } from "@shoal/placement";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, request as httpRequest, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ForgingInstances, forgingInstances } from "../../testing/forging-instances.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import { ReplayStore } from "./replay-store.ts";

const idOf = (place: number): string => place.toString(16).padStart(24, "0");

function box(type: string, contentBytes: number): Buffer {
  const bytes = Buffer.alloc(8 + contentBytes);
  bytes.writeUInt32BE(bytes.length, 0);
  bytes.write(type, 4, "latin1");
  return bytes;
}

describe("recordings of compromised instances", () => {
  let instances: ForgingInstances;
  let server: TestServer;
  let path: string;
  const films: ServerResponse[] = [];
  let begun = 0;
  const stopped: string[] = [];
  /** Starts that wait for each other. */
  let held: (() => void)[] | undefined;
  beforeAll(async () => {
    instances = await forgingInstances();
    instances.forge("POST /replays", (response) => {
      const [, id] = /^\/replays\/(\w+)\/stop$/.exec(response.req.url ?? "") ?? [];
      if (id !== undefined) {
        stopped.push(id);
        response.writeHead(204).end();
        return;
      }
      begun += 1;
      const replay = { replay_id: idOf(begun), started_at: "9999-01-01T00:00:00.000Z", finished_at: null };
      const answer = () => response.writeHead(201, { "content-type": "application/json" }).end(JSON.stringify(replay));
      if (held === undefined) answer();
      else if (held.push(answer) === 2) for (const each of held) each();
    });
    instances.forge("GET /_instance/replays", (response) => {
      response.writeHead(200, { "content-type": "video/mp4", trailer: "x-finished-at" });
      response.flushHeaders();
      films.push(response);
    });
    server = await startTestServer({ replay_max_running: 6 }, { aroundPlacement: instances.around });
    path = await newSession();
  });
  afterAll(async () => {
    await server.close();
    instances.close();
  });

  async function newSession(): Promise<string> {
    const { status, body } = await server.request("POST", "/browsers", { body: {} });
    expect(status).toBe(200);
    return `/browsers/${(body as { session_id: string }).session_id}/replays`;
  }
  const start = (of = path, headers = {}) => server.request("POST", of, { body: {}, headers });
  const list = async () => (await server.request("GET", path)).body as Replay[];
  const film = async (place: number): Promise<ServerResponse> => {
    await expect.poll(() => films.length).toBeGreaterThan(place);
    const response = films[place];
    if (response === undefined) throw new Error("No request follows this recording.");
    return response;
  };

  it("stay within the limits of session and project, regardless of the instance", async () => {
    for (let count = 0; count < 4; count += 1) expect((await start()).status).toBe(201);
    expect(await start()).toMatchObject({
      status: 409,
      body: { code: "conflict", message: expect.stringContaining("4 running recordings") as string },
    });
    const another = await newSession();
    for (let count = 0; count < 2; count += 1) expect((await start(another)).status).toBe(201);
    expect(await start(another)).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining("replay_max_running") as string },
    });
    for (const key of ["first", "second"])
      expect(await start(another, { "idempotency-key": key })).toMatchObject({ status: 409 });
    // A session that needs a recording does not go on without one.
    const sessions = async () => (await server.request("GET", "/browsers")).body as unknown[];
    const running = (await sessions()).length;
    expect(await server.request("POST", "/browsers", { body: { recording: { video: true } } })).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining("replay_max_running") as string },
    });
    await expect.poll(async () => (await sessions()).length).toBe(running);
    expect(begun).toBe(6);
    const stranger = await server.addProject("stranger");
    const { body } = await server.request("POST", "/browsers", { body: {}, key: stranger.key });
    const theirs = `/browsers/${(body as { session_id: string }).session_id}/replays`;
    const startTheirs = () => server.request("POST", theirs, { body: {}, key: stranger.key });
    for (let count = 0; count < 3; count += 1) expect((await startTheirs()).status).toBe(201);
    // Both are admitted, and the instance starts both: the second one cannot be listed, and has to end.
    held = [];
    const both = await Promise.all([startTheirs(), startTheirs()]);
    held = undefined;
    expect(both.map(({ status }) => status).toSorted()).toEqual([201, 409]);
    expect(stopped).toHaveLength(1);
    const listed = (await server.request("GET", theirs, { key: stranger.key })).body as Replay[];
    expect(listed.map(({ replay_id }) => replay_id)).not.toContain(stopped[0]);
  });

  it("have plausible start and end times, regardless of the instance", async () => {
    const ending = await film(0);
    ending.write(Buffer.concat([box("ftyp", 20), box("moov", 100), box("moof", 100), box("mdat", 1000)]));
    ending.addTrailers({ "x-finished-at": "9999-01-02T00:00:00.000Z" });
    ending.end();
    await expect.poll(async () => (await list())[0]?.finished_at).toEqual(expect.any(String));
    const [ended] = await list();
    for (const moment of [ended?.started_at, ended?.finished_at])
      expect(Math.abs(Date.parse(moment ?? "") - Date.now())).toBeLessThan(120_000);
    expect(ended).not.toHaveProperty("failure_reason");
  });

  it("fail when the instance died before the first picture", async () => {
    (await film(1)).write(box("ftyp", 20));
    const kept = async () => (await server.request("GET", `${path}/${idOf(2)}`)).status;
    expect(await kept()).toBe(202);
    (await film(1)).destroy();
    await expect.poll(kept).toBe(404);
    const failed = (await list())[1];
    expect(failed).toMatchObject({
      finished_at: expect.any(String) as string,
      failure_reason: "The instance of the session ended before the recording was complete. No film was saved.",
    });
    expect((await server.request("GET", `${path}/${idOf(2)}`)).body).toMatchObject({
      message: expect.stringContaining("No film was saved.") as string,
    });
    const view = failed?.replay_view_url ?? "";
    expect((await fetch(`${view}/film`)).status).toBe(404);
    expect(await (await fetch(`${view}/info`)).json()).toMatchObject({
      ready: false,
      failure_reason: expect.any(String) as string,
    });
  });

  it("pass no invalid code of an error on", async () => {
    instances.forge("POST /replays", (response) => {
      const body = { code: "x\n".repeat(1000), message: "refused" };
      response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
    const { key } = await server.addProject("another stranger");
    const { body } = await server.request("POST", "/browsers", { body: {}, key });
    const theirs = `/browsers/${(body as { session_id: string }).session_id}/replays`;
    expect(await server.request("POST", theirs, { body: {}, key })).toMatchObject({
      status: 500,
      body: { code: "internal_error", message: "The instance answered 400." },
    });
  });
});

it("ends a recording at the space limit of its project, rejects new ones, and allows them again after a deletion", async () => {
  const directory = mkdtempSync(join(tmpdir(), "shoal-replays-"));
  const instance = createServer((_incoming, response) => {
    response.writeHead(200);
    const fragment = Buffer.concat([box("moof", 92), box("mdat", 9992)]);
    const push = (): void => {
      while (!response.destroyed && response.write(fragment));
    };
    response.on("drain", push);
    push();
  });
  instance.listen(0, "127.0.0.1");
  await once(instance, "listening");
  const { port } = instance.address() as AddressInfo;
  const request: Instance["request"] = ({ method, path, signal }) =>
    new Promise((resolve, reject) => {
      httpRequest({ host: "127.0.0.1", port, method, path, ...(signal && { signal }) }, resolve)
        .on("error", reject)
        .end();
    });
  const session = { id: "session", projectId: "project" };
  const options = {
    directory,
    retentionDays: 1,
    quota: { maxRunning: 9, maxBytes: 1_000_000 },
    log: pino({ level: "silent" }),
  };
  try {
    const store = new ReplayStore(options);
    // Only its requests are used.
    await store.keep(session, { request } as Instance, { replay_id: idOf(1), started_at: new Date().toISOString() });
    await expect
      .poll(async () => (await store.list("session"))[0]?.failure_reason)
      .toMatch(/replay_max_gib\)\. The film is truncated\.$/);
    const film = await store.film("session", idOf(1));
    expect(film?.sizeBytes).toBeLessThanOrEqual(1_000_000);
    for (const reopened of [store, new ReplayStore(options)])
      await expect(reopened.admit({ ...session, id: "another" })).rejects.toMatchObject({
        status: 507,
        code: "insufficient_storage",
      });
    await store.admit({ id: "another", projectId: "another" });
    expect(await store.sweep(Date.now() + 2 * 24 * 60 * 60 * 1000)).toBe(1);
    await store.admit({ ...session, id: "another" });
  } finally {
    instance.closeAllConnections();
    instance.close();
    rmSync(directory, { recursive: true, force: true });
  }
});
