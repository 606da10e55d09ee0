import { EgressGateway, type EgressDoor } from "./gateway.ts";
import { createEgressPolicy } from "../policy/egress-policy.ts";
import type { EgressLimits } from "../interface/egress.ts";
import { temporaryDirectory } from "../testing/placements.ts";
import { eventually } from "@shoal/testkit";
import { CertificateAuthority } from "@shoal/primitives/certificates";
import { once } from "node:events";
import { createServer as createHttpServer, type IncomingMessage, request as httpRequest } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { connect as tlsConnect, getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterEach, beforeEach, expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const sites = new CertificateAuthority("Sites of a test");
const strangers = new CertificateAuthority("Strangers of a test");
const exit = new CertificateAuthority("Exit of a test");
const secret = "s3cret-value";
const closing: (() => unknown)[] = [];
const usual = getCACertificates("default");

let received: { readonly host: string | undefined; readonly headers: string[]; readonly body: string }[];
let secure: number;
let plain: number;
let strange: number;
let gateway: EgressGateway;
let door: EgressDoor;
let path: string;

async function listen(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  closing.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

async function answer(request: IncomingMessage): Promise<void> {
  const body = await text(request);
  received.push({ host: request.headers.host, headers: request.rawHeaders, body });
}

beforeEach(async () => {
  received = [];
  setDefaultCACertificates([...usual, sites.certificate]);
  const tls = (authority: CertificateAuthority) =>
    createHttpsServer(
      {
        SNICallback: (name, done) => {
          done(null, authority.contextFor(name));
        },
      },
      (request, response) =>
        void answer(request).then(() => {
          response.shouldKeepAlive = request.url !== "/last";
          response.writeHead(request.url === "/407" ? 407 : 200).end("hello");
        }),
    );
  const site = tls(sites);
  const sockets = new WebSocketServer({ noServer: true });
  const http = createHttpServer((request, response) => void answer(request).then(() => response.end("hello")));
  for (const server of [site, http])
    server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
      received.push({ host: request.headers.host, headers: request.rawHeaders, body: "" });
      if (request.url === "/refused") socket.end("HTTP/1.1 401 No\r\nContent-Length: 2\r\n\r\nno");
      else
        sockets.handleUpgrade(request, socket, head, (opened) => {
          opened.on("message", (data: Buffer) => {
            opened.send(`echo ${data.toString()}`);
          });
        });
    });
  [secure, plain, strange] = await Promise.all([listen(site), listen(http), listen(tls(strangers))]);
  await openDoor();
});
afterEach(async () => {
  setDefaultCACertificates(usual);
  for (const close of closing.splice(0).reverse()) await close();
});

async function openDoor(limits: Partial<EgressLimits> = {}): Promise<void> {
  path = join(await temporaryDirectory(), "egress.sock");
  const resolve = async () => [{ address: "127.0.0.1", family: 4 }];
  gateway = new EgressGateway(silent, limits);
  door = await gateway.open(path, createEgressPolicy(["127.0.0.0/8"], resolve));
  closing.push(() => door.close());
  door.setHeaders({
    authority: exit,
    source: {
      covers: (origin) => /^https?:\/\/(?:named|missing)\.example:\d+$/.test(origin),
      headers: async (origin) => {
        if (origin.includes("missing")) throw new Error("The credential was deleted.");
        return [["X-Secret", secret]];
      },
    },
  });
}

/** As the forwarder of an instance sends it for Chromium. */
const asBrowser = ["Shoal-Egress-Client: browser=1"];

async function tunnel(target: string, lines: readonly string[] = asBrowser): Promise<Socket> {
  const socket = connect(path);
  closing.push(() => socket.destroy());
  socket.on("error", () => undefined);
  socket.write([`CONNECT ${target} HTTP/1.1`, ...lines, `Host: ${target}`, "", ""].join("\r\n"));
  const [head] = (await once(socket, "data")) as [Buffer];
  expect(head.toString()).toMatch(/^HTTP\/1\.1 200 /);
  return socket;
}

async function tls(host: string, port: number, lines?: readonly string[]): Promise<Socket> {
  const socket = await tunnel(`${host}:${port}`, lines);
  const opened = tlsConnect({ socket, servername: host, ca: [exit.certificate, sites.certificate] });
  await once(opened, "secureConnect");
  opened.on("error", () => undefined);
  return opened;
}

/** Sends a request and reads until the connection closes or the body has arrived. */
async function exchange(socket: Socket, head: readonly string[], body = ""): Promise<string> {
  const site = head.some((line) => line.startsWith("Sec-Fetch-Site") || line.startsWith("Host: site."))
    ? []
    : ["Sec-Fetch-Site: none"];
  socket.write(`${[...head, ...site].join("\r\n")}\r\n\r\n${body}`);
  let answered = "";
  for await (const chunk of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    answered += chunk.toString();
    if (/hello|\r\n0\r\n\r\n/.test(answered)) break;
  }
  return answered;
}

const headersOf = (name: string) =>
  received.map(({ headers }) => headers.filter((_, index) => headers[index - 1]?.toLowerCase() === name));

it("adds a header to requests in TLS to a named host, in place of the page's, and keeps the connection", async () => {
  const socket = await tls("named.example", secure);
  const first = await exchange(socket, ["GET /a?b HTTP/1.1", "Host: named.example", "x-secret: forged", "Cookie: a=b"]);
  expect(first).toMatch(/^HTTP\/1\.1 200 OK/);
  expect(first).not.toContain(secret);
  await exchange(
    socket,
    ["POST /c HTTP/1.1", "Host: other.example", "Transfer-Encoding: chunked"],
    "3\r\nabc\r\n0\r\n\r\n",
  );
  expect(headersOf("x-secret")).toEqual([[secret], [secret]]);
  expect(received[0]?.headers).toContain("a=b");
  expect(received[1]).toMatchObject({ host: `named.example:${secure}`, body: "abc" });
});

it("adds a header to plain requests of a named host", async () => {
  const get = (name: string, lines = asBrowser) =>
    exchange(
      connect(path).on("error", () => undefined),
      [`GET http://${name}:${plain}/ HTTP/1.1`, ...lines, `Host: ${name}`, "X-Secret: forged", "Connection: close"],
    );
  expect(await get("named.example")).toContain("hello");
  expect(await get("other.example")).toContain("hello");
  // A program of the session.
  expect(await get("named.example", [])).toContain("hello");
  expect(headersOf("x-secret")).toEqual([[secret], ["forged"], ["forged"]]);
});

it("joins the bytes of a body that a client sends one by one", async () => {
  let passed = "";
  const raw = createServer((socket) => {
    socket.on("data", (chunk: Buffer) => {
      passed += chunk.toString();
      if (passed.endsWith("0\r\n\r\n")) socket.end("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
    });
  });
  const socket = await tunnel(`named.example:${await listen(raw)}`);
  const length = 20_000;
  const head = ["POST / HTTP/1.1", "Host: named.example", "Transfer-Encoding: chunked"];
  await exchange(socket, head, `${"1\r\nx\r\n".repeat(length)}0\r\n\r\n`);
  expect(passed).toContain(secret);
  expect(passed.match(/x/g)?.length).toBeGreaterThanOrEqual(length);
  expect(passed.length).toBeLessThan(2 * length);
});

it.each([
  { from: "a page of the same site", lines: ["Sec-Fetch-Site: same-site"], isAdded: true },
  { from: "a page of another site", lines: ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: cors"], isAdded: false },
  {
    from: "a frame of another site",
    lines: ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"],
    isAdded: false,
  },
  {
    from: "a link of another site",
    lines: ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"],
    isAdded: true,
  },
  {
    from: "a form of another site",
    lines: ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"],
    method: "POST",
    isAdded: false,
  },
  { from: "a page of another site, without metadata", lines: ["Origin: https://other.example"], isAdded: false },
  { from: "a page without an origin", lines: ["Origin: null"], isAdded: false },
  { from: "an image of another site", lines: ["Referer: https://other.example/"], isAdded: false },
  { from: "an unknown page", lines: [], isAdded: false },
  { from: "the user or a frame, without metadata", lines: ["Upgrade-Insecure-Requests: 1"], isAdded: false },
  { from: "the same site, without metadata", lines: ["Referer: https://named.example/x"], isAdded: true },
])("judges the sender of a request: $from", async ({ isAdded, lines, method = "GET" }) => {
  const socket = await tls("named.example", secure);
  await exchange(socket, [`${method} / HTTP/1.1`, "Host: site.example", "Content-Length: 0", ...lines]);
  expect(headersOf("x-secret")).toEqual([isAdded ? [secret] : []]);
});

it("leaves tunnels to other hosts, and tunnels of programs, as they are", async () => {
  for (const [host, lines] of [
    ["other.example", asBrowser],
    ["named.example", []],
  ] as const) {
    const socket = await tunnel(`${host}:${secure}`, lines);
    const opened = tlsConnect({ socket, servername: host, ca: sites.certificate });
    await once(opened, "secureConnect");
    await exchange(opened, ["GET / HTTP/1.1", `Host: ${host}`]);
  }
  expect(headersOf("x-secret")).toEqual([[], []]);
});

it.each(["ws", "wss"])(
  "adds the header to the upgrade of a WebSocket by %s, and passes its messages",
  async (scheme) => {
    const port = scheme === "ws" ? plain : secure;
    const open = async (at: string) => {
      const socket = scheme === "ws" ? await tunnel(`named.example:${port}`) : await tls("named.example", port);
      const opened = new WebSocket(`ws://named.example:${port}${at}`, {
        createConnection: () => socket,
        origin: `https://named.example:${port}`,
      });
      opened.on("error", () => undefined);
      return opened;
    };
    const socket = await open("/");
    await once(socket, "open");
    socket.send("one");
    expect(String((await once(socket, "message"))[0])).toBe("echo one");
    socket.close();
    await once(socket, "close");
    const refused = await open("/refused");
    const [, response] = (await once(refused, "unexpected-response")) as [unknown, IncomingMessage];
    expect([response.statusCode, await text(response)]).toEqual([401, "no"]);
    expect(headersOf("x-secret")).toEqual([[secret], [secret]]);
  },
);

it("joins the bytes of an answer that refuses a WebSocket", async () => {
  const length = 20_000;
  const raw = createServer((socket) => {
    socket.once("data", () => {
      socket.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${"1\r\nx\r\n".repeat(length)}0\r\n\r\n`);
    });
  });
  const target = `named.example:${await listen(raw)}`;
  const socket = await tunnel(target);
  const lines = ["GET / HTTP/1.1", `Host: ${target}`, "Connection: Upgrade", "Upgrade: websocket"];
  const answered = await exchange(socket, [...lines, `Origin: http://${target}`]);
  expect(answered.match(/x/g)?.length).toBeGreaterThanOrEqual(length);
  expect(answered.length).toBeLessThan(2 * length);
});

/** The gateway's timers run in the thread of the tests: a pause of this length may end a connection too early. */
const longMs = 6_000;

it("ends a handshake that the host never answers, and shows why", async () => {
  const mute = createServer((socket) => {
    closing.push(() => socket.destroy());
    socket.on("error", () => undefined).resume();
  });
  const port = await listen(mute);
  await openDoor({ connectMs: longMs });
  const socket = await tls("named.example", port);
  expect(await exchange(socket, ["GET / HTTP/1.1", "Host: named.example"])).toBe("");
  expect(await failures()).toMatchObject([{ target: `named.example:${port}`, status: 504 }]);
});

it.each([
  { when: "before a byte", begin: () => tunnel(`named.example:${secure}`) },
  {
    when: "of a WebSocket",
    begin: async () => {
      const socket = await tls("named.example", secure);
      const origin = `https://named.example:${secure}`;
      const opened = new WebSocket(`ws://named.example:${secure}/`, { createConnection: () => socket, origin });
      await once(opened, "open");
      return socket;
    },
  },
])("counts an idle end $when once", async ({ begin }) => {
  await openDoor({ idleMs: longMs });
  const socket = await begin();
  socket.resume();
  await eventually("the connection has ended", async () => gateway.traffic().connections === 0);
  expect(gateway.traffic().ended.idle).toBe(1);
});

it("closes a tunnel whose client ends without a byte", async () => {
  const socket = await tunnel(`named.example:${secure}`);
  socket.resume().end();
  await once(socket, "close");
  await eventually("the connection has ended", async () => gateway.traffic().connections === 0);
});

it("names the route of a later connection that its proxy refuses", async () => {
  const proxy = createHttpServer();
  proxy.once("connect", (_first, socket: Socket) => {
    proxy.once("connect", (_second, refused: Socket) => refused.end("HTTP/1.1 503 No\r\n\r\n"));
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    socket.pipe(connect(secure, "127.0.0.1")).pipe(socket);
  });
  const url = `http://127.0.0.1:${await listen(proxy)}`;
  door.setProxyRoutes([{ hosts: ["named.example"], upstream: { url, bypassHosts: [] } }]);
  const socket = await tls("named.example", secure);
  expect(await exchange(socket, ["GET /last HTTP/1.1", "Host: named.example"])).toContain("hello");
  expect(await exchange(socket, ["GET / HTTP/1.1", "Host: named.example"])).toBe("");
  expect(await failures()).toMatchObject([{ status: 502, proxy_error: "destination_route_unavailable" }]);
});

it("does not blame the route if the site itself resets a connection in its tunnel", async () => {
  const proxy = createHttpServer();
  proxy.once("connect", (_request, socket: Socket) => {
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    // After the first bytes of the handshake or the request.
    socket.once("data", () => socket.resetAndDestroy());
  });
  const url = `http://127.0.0.1:${await listen(proxy)}`;
  door.setProxyRoutes([{ hosts: ["named.example"], upstream: { url, bypassHosts: [] } }]);
  const socket = await tls("named.example", secure);
  expect(await exchange(socket, ["GET / HTTP/1.1", "Host: named.example"])).toBe("");
  const [failure] = await failures();
  expect(failure).toMatchObject({ status: 595 });
  expect(failure?.proxy_error).toBeUndefined();
});

async function failures(): Promise<{ target: string; status: number; message: string; proxy_error?: string }[]> {
  const [response] = (await once(httpRequest({ socketPath: path, path: "/failures" }).end(), "response")) as [
    IncomingMessage,
  ];
  return JSON.parse(await text(response)) as Awaited<ReturnType<typeof failures>>;
}

it.each([
  { why: "the certificate of the host is not valid", port: () => strange, message: "verifies its certificate" },
  { why: "the value is not available", host: "missing.example", message: "The credential was deleted." },
  { why: "the host would repeat the request", line: "TRACE / HTTP/1.1", message: "TRACE" },
  { why: "the host requests the password of a proxy", line: "GET /407 HTTP/1.1", message: "407" },
])(
  "closes the connection without an answer if $why",
  async ({ host = "named.example", line = "GET / HTTP/1.1", message, port = () => secure }) => {
    const socket = await tls(host, port());
    expect(await exchange(socket, [line, `Host: ${host}`])).toBe("");
    const found = await failures();
    expect(found[0]?.target).toBe(`${host}:${port()}`);
    expect(found[0]?.message).toContain(message);
    expect(JSON.stringify(found)).not.toContain(secret);
  },
);

it("sends no header through a proxy that could read it", async () => {
  const proxied: string[][] = [];
  const proxy = createHttpServer((request, response) => {
    proxied.push(request.rawHeaders);
    response.end("hello");
  });
  proxy.on("connect", (_request, socket: Socket) => {
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    socket.pipe(connect(secure, "127.0.0.1")).pipe(socket);
  });
  const port = await listen(proxy);
  const own = [`Shoal-Egress-Client: browser=1&proxy=${encodeURIComponent(`http://127.0.0.1:${port}`)}`];
  const lines = [`GET http://named.example:${plain}/ HTTP/1.1`, ...own, "Host: named.example"];
  expect(await exchange(connect(path), lines)).toBe("");
  expect((await failures())[0]?.message).toContain("which its proxy could read");
  // In TLS, the proxy reads nothing.
  expect(await exchange(await tls("named.example", secure, own), ["GET / HTTP/1.1", "Host: x"])).toContain("hello");
  expect(headersOf("x-secret")).toEqual([[secret]]);
  expect(proxied).toEqual([]);
});

it("closes connections when the headers change", async () => {
  const socket = await tls("named.example", secure);
  await exchange(socket, ["GET / HTTP/1.1", "Host: named.example"]);
  const closed = once(socket, "close");
  door.setHeaders(undefined);
  await closed;
  const untouched = await tls("named.example", secure);
  await exchange(untouched, ["GET / HTTP/1.1", "Host: named.example"]);
  expect(headersOf("x-secret")).toEqual([[secret], []]);
});

it("counts the bytes of tunnels that it opens", async () => {
  await exchange(await tls("named.example", secure), ["GET / HTTP/1.1", "Host: named.example"]);
  const { receivedBytes, sentBytes } = door.transferred();
  expect(Math.min(receivedBytes, sentBytes)).toBeGreaterThan(200);
});
