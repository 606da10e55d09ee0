import { EgressGateway, type EgressDoor } from "./gateway.ts";
import { createEgressPolicy, type ResolveName } from "../policy/egress-policy.ts";
import { temporaryDirectory } from "../testing/placements.ts";
import { once } from "node:events";
import { Agent, createServer, request as httpRequest, type IncomingMessage, type Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { connect as tlsConnect } from "node:tls";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

let origin: Server;
let port: number;
let path: string;
let door: EgressDoor;
let asked: string[];
let received: Buffer;
const closing: (() => unknown)[] = [];
const resolveName: ResolveName = async (name) => {
  asked.push(name);
  return [{ address: "127.0.0.1", family: 4 }];
};

beforeEach(async () => {
  asked = [];
  received = Buffer.alloc(0);
  origin = createServer((request, response) => {
    if (request.url === "/endless") response.write("begun");
    else response.end(`host ${String(request.headers.host)}`);
  });
  origin.on("connection", (socket: Socket) => {
    socket.on("data", (chunk: Buffer) => (received = Buffer.concat([received, chunk])));
  });
  origin.on("clientError", () => undefined);
  origin.listen(0, "127.0.0.1");
  await once(origin, "listening");
  port = (origin.address() as AddressInfo).port;
  closing.push(() => {
    origin.closeAllConnections();
    origin.close();
  });
  path = join(await temporaryDirectory(), "egress.sock");
  door = await new EgressGateway(silent).open(path, createEgressPolicy(["127.0.0.0/8"], resolveName));
  closing.push(() => door.close());
  door.setRules("session", { allowedHosts: ["yes.example", "*.yes.example"] });
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function get(url: string, agent: Agent | false = false, headers = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    httpRequest({ socketPath: path, path: url, agent, headers: { host: "egress", ...headers } }, resolve)
      .on("error", reject)
      .end();
  });
}

async function tunnel(target: string): Promise<{ head: string; socket: Socket }> {
  const socket = connect(path);
  closing.push(() => socket.destroy());
  socket.on("error", () => undefined);
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`);
  const [head] = (await once(socket, "data")) as [Buffer];
  return { head: head.toString(), socket };
}

/** Whether bytes of the client arrive at the site. */
async function arrives(target: string, send: (socket: Socket) => void): Promise<boolean> {
  const { socket } = await tunnel(target);
  const before = received.length;
  const closed = once(socket, "close");
  send(socket);
  await Promise.race([closed, expect.poll(() => received.length).toBeGreaterThan(before)]);
  return received.length > before;
}

const hello = (servername: string) => (socket: Socket) => {
  const secure = tlsConnect({ socket, servername, rejectUnauthorized: false });
  secure.on("error", () => undefined);
};

it("refuses other hosts with a header and without a lookup, and shows the host", async () => {
  const allowed = await get(`http://a.b.yes.example:${port}/`);
  expect([allowed.statusCode, await text(allowed)]).toEqual([200, `host a.b.yes.example:${port}`]);
  asked.splice(0);
  for (const host of ["no.example", "yes.example.evil.example", "evilyes.example", "127.0.0.1", "[::ffff:127.0.0.1]"]) {
    const answer = await get(`http://${host}:${port}/`, false, { host: `yes.example:${port}` });
    expect([host, answer.statusCode, answer.headers["x-kernel-proxy-error"]]).toEqual([
      host,
      403,
      "network_policy_denied",
    ]);
    expect(answer.headers["x-shoal-proxy-error"]).toBe("network_policy_denied");
    expect(await text(answer)).toContain("network.allowed_hosts of this session does not contain it");
    const { head } = await tunnel(`${host}:${port}`);
    expect(head).toMatch(/^HTTP\/1\.1 403 [^]*\r\nX-Kernel-Proxy-Error: network_policy_denied\r\n/);
  }
  expect([asked, received.includes("evil")]).toEqual([[], false]);
});

it("answers the browser too, which gets no answer for other failures", async () => {
  const answer = await get(`http://no.example:${port}/`, false);
  expect(answer.statusCode).toBe(403);
  const socket = connect(path);
  closing.push(() => socket.destroy());
  socket.write(`GET http://no.example:${port}/ HTTP/1.1\r\nShoal-Egress-Client: browser=1\r\nHost: no.example\r\n\r\n`);
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 403 [^]*Pages may not reach no\.example/);
});

it.each(["YES.EXAMPLE", "yes.example.", "%79es.example"])("treats %s as the allowed name", async (host) => {
  const answer = await get(`http://${host}:${port}/`);
  expect(answer.statusCode).toBe(200);
});

it("never allows an address by the name that leads to it, or a name by its address", async () => {
  door.setRules("session", { allowedHosts: ["127.0.0.1"] });
  expect((await get(`http://127.0.0.1:${port}/`)).statusCode).toBe(200);
  expect((await get(`http://2130706433:${port}/`)).statusCode).toBe(200);
  expect((await get(`http://yes.example:${port}/`)).statusCode).toBe(403);
  expect((await get(`http://127.0.0.2:${port}/`)).statusCode).toBe(403);
});

it("keeps a listed name closed that leads to a private address", async () => {
  door.setPrivateHosts([]);
  const answer = await get(`http://yes.example:${port}/`);
  expect([answer.statusCode, await text(answer)]).toEqual([403, expect.stringContaining("loopback")]);
});

it("judges each request of a kept connection", async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  closing.push(() => {
    agent.destroy();
  });
  const first = await get(`http://yes.example:${port}/`, agent);
  await text(first);
  const second = await get(`http://no.example:${port}/`, agent);
  expect([first.statusCode, second.statusCode]).toEqual([200, 403]);
});

describe("inside a tunnel", () => {
  it("lets TLS through that names an allowed host, or none", async () => {
    expect(await arrives(`yes.example:${port}`, hello("yes.example"))).toBe(true);
    expect(await arrives(`yes.example:${port}`, hello("WWW.Yes.example"))).toBe(true);
    expect(await arrives(`yes.example:${port}`, hello(""))).toBe(true);
    expect(await arrives(`yes.example:${port}`, (socket) => socket.write("SSH-2.0-x\r\n"))).toBe(true);
  });

  it("closes TLS that names another host, however it is split", async () => {
    expect(await arrives(`yes.example:${port}`, hello("no.example"))).toBe(false);
    const failures = JSON.parse(await text(await get("/failures"))) as { target: string; proxy_error?: string }[];
    expect(failures).toContainEqual(
      expect.objectContaining({ target: `no.example:${port}`, status: 403, proxy_error: "network_policy_denied" }),
    );
    const bytes = await helloBytes("no.example");
    for (const size of [1, 3, 100, bytes.length - 1])
      expect(
        await arrives(`yes.example:${port}`, (socket) => {
          for (let at = 0; at < bytes.length; at += size) socket.write(bytes.subarray(at, at + size));
        }),
      ).toBe(false);
    // Two records, split within the name.
    const at = bytes.indexOf("no.example") + 3 - 5;
    const records = [bytes.subarray(5, 5 + at), bytes.subarray(5 + at)].map((piece) =>
      Buffer.concat([bytes.subarray(0, 3), Buffer.from([piece.length >> 8, piece.length & 255]), piece]),
    );
    expect(await arrives(`yes.example:${port}`, (socket) => socket.write(Buffer.concat(records)))).toBe(false);
    const allowed = await helloBytes("yes.example");
    expect(await arrives(`yes.example:${port}`, (socket) => socket.write(allowed))).toBe(true);
  });

  it("closes invalid and endless TLS", async () => {
    const bytes = await helloBytes("yes.example");
    const cut = Buffer.from(bytes);
    cut.writeUInt16BE(9, 3);
    expect(await arrives(`yes.example:${port}`, (socket) => socket.end(cut))).toBe(false);
    expect(
      await arrives(`yes.example:${port}`, (socket) => {
        for (let count = 0; count < 40; count++)
          socket.write(Buffer.concat([Buffer.from([22, 3, 1, 8, 0, 1, 255, 255, 255]), Buffer.alloc(2044)]));
      }),
    ).toBe(false);
  });

  it("closes requests to another host", async () => {
    const request = (host: string, line = "/ HTTP/1.1") => `GET ${line}\r\nX: 1\r\nhOsT: ${host}\r\n\r\n`;
    expect(await arrives(`yes.example:${port}`, (socket) => socket.write(request("yes.example:80")))).toBe(true);
    for (const bytes of [
      request("no.example"),
      request("yes.example", "http://no.example/ HTTP/1.1"),
      "GET / HTTP/1.1\r\nHost: yes.example\r\nHost: no.example\r\n\r\n",
      "GET http://no.example/ HTTP/1.0\r\n\r\n",
      "GET / HTTP/1.1\nHost: no.example\n\n",
      "\r\n\r\nget\t/ HTTP/1.1\r\nHost: no.example\r\n\r\n",
      "GET / HTTP/1.1\r\nHost:\r\n no.example\r\n\r\n",
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ])
      expect(await arrives(`yes.example:${port}`, (socket) => socket.write(bytes)), bytes).toBe(false);
  });
});

/** 10,000 records of a ClientHello that announces more. */
const oneByteRecords = ["\x01", "\x7f", "\x7f", "\x7f", ...Array<string>(9_996).fill("x")]
  .map((byte) => `\x16\x03\x01\x00\x01${byte}`)
  .join("");

it.each<[string, string]>([
  ["spaces in the host", `GET / HTTP/1.1\r\nHost: a${" ".repeat(60_000)}b\r\n\r\n`],
  ["spaces before the end of a line", `GET / HTTP/1.1\r\n${`Host: a${" ".repeat(500)}b\r\n`.repeat(100)}\r\n`],
  ["tabs and spaces", `GET / HTTP/1.1\r\nhOst \t:${"\t ".repeat(30_000)}b\r\n\r\n`],
  ["tokens", "a".repeat(60_000)],
  ["targets", `GET ${"a ".repeat(30_000)}`],
  ["TLS records of one byte", oneByteRecords],
])("decides in time about a tunnel that begins with many %s", async (_what, bytes) => {
  // The gateway and this test share a thread, whose use of the processor does not depend on other programs.
  const usedMs = async (sent: string) => {
    const began = process.threadCpuUsage();
    for (let count = 0; count < 100; count++) {
      const { socket } = await tunnel(`yes.example:${port}`);
      socket.end(sent);
      await once(socket, "close");
    }
    const { system, user } = process.threadCpuUsage(began);
    return (system + user) / 1_000;
  };
  const ordinaryMs = await usedMs(`GET / HTTP/1.1\r\nX: ${"x".repeat(60_000)}\r\nHost: no.example\r\n\r\n`);
  // A regular expression that looks for spaces before the end takes 60 to 10,000 times as long.
  // Some kernels count in steps of ten milliseconds.
  expect((await usedMs(bytes)) / Math.max(ordinaryMs, 20)).toBeLessThan(50);
  expect(received).toHaveLength(0);
});

it("closes open connections to removed hosts, and keeps the others", async () => {
  const kept = (await tunnel(`yes.example:${port}`)).socket;
  const cut = (await tunnel(`a.yes.example:${port}`)).socket;
  const inside = (await tunnel(`yes.example:${port}`)).socket;
  hello("a.yes.example")(inside);
  await expect.poll(() => received.length).toBeGreaterThan(0);
  const stream = await get(`http://b.yes.example:${port}/endless`);
  stream.on("error", () => undefined);
  stream.resume();
  const ended = [cut, inside, stream].map(
    (each) =>
      new Promise((resolve) => {
        each.once("close", resolve);
      }),
  );
  door.setRules("session", { allowedHosts: ["yes.example"] });
  await Promise.all(ended);
  expect(kept.destroyed).toBe(false);
  kept.write("GET / HTTP/1.1\r\nHost: yes.example\r\nConnection: close\r\n\r\n");
  expect(await text(kept)).toContain("200 OK");
});

it("applies to the proxy of a browser context, and behind the session's proxy", async () => {
  door.setUpstream({ url: `http://proxy.example:${port}`, bypassHosts: [] });
  const behind = await get(`http://no.example:${port}/`);
  expect([behind.statusCode, behind.headers["x-kernel-proxy-error"]]).toEqual([403, "network_policy_denied"]);
  door.setUpstream(undefined);
  const socket = connect(path);
  closing.push(() => socket.destroy());
  const fields = new URLSearchParams({ proxy: `http://proxy.example:${port}` });
  socket.write(
    `GET http://yes.example/ HTTP/1.1\r\nShoal-Egress-Client: ${String(fields)}\r\nHost: yes.example\r\n\r\n`,
  );
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 403 [^]*proxy\.example/);
  expect(received.length).toBe(0);
});

it("sends the judged name to the session's proxy", async () => {
  const lines: string[] = [];
  const proxy = createServer().listen(0, "127.0.0.1");
  proxy.on("connect", (request, socket) => {
    lines.push(request.url ?? "");
    socket.end("HTTP/1.1 200 OK\r\n\r\n");
  });
  await once(proxy, "listening");
  closing.push(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  door.setUpstream({ url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, bypassHosts: [] });
  await tunnel("EVIL%2Eexample%2Eyes.example.:443");
  expect(lines).toEqual(["evil.example.yes.example:443"]);
});

describe("routes", () => {
  let proxied: string[];
  let proxy: Server;
  let proxyUrl: string;
  beforeEach(async () => {
    proxied = [];
    proxy = createServer((request, response) => {
      proxied.push(request.url ?? "");
      response.end("by the proxy");
    }).listen(0, "127.0.0.1");
    await once(proxy, "listening");
    proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    closing.push(() => {
      proxy.closeAllConnections();
      proxy.close();
    });
    door.setRules("session", undefined);
  });

  it("reach their hosts by their proxy, the longest pattern first, and other hosts by the session's", async () => {
    door.setUpstream({ url: "http://127.0.0.1:1", bypassHosts: ["direct.example"] });
    door.setProxyRoutes([
      { hosts: ["*.shop.example"], upstream: { url: "http://127.0.0.1:1", bypassHosts: [] } },
      {
        hosts: ["*.a.shop.example", "exact.shop.example"],
        upstream: { url: proxyUrl, bypassHosts: ["by.a.shop.example"] },
      },
    ]);
    for (const host of ["x.a.shop.example", "EXACT.shop.example."])
      expect((await get(`http://${host}/`)).statusCode, host).toBe(200);
    expect(await text(await get(`http://by.a.shop.example:${port}/`))).toContain("host by.a.shop.example");
    expect(await text(await get(`http://direct.example:${port}/`))).toContain("host direct.example");
    const unavailable = await get("http://other.shop.example/");
    expect([unavailable.statusCode, unavailable.headers["x-kernel-proxy-error"]]).toEqual([
      502,
      "destination_route_unavailable",
    ]);
    const session = await get("http://shop.example/");
    expect([session.statusCode, session.headers["x-kernel-proxy-error"]]).toEqual([594, undefined]);
    expect(proxied).toEqual(["http://x.a.shop.example/", "http://exact.shop.example./"]);
  });

  it("fail without their proxy, and never connect in another way", async () => {
    door.setProxyRoutes([{ hosts: ["shop.example"], upstream: { url: proxyUrl, bypassHosts: [] } }]);
    expect((await get("http://shop.example/")).statusCode).toBe(200);
    proxy.closeAllConnections();
    proxy.close();
    const answer = await get(`http://shop.example:${port}/`);
    expect([answer.statusCode, await text(answer)]).toEqual([502, expect.stringContaining("network.proxy_routes")]);
    expect((await tunnel(`shop.example:${port}`)).head).toMatch(
      /^HTTP\/1\.1 502 [^]*X-Kernel-Proxy-Error: destination_route_unavailable/,
    );
    expect(received.length).toBe(0);
  });

  it("pass the rules first", async () => {
    door.setProxyRoutes([{ hosts: ["*.example"], upstream: { url: proxyUrl, bypassHosts: [] } }]);
    door.setRules("session", { allowedHosts: ["yes.example"] });
    expect((await get("http://yes.example/")).statusCode).toBe(200);
    expect((await get("http://no.example/")).statusCode).toBe(403);
    expect(proxied).toEqual(["http://yes.example/"]);
  });
});

/** A ClientHello with a server name. */
async function helloBytes(servername: string): Promise<Buffer> {
  const server = createServer();
  const bytes = new Promise<Buffer>((resolve) => {
    server.on("connection", (socket: Socket) => {
      socket.removeAllListeners("data");
      socket.once("data", (chunk: Buffer) => {
        resolve(chunk);
        socket.destroy();
      });
    });
  });
  server.on("clientError", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const secure = tlsConnect({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", servername });
  secure.on("error", () => undefined);
  const found = await bytes;
  server.close();
  return found;
}
