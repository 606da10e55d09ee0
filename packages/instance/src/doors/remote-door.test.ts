import { TlsIdentity } from "@shoal/primitives/pinned-tls";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { performServerHandshake } from "node:http2";
import { connect as connectTcp, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { remoteProtocols } from "./protocols.ts";
import { RemoteDoor } from "./remote-door.ts";

const service = new TlsIdentity("service");
const expired = inThePast(() => service.credentials);
const received: TLSSocket[] = [];
let folder: string;
let door: RemoteDoor;
let port: number;
let abandoned = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "shoal-door-"));
  door = new RemoteDoor({
    servicePin: service.pin,
    sockets: { egress: join(folder, "egress") },
    identity: new TlsIdentity("instance"),
    onConnection: (socket) => {
      received.push(socket);
      socket.end("welcome");
    },
    onError: (error) => {
      throw error;
    },
    onAbandoned: () => (abandoned += 1),
    abandonedMs: 100,
  });
  port = await door.listen("127.0.0.1", 0);
});
afterAll(async () => {
  door.close();
  await rm(folder, { recursive: true });
});

function dial(options: ConnectionOptions): TLSSocket {
  return connect({
    host: "127.0.0.1",
    port,
    rejectUnauthorized: false,
    ALPNProtocols: [remoteProtocols.instance],
    ...options,
  });
}

function inThePast<T>(run: () => T): T {
  vi.useFakeTimers({ now: Date.now() - 48 * 3_600_000, toFake: ["Date"] });
  try {
    return run();
  } finally {
    vi.useRealTimers();
  }
}

/** What the client reads before the end; errors count as an end. */
async function heard(socket: Socket): Promise<string> {
  return text(socket).catch(() => "");
}

it("serves the service that owns the pinned key", async () => {
  expect(await heard(dial(service.credentials))).toBe("welcome");
  expect(door.pin).toMatch(/^[0-9a-f]{64}$/);
});

it.each<[string, () => ConnectionOptions]>([
  ["no certificate", () => ({})],
  ["the certificate of another service", () => new TlsIdentity("service").credentials],
  ["a certificate that has expired", () => expired],
  ["TLS 1.2", () => ({ ...service.credentials, maxVersion: "TLSv1.2" })],
  ["no protocol", () => ({ ...service.credentials, ALPNProtocols: [] })],
  ["an unknown protocol", () => ({ ...service.credentials, ALPNProtocols: ["h2"] })],
])("refuses a client with %s", async (_case, options) => {
  const before = received.length;
  expect(await heard(dial(options()))).toBe("");
  expect(received).toHaveLength(before);
});

it("closes connections that do not speak TLS", async () => {
  const socket = connectTcp(port, "127.0.0.1");
  socket.end("GET / HTTP/1.1\r\n\r\n");
  expect(await heard(socket)).not.toContain("welcome");
});

it("carries connections to the egress gateway inside a connection of the service, and reports its end", async () => {
  const socket = dial({ ...service.credentials, ALPNProtocols: [remoteProtocols.egress] });
  // Connections before the link wait for it.
  const early = connectTcp({ path: join(folder, "egress"), allowHalfOpen: true });
  early.end("early");
  await once(socket, "secureConnect");
  const session = performServerHandshake(socket);
  session.on("stream", (stream) => {
    stream.respond({ ":status": 200 });
    void text(stream).then((said) => stream.end(`heard ${said}`));
  });
  const late = connectTcp({ path: join(folder, "egress"), allowHalfOpen: true });
  const content = "x".repeat(2 ** 21);
  late.end(content);
  expect(await Promise.all([text(early), text(late)])).toEqual(["heard early", `heard ${content}`]);
  // While it is open, the service is there.
  const before = abandoned;
  session.destroy();
  await expect.poll(() => abandoned).toBeGreaterThan(before);
});
