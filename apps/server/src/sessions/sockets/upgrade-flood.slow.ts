import { once } from "node:events";
import { readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

const clients = 2_000;
/** The system queues this many connections that no program accepted yet. */
const atOnce = 100;

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ max_sessions_per_project: 1, request_stall_seconds: 600 });
  expect((await server.request("POST", "/browsers", { body: { timeout_seconds: 3600 } })).status).toBe(200);
});
afterAll(() => server.close());

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

async function open(): Promise<Socket> {
  const { hostname, port } = new URL(server.baseUrl);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  sockets.push(socket);
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

const upgradeOf = (path: string, key: string) =>
  `GET ${path}token=${key} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n`;
/** Of this process. */
const descriptors = () => readdirSync("/proc/self/fd").length;

const doors = ["/?", "/cdp?", "/steel?", "/browserless/chromium?", "/playwright?", "/browsers/unknown/cdp?"];

it.runIf(process.platform === "linux").each([
  ["never end their head", false, (socket: Socket, head: string): void => void socket.write(head)],
  [
    "wait for a place, and never read",
    false,
    (socket: Socket, head: string): void => void socket.pause().write(`${head}\r\n`),
  ],
  ["close their side at once", true, (socket: Socket, head: string): void => void socket.pause().end(`${head}\r\n`)],
  [
    "keep their side open after a refusal",
    true,
    (socket: Socket, head: string): void => void socket.write(`${head.replace(server.key, "wrong")}\r\n`),
  ],
] as const)(
  "answers other requests while 2,000 clients ask for an upgrade and %s, and closes their connections",
  async (_how, ends, send) => {
    const before = descriptors();
    const statuses = new Map<string, number>();
    const note = (what: string) => statuses.set(what, (statuses.get(what) ?? 0) + 1);
    for (let from = 0; from < clients; from += atOnce) {
      await Promise.all(
        Array.from({ length: atOnce }, async (_, index) => {
          send(await open(), upgradeOf(doors[index % doors.length] ?? "", server.key));
        }),
      );
      note(`browsers ${String((await server.request("GET", "/browsers")).status)}`);
      note(`health ${String((await server.request("GET", "/health", { key: null })).status)}`);
    }
    expect(Object.fromEntries(statuses)).toEqual({ "browsers 200": clients / atOnce, "health 200": clients / atOnce });
    if (!ends) for (const socket of sockets) socket.destroy();
    await expect.poll(descriptors).toBeLessThan(before + 50 + (ends ? sockets.length : 0));
    for (const socket of sockets.splice(0)) socket.destroy();
    await expect.poll(descriptors).toBeLessThan(before + 50);
    expect((await server.request("GET", "/browsers")).status).toBe(200);
  },
);
