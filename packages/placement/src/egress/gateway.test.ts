import { eventuallyPasses } from "@shoal/testkit";
import { EgressGateway } from "./gateway.ts";
import { createEgressPolicy, type ResolveName } from "../policy/egress-policy.ts";
import { createNameResolver } from "../policy/resolve-name.ts";
import { temporaryDirectory } from "../testing/placements.ts";
import { once } from "node:events";
import { createServer, request as httpRequest, type IncomingMessage, type Server } from "node:http";
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, it } from "vitest";
import { WebSocketServer, WebSocket } from "ws";

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const chunk = Buffer.alloc(1024 * 1024, 7);

let origin: Server;
let port: number;
let requests: string[];
const closing: (() => unknown)[] = [];

beforeEach(async () => {
  requests = [];
  origin = createServer((request, response) => {
    requests.push(`${request.method ?? ""} ${request.url ?? ""} ${request.headers.host ?? ""}`);
    if (request.url === "/redirect") response.writeHead(302, { location: `http://127.0.0.2:${port}/secret` }).end();
    else if (request.url === "/endless")
      Readable.from(endless(), { highWaterMark: 1 })
        .on("error", () => undefined)
        .pipe(response);
    else if (request.url === "/upload") {
      let bytes = 0;
      request.on("data", (data: Buffer) => (bytes += data.length)).on("end", () => response.end(String(bytes)));
    } else response.end("hello");
  });
  const sockets = new WebSocketServer({ server: origin });
  sockets.on("connection", (socket) => {
    socket.on("message", (data: Buffer) => {
      socket.send(`echo ${data.toString()}`);
    });
  });
  origin.listen(0, "127.0.0.1");
  await once(origin, "listening");
  port = (origin.address() as AddressInfo).port;
  closing.push(() => {
    origin.closeAllConnections();
    origin.close();
  });
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

let sent = 0;
function* endless(): Generator<Buffer> {
  for (sent = 0; ; sent += chunk.length) yield chunk;
}

async function openDoor(
  allow: readonly string[],
  resolveName: ResolveName = createNameResolver(),
): Promise<{ path: string; close: () => Promise<void> }> {
  const path = join(await temporaryDirectory(), "egress.sock");
  const door = await new EgressGateway(silent).open(path, createEgressPolicy(allow, resolveName));
  closing.push(() => door.close());
  return { path, close: () => door.close() };
}

function get(path: string, url: string, init: { method?: string; body?: Readable } = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { socketPath: path, path: url, method: init.method ?? "GET", headers: { host: URL.parse(url)?.host ?? "" } },
      resolve,
    );
    request.on("error", reject);
    if (init.body) init.body.pipe(request);
    else request.end();
  });
}

async function tunnel(path: string, target: string): Promise<{ head: string; socket: Socket }> {
  const socket = connect(path);
  closing.push(() => socket.destroy());
  socket.on("error", () => undefined);
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`);
  const [head] = (await once(socket, "data")) as [Buffer];
  return { head: head.toString(), socket };
}

it("forwards requests to allowed hosts, and keeps the connection alive", async () => {
  const door = await openDoor([`127.0.0.1:${port}`]);
  for (let count = 0; count < 3; count++)
    expect(await text(await get(door.path, `http://127.0.0.1:${port}/page`))).toBe("hello");
  expect(requests).toEqual(Array(3).fill(`GET /page 127.0.0.1:${port}`));
});

it("refuses requests and tunnels to private addresses with 403 and a message", async () => {
  const door = await openDoor([]);
  for (const host of [
    "127.0.0.1",
    "[::1]",
    "0.0.0.0",
    "2130706433",
    "0x7f.1",
    "[::ffff:127.0.0.1]",
    "localhost.",
    "169.254.169.254",
  ]) {
    const answer = await get(door.path, `http://${host}:${port}/`);
    expect(answer.statusCode, host).toBe(403);
    expect(answer.headers["content-type"]).toContain("text/plain");
    expect(await text(answer)).toMatch(/may not reach/);
    expect((await tunnel(door.path, `${host}:${port}`)).head, host).toMatch(/^HTTP\/1\.1 403 /);
  }
  expect(requests).toEqual([]);
});

it("checks each hop of a redirect", async () => {
  const door = await openDoor([`127.0.0.1:${port}`]);
  const first = await get(door.path, `http://127.0.0.1:${port}/redirect`);
  expect(first.statusCode).toBe(302);
  expect((await get(door.path, first.headers.location ?? "")).statusCode).toBe(403);
});

it("connects to the checked address even if the name then resolves to another", async () => {
  let calls = 0;
  const rebinding: ResolveName = async () => [{ address: calls++ === 0 ? "127.0.0.1" : "127.0.0.2", family: 4 }];
  const door = await openDoor(["127.0.0.1"], rebinding);
  expect(await text(await get(door.path, `http://rebind.example:${port}/`))).toBe("hello");
  expect((await get(door.path, `http://rebind.example:${port}/`)).statusCode).toBe(403);
  expect(calls).toBe(2);
  expect((await tunnel(door.path, `rebind.example:${port}`)).head).toMatch(/^HTTP\/1\.1 403 /);
});

it("refuses a name that resolves to a private address", async () => {
  const door = await openDoor([], async () => [{ address: "10.0.0.1", family: 4 }]);
  expect((await get(door.path, "http://innocent.example/")).statusCode).toBe(403);
});

it("refuses names with thousands of dots in time", async () => {
  const { path } = await openDoor([]);
  const host = `a${".".repeat(15_500)}x`;
  const began = process.threadCpuUsage();
  for (let count = 0; count < 6; count += 1) {
    expect((await get(path, `http://${host}/`)).statusCode).toBeGreaterThanOrEqual(400);
    expect((await tunnel(path, `${host}:443`)).head).toMatch(/^HTTP\/1\.1 [45]/);
  }
  // The gateway works in this thread; other programs do not count.
  const { system, user } = process.threadCpuUsage(began);
  expect((system + user) / 1_000).toBeLessThan(2_000);
});

it("joins the bytes of a body that a site or a client sends one by one", async () => {
  const [length, head] = [20_000, "Transfer-Encoding: chunked\r\n\r\n"];
  const body = `${"1\r\nx\r\n".repeat(length)}0\r\n\r\n`;
  let received = "";
  const site = createTcpServer((socket) => {
    socket
      .on("error", () => undefined)
      .on("data", (chunk: Buffer) => {
        received += chunk.toString();
        if (received.endsWith("0\r\n\r\n")) socket.end(`HTTP/1.1 200 OK\r\nConnection: close\r\n${head}${body}`);
      });
  }).listen(0, "127.0.0.1");
  closing.push(() => site.close());
  await once(site, "listening");
  const { port: sitePort } = site.address() as AddressInfo;
  const { path } = await openDoor([`127.0.0.1:${String(sitePort)}`]);
  const client = connect(path);
  client.write(`POST http://127.0.0.1:${String(sitePort)}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${head}${body}`);
  const answer = await text(client);
  for (const passed of [answer, received]) {
    expect(passed.match(/x/g)?.length).toBeGreaterThanOrEqual(length);
    expect(passed.length).toBeLessThan(2 * length);
  }
});

it("reports an unknown name", async () => {
  const door = await openDoor([], async () => {
    throw Object.assign(new Error("no"), { code: "ENOTFOUND" });
  });
  const answer = await get(door.path, "http://unknown.example/");
  expect([answer.statusCode, await text(answer)]).toEqual([502, expect.stringContaining("could not be resolved")]);
});

it("tunnels WebSockets and other protocols to any port", async () => {
  const door = await openDoor(["localhost"]);
  const { head, socket } = await tunnel(door.path, `localhost:${port}`);
  expect(head).toMatch(/^HTTP\/1\.1 200 /);
  const client = new WebSocket(`ws://localhost:${port}/`, { createConnection: () => socket });
  await once(client, "open");
  client.send("hi");
  const [message] = (await once(client, "message")) as [Buffer];
  expect(message.toString()).toBe("echo hi");
  client.terminate();
});

it("applies backpressure, and streams uploads", async () => {
  const door = await openDoor(["127.0.0.1"]);
  const answer = await get(door.path, `http://127.0.0.1:${port}/endless`);
  let seen = -1;
  await eventuallyPasses(() => {
    const before = seen;
    seen = sent;
    expect(seen).toBe(before);
  });
  expect(seen).toBeLessThan(32 * chunk.length);
  let read = 0;
  for await (const data of answer) if ((read += (data as Buffer).length) > 64 * chunk.length) break;
  answer.destroy();

  const upload = await get(door.path, `http://127.0.0.1:${port}/upload`, {
    method: "POST",
    body: Readable.from(
      (function* () {
        for (let count = 0; count < 64; count++) yield chunk;
      })(),
    ),
  });
  expect(await text(upload)).toBe(String(64 * chunk.length));
});

it("answers 400 to a request that is not a proxy request", async () => {
  const door = await openDoor(["127.0.0.1"]);
  expect((await get(door.path, "/relative")).statusCode).toBe(400);
  expect((await get(door.path, "ftp://127.0.0.1/")).statusCode).toBe(400);
  expect((await tunnel(door.path, "127.0.0.1")).head).toMatch(/^HTTP\/1\.1 400 /);
});

it("ends all connections on close", async () => {
  const door = await openDoor(["127.0.0.1"]);
  const { socket } = await tunnel(door.path, `127.0.0.1:${port}`);
  const closed = once(socket, "close");
  await door.close();
  await closed;
  await eventuallyPasses(async () => {
    expect(
      await new Promise<number>((resolve) => {
        origin.getConnections((_error, count) => {
          resolve(count);
        });
      }),
    ).toBe(0);
  });
  await expect(get(door.path, `http://127.0.0.1:${port}/`)).rejects.toThrow(/ENOENT|ECONNREFUSED/);
});

it("passes heads of 200 kB on, and closes connections with larger ones without an answer", async () => {
  // The site's parser must not be the limit.
  const site = createServer({ maxHeaderSize: 2 ** 20 }, ({ headers, url }, response) => {
    response.end(`${String(url?.length)} ${String(headers.cookie?.length)}`);
  }).listen(0, "127.0.0.1");
  await once(site, "listening");
  closing.push(() => site.close());
  const { path } = await openDoor(["127.0.0.1"]);
  const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/${"x".repeat(59_999)}`;
  const send = (cookieBytes: number) => {
    const request = httpRequest({
      socketPath: path,
      path: url,
      headers: { host: "a", cookie: "c".repeat(cookieBytes) },
    });
    request.end();
    return request;
  };
  const [answer] = (await once(send(140_000), "response")) as [IncomingMessage];
  expect([answer.statusCode, await text(answer)]).toEqual([200, "60000 140000"]);
  const [error] = (await once(send(300_000), "error")) as [NodeJS.ErrnoException];
  expect(error.code).toMatch(/ECONNRESET|EPIPE/);
  const failures = JSON.parse(await text(await get(path, "/failures"))) as unknown[];
  expect(failures).toContainEqual(
    expect.objectContaining({ target: "*", status: 431, message: expect.stringContaining("262144 bytes") as unknown }),
  );
});
