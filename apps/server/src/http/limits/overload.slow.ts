import { withAcquire } from "@shoal/placement";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

async function open({ baseUrl }: TestServer): Promise<Socket> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

/** Begins a request whose body never ends. */
async function beginUpload(server: TestServer): Promise<Socket> {
  const socket = await open(server);
  socket.write(
    `POST /profiles HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.key}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`,
  );
  return socket;
}

describe("a server with low limits", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({
      max_requests: 20,
      max_starting_sessions: 1,
      max_event_loop_delay_ms: 0,
      request_stall_seconds: 600,
    });
  });
  afterAll(() => server.close());
  const calm = () => expect.poll(async () => (await server.request("GET", "/profiles")).status).toBe(200);

  it("refuses more requests than its limit, admits requests that free resources, and recovers", async () => {
    await calm();
    // More than the limit; refused requests are not kept.
    for (let index = 0; index < 25; index += 1) await beginUpload(server);
    await expect.poll(async () => (await server.request("GET", "/profiles")).status).toBe(503);
    const refused = await server.request("GET", "/profiles");
    expect(refused).toMatchObject({ status: 503, body: { code: "overloaded" } });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await server.request("DELETE", "/profiles/nobody")).status).toBe(404);
    expect((await server.request("GET", "/health", { key: null })).status).toBe(200);
    for (const socket of sockets.splice(0)) socket.destroy();
    await calm();
  });

  it("answers each request of a flood, and recovers after it", async () => {
    await calm();
    const statuses: number[] = [];
    // In waves that fit the system's backlog: the connections of a larger wave would try again after seconds.
    for (let wave = 0; wave < 4; wave += 1)
      statuses.push(
        ...(await Promise.all(
          Array.from({ length: 400 }, async () => (await server.request("GET", "/profiles")).status),
        )),
      );
    expect(statuses).toContain(200);
    expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
    await calm();
  });

  it("starts sessions up to its limit at once, and the others later", async () => {
    await calm();
    const replies = await Promise.all(
      Array.from({ length: 6 }, () => server.request("POST", "/browsers", { body: {} })),
    );
    const refused = replies.filter(({ status }) => status === 529);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]).toMatchObject({ body: { code: "capacity_exhausted" } });
    expect(Number(refused[0]?.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(replies.some(({ status }) => status === 200)).toBe(true);
    await expect.poll(async () => (await server.request("POST", "/browsers", { body: {} })).status).toBe(200);
  });
});

it("starts no sessions for the pages of a search above its limit", async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<undefined>();
  const server = await startTestServer(
    { max_starting_sessions: 1, max_event_loop_delay_ms: 0 },
    {
      aroundPlacement: (placement) =>
        withAcquire(placement, async (...given) => {
          await released;
          return placement.acquire(...given);
        }),
    },
  );
  try {
    const contents = () => server.request("POST", "/search/unknown/contents", { body: { limit: 1 } });
    expect((await contents()).status).toBe(404);
    const starting = server.request("POST", "/browsers", { body: {} });
    await expect.poll(async () => (await contents()).status).toBe(529);
    release(undefined);
    expect((await starting).status).toBe(200);
    expect((await contents()).status).toBe(404);
  } finally {
    release(undefined);
    await server.close();
  }
});

it("refuses requests only while it is overloaded", async () => {
  const server = await startTestServer({ max_event_loop_delay_ms: 400 });
  try {
    const statuses: number[] = [];
    for (let index = 0; index < 12 && !statuses.includes(503); index += 1) {
      const busyUntil = performance.now() + 1500;
      while (performance.now() < busyUntil);
      statuses.push((await server.request("GET", "/profiles")).status);
    }
    expect(statuses).toContain(503);
    await expect.poll(async () => (await server.request("GET", "/profiles")).status).toBe(200);
  } finally {
    await server.close();
  }
});

it("answers as soon as it has started, even after a busy start", async () => {
  // The limit is longer than the pauses of a busy machine, and the start is longer than the limit.
  const server = await startTestServer(
    { max_event_loop_delay_ms: 4_000 },
    {
      aroundPlacement(placement) {
        const busyUntil = performance.now() + 12_000;
        while (performance.now() < busyUntil);
        return placement;
      },
    },
  );
  try {
    expect((await server.request("GET", "/profiles")).status).toBe(200);
  } finally {
    await server.close();
  }
});

describe("a client that stops sending", () => {
  let server: TestServer;
  beforeAll(async () => {
    // Longer than the pauses of a busy machine.
    server = await startTestServer({ request_stall_seconds: 30 });
  });
  afterAll(() => server.close());

  it("gets a 408 for a partial head or body, and its connection is closed", async () => {
    const body = await beginUpload(server);
    const head = await open(server);
    head.write("GET /profiles HTTP/1.1\r\nHost: x\r\nX-Slow:");
    for (const [socket, bytes] of [
      [body, " "],
      [head, "x"],
    ] as const)
      void socket.once("close", () => undefined).write(bytes);
    const answers = await Promise.all([text(body), text(head)]);
    for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answers[0]).toContain("Nothing of the request's body arrived");
    expect((await server.request("GET", "/profiles")).status).toBe(200);
  });

  it("is not refused while bytes arrive", async () => {
    const socket = await open(server);
    const content = JSON.stringify({ name: "slow-but-steady" });
    socket.write(
      `POST /profiles HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${server.key}\r\nContent-Type: application/json\r\nContent-Length: ${String(content.length)}\r\n\r\n`,
    );
    const answer = text(socket);
    // Together they take longer than a stall may.
    for (const letter of content) {
      socket.write(letter);
      const betweenLettersMs = 1_400;
      await delay(betweenLettersMs);
    }
    expect(await answer).toMatch(/^HTTP\/1\.1 201 /);
  });
});
