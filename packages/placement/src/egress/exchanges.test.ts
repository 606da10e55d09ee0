import { EgressGateway, type EgressDoor } from "./gateway.ts";
import { createEgressPolicy } from "../policy/egress-policy.ts";
import type { ExchangePlayer, ExchangeRequest, PlayedChunk, RecordedExchange } from "../interface/exchanges.ts";
import { temporaryDirectory } from "../testing/placements.ts";
import { CertificateAuthority } from "@shoal/primitives/certificates";
import { eventually } from "@shoal/testkit";
import { once } from "node:events";
import { createServer as createHttpServer, type IncomingMessage, request as httpRequest } from "node:http";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { connect as tlsConnect } from "node:tls";
import { afterEach, beforeEach, expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const exit = new CertificateAuthority("Exit of a test");
const noHeaders = { covers: () => false, headers: async () => [] };
const closing: (() => unknown)[] = [];

/** One recorded exchange, as the gateway reports it. */
interface Noted {
  readonly request: ExchangeRequest;
  status?: number;
  content: string;
  messages: number[];
  ended?: string;
}
let noted: Noted[];
const recorder = {
  begin(request: ExchangeRequest): RecordedExchange {
    const entry: Noted = { request, content: "", messages: [] };
    noted.push(entry);
    return {
      head: ({ status }) => (entry.status = status),
      data(chunk, messages) {
        entry.content += Buffer.from(chunk).toString("latin1");
        entry.messages.push(messages);
      },
      end(how, body) {
        entry.ended ??= `${how} ${body.slice(0, 12)}`.trim();
      },
      drop() {
        entry.ended ??= "dropped";
      },
    };
  },
};

let lookups: string[];
let door: EgressDoor;
let path: string;

beforeEach(async () => {
  [noted, lookups] = [[], []];
  path = join(await temporaryDirectory(), "egress.sock");
  const resolve = async (name: string) => {
    lookups.push(name);
    return [{ address: "127.0.0.1", family: 4 }];
  };
  door = await new EgressGateway(silent, {}).open(path, createEgressPolicy(["127.0.0.0/8"], resolve));
  closing.push(() => door.close());
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function listen(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  closing.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

const asBrowser = ["Shoal-Egress-Client: browser=1"];

function client(): Socket {
  const socket = connect(path).on("error", () => undefined);
  closing.push(() => socket.destroy());
  return socket;
}

/** A request by an absolute URL, whose connection ends with the answer. */
async function ask(
  method: string,
  url: string,
  { body = "", lines = asBrowser }: { body?: string; lines?: readonly string[] } = {},
) {
  const socket = client();
  const head = [`${method} ${url} HTTP/1.1`, ...lines, `Host: ${new URL(url).host}`, "Connection: close"];
  socket.write([...head, `Content-Length: ${body.length}`, "", body].join("\r\n"));
  return text(socket).catch((error: unknown) => String(error));
}

async function tunnel(target: string, lines = asBrowser): Promise<{ socket: Socket; answered: string }> {
  const socket = client();
  socket.write([`CONNECT ${target} HTTP/1.1`, ...lines, `Host: ${target}`, "", ""].join("\r\n"));
  const [head] = (await once(socket, "data")) as [Buffer];
  return { socket, answered: head.toString() };
}

async function failures(): Promise<object[]> {
  const [response] = (await once(httpRequest({ socketPath: path, path: "/failures" }).end(), "response")) as [
    IncomingMessage,
  ];
  return JSON.parse(await text(response)) as object[];
}

it("records whole, broken and closed answers, with a digest of the request", async () => {
  door.setHeaders({ source: noHeaders, authority: exit, recorder });
  const port = await listen(
    createHttpServer((request, response) => {
      request.resume();
      if (request.url === "/broken")
        response.writeHead(200, { "content-length": 10 }).write("half", () => response.destroy());
      else if (request.url === "/open") response.write("begun");
      else request.on("end", () => response.end("whole"));
    }),
  );
  const url = `http://site.example:${port}`;
  for (const body of ["a", "a", "b"]) await ask("POST", `${url}/whole`, { body });
  await ask("GET", `${url}/broken`);
  const socket = client();
  socket.write(`GET ${url}/open HTTP/1.1\r\n${asBrowser[0]}\r\nHost: x\r\nRange: bytes=0-\r\n\r\n`);
  await once(socket, "data");
  socket.destroy();
  await eventually("all have ended", async () => noted.every(({ ended }) => ended !== undefined));
  // A program of the session.
  await ask("GET", `${url}/whole`, { lines: [] });
  expect(noted.map(({ content, request, status }) => [request.method, status, content])).toEqual([
    ["POST", 200, "whole"],
    ["POST", 200, "whole"],
    ["POST", 200, "whole"],
    ["GET", 200, "half"],
    ["GET", 200, "begun"],
  ]);
  const [first, second, third, broken, open] = noted.map(({ ended }) => ended);
  expect(first).toMatch(/^complete [0-9a-f]{12}$/);
  expect([second, broken, open]).toEqual([first, "broken", "open"]);
  expect(third).not.toBe(first);
  expect(noted.at(-1)?.request).toEqual({ method: "GET", url: `${url}/open`, range: "bytes=0-", isConditional: false });
});

it("records a refused connection as broken without an answer", async () => {
  door.setHeaders({ source: noHeaders, authority: exit, recorder });
  const gone = createServer();
  const port = await listen(gone);
  await new Promise((resolve) => gone.close(resolve));
  await ask("GET", `http://site.example:${port}/`);
  await expect.poll(() => noted).toMatchObject([{ content: "", ended: "broken" }]);
  expect(noted[0]?.status).toBeUndefined();
});

it("records a WebSocket with the number of messages before each of its answers", async () => {
  door.setHeaders({ source: noHeaders, authority: exit, recorder });
  const server = createHttpServer();
  new WebSocketServer({ server }).on("connection", (socket) => {
    socket.on("message", (data: Buffer) => {
      socket.send(`echo ${data.toString()}`);
    });
  });
  const port = await listen(server);
  const { socket: through } = await tunnel(`site.example:${port}`);
  const socket = new WebSocket(`ws://site.example:${port}/talk`, { createConnection: () => through });
  await once(socket, "open");
  for (const word of ["one", "x".repeat(70_000)]) {
    const answer = once(socket, "message");
    socket.send(word);
    await answer;
  }
  socket.close();
  await once(socket, "close");
  await eventually("it has ended", async () => noted[0]?.ended !== undefined);
  expect(noted).toMatchObject([{ request: { method: "GET", url: `ws://site.example:${port}/talk` }, status: 101 }]);
  expect(noted[0]?.content).toContain("echo one");
  expect([...new Set(noted[0]?.messages)]).toEqual([1, 2, 3]);
});

function playerOf(answers: Readonly<Record<string, readonly PlayedChunk[]>>, passes = false): ExchangePlayer {
  return {
    passes,
    knows: ({ url }) => url in answers,
    next(request) {
      const chunks = answers[request.url];
      if (chunks === undefined) return undefined;
      const isSocket = request.url.startsWith("ws");
      const statusText = isSocket ? "Switching Protocols" : "Fine";
      const headers = isSocket ? ["Sec-WebSocket-Accept", "of another key"] : ["X-Recorded", "yes"];
      return {
        end: "complete",
        head: { status: isSocket ? 101 : 203, statusText, headers, afterMs: 0 },
        async *chunks() {
          yield* chunks;
        },
      };
    },
    explain: ({ method, url }) => `${method} ${url} is not in the recording.`,
  };
}
const chunk = (content: string, messages = 0): PlayedChunk => ({ bytes: Buffer.from(content), afterMs: 1, messages });

it("answers plain and encrypted requests from a recording, and looks up no name", async () => {
  const player = playerOf({
    "http://site.example/a": [chunk("one "), chunk("two")],
    "https://site.example/b": [chunk("secret")],
  });
  door.setHeaders({ source: noHeaders, authority: exit, player });
  const answered = await ask("POST", "http://site.example/a", { body: "x" });
  expect(answered).toMatch(/^HTTP\/1\.1 203 Fine\r\nX-Recorded: yes\r\n/);
  expect(answered).toContain("one ");
  const { socket } = await tunnel("site.example:443");
  const secure = tlsConnect({ socket, servername: "site.example", ca: exit.certificate });
  secure.write("GET /b HTTP/1.1\r\nHost: other.example\r\nConnection: close\r\n\r\n");
  expect(await text(secure)).toContain("secret");
  expect(lookups).toEqual([]);
});

it("names a request that the recording does not have, and refuses programs", async () => {
  door.setHeaders({ source: noHeaders, authority: exit, player: playerOf({}) });
  const answered = await ask("GET", "http://site.example/a");
  expect(answered).toMatch(/^HTTP\/1\.1 504 Not In Recording\r\n/);
  expect(answered).toContain("x-shoal-proxy-error: not_in_recording");
  expect(answered).toContain("GET http://site.example/a is not in the recording.");
  const { socket } = await tunnel("site.example:443");
  const secure = tlsConnect({ socket, servername: "site.example", ca: exit.certificate });
  const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n";
  secure.write(`GET /socket HTTP/1.1\r\nHost: site.example\r\n${upgrade}\r\n`);
  expect(await text(secure)).toContain("GET wss://site.example/socket is not in the recording.");
  expect(await failures()).toMatchObject([
    { target: "site.example:443", status: 504, proxy_error: "not_in_recording" },
    { target: "site.example:80", status: 504, proxy_error: "not_in_recording" },
  ]);
  expect(await ask("GET", "http://site.example/a", { lines: [] })).toContain(
    "its programs cannot reach site.example:80",
  );
  expect((await tunnel("site.example:443", [])).answered).toMatch(/^HTTP\/1\.1 403 /);
  const { socket: other } = await tunnel("site.example:9");
  other.write("SSH-2.0-client\r\n");
  await once(other.resume(), "close");
  expect(lookups).toEqual([]);
});

it("passes missing requests with their bodies to the network if the player passes them", async () => {
  const bodies: string[] = [];
  const port = await listen(
    createHttpServer((request, response) => {
      void text(request).then((body) => {
        bodies.push(body);
        response.end("network");
      });
    }),
  );
  const url = `http://site.example:${port}`;
  const known = playerOf({ [`${url}/known`]: [chunk("recording")] }, true);
  // Another body than the recorded one.
  const next: ExchangePlayer["next"] = (request, body) => (body === "" ? known.next(request, body) : undefined);
  door.setHeaders({ source: noHeaders, authority: exit, player: { ...known, next } });
  expect(await ask("GET", `${url}/known`)).toContain("recording");
  expect(await ask("POST", `${url}/known`, { body: "other" })).toContain("network");
  expect(await ask("POST", `${url}/unknown`, { body: "new" })).toContain("network");
  expect(await ask("POST", `${url}/program`, { body: "program", lines: [] })).toContain("network");
  expect(bodies).toEqual(["other", "new", "program"]);
  const { socket } = await tunnel(`site.example:${port}`);
  socket.write(
    `POST /known HTTP/1.1\r\nHost: x\r\nContent-Length: ${String(9 * 2 ** 20)}\r\nConnection: close\r\n\r\n`,
  );
  socket.write(Buffer.alloc(9 * 2 ** 20));
  expect(await text(socket)).toContain("more than 8 MiB");
});

it("holds at most 16 MiB of bodies at once, and releases them when the browser breaks off", async () => {
  const url = "http://site.example:9";
  const known = playerOf({ [`${url}/known`]: [] }, true);
  door.setHeaders({ source: noHeaders, authority: exit, player: { ...known, next: () => undefined } });
  const send = (length: number) => {
    const socket = client();
    const head = [`POST ${url}/known HTTP/1.1`, ...asBrowser, "Host: x", "Connection: close"];
    socket.write([...head, `Content-Length: ${String(7 * 2 ** 20)}`, "", ""].join("\r\n"));
    return { socket, sent: new Promise((resolve) => socket.write(Buffer.alloc(length), resolve)) };
  };
  const stalled = [1, 2].map(() => send(7 * 2 ** 20 - 1));
  for (const { sent } of stalled) await sent;
  expect(await text(send(7 * 2 ** 20).socket)).toContain("more than 16 MiB");
  for (const { socket } of stalled) socket.destroy();
  // The connection to the network is refused: the body was held, and passed on.
  await eventually("there is room again", async () => (await text(send(7 * 2 ** 20).socket)) === "");
});

it("records no 407 of a proxy, which asks the browser to repeat the request", async () => {
  const proxy = createHttpServer((request, response) => {
    if (request.headers["proxy-authorization"] === undefined)
      response.writeHead(407, { "proxy-authenticate": "Basic" }).end();
    else response.end("through the proxy");
  });
  const lines = [`Shoal-Egress-Client: browser=1&proxy=http://127.0.0.1:${await listen(proxy)}`];
  door.setHeaders({ source: noHeaders, authority: exit, recorder });
  expect(await ask("GET", "http://site.example/", { lines })).toMatch(/^HTTP\/1\.1 407 /);
  const credentials = [...lines, "Proxy-Authorization: Basic eDp5"];
  expect(await ask("GET", "http://site.example/", { lines: credentials })).toContain("through the proxy");
  await expect.poll(() => noted).toMatchObject([{ ended: "dropped" }, { status: 200, ended: "complete" }]);
  expect(noted[0]?.status).toBeUndefined();
});

it("explains an answer that cannot be read, instead of a broken one", async () => {
  const broken = playerOf({ "http://site.example/a": [] });
  const next: ExchangePlayer["next"] = (request, body) => {
    const played = broken.next(request, body);
    return (
      played && {
        ...played,
        chunks: () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error("gone")) }) }),
      }
    );
  };
  door.setHeaders({ source: noHeaders, authority: exit, player: { ...broken, next } });
  const answered = await ask("GET", "http://site.example/a");
  expect(answered).toMatch(/^HTTP\/1\.1 504 Not In Recording\r\n/);
  expect(answered).toContain("It may have been deleted.");
});

it("answers a refused host of a replay that passes requests with the reason, and reports the refusal", async () => {
  door.setHeaders({ source: noHeaders, authority: exit, player: playerOf({}, true) });
  door.setRules("session", { deny: ["site.example"] });
  const { answered, socket } = await tunnel("site.example:443");
  expect(answered).toMatch(/^HTTP\/1\.1 200 /);
  const secure = tlsConnect({ socket, servername: "site.example", ca: exit.certificate });
  secure.write("GET /b HTTP/1.1\r\nHost: site.example\r\n\r\n");
  await text(secure).catch(() => undefined);
  const [response] = (await once(httpRequest({ socketPath: path, path: "/refusals?after=0" }).end(), "response")) as [
    IncomingMessage,
  ];
  expect(await text(response)).toContain('"site.example:443"');
});

it("plays a WebSocket: each answer waits for the messages that preceded it", async () => {
  const frame = (content: string) => Buffer.concat([Buffer.from([0x81, content.length]), Buffer.from(content)]);
  const url = "ws://site.example/talk";
  const chunks = ["welcome", "first", "second"].map((word, messages) => ({ bytes: frame(word), afterMs: 1, messages }));
  door.setHeaders({ source: noHeaders, authority: exit, player: playerOf({ [url]: chunks }) });
  const { socket: through } = await tunnel("site.example:80");
  const socket = new WebSocket(url, { createConnection: () => through });
  const got: string[] = [];
  socket.on("message", (data: Buffer) => got.push(data.toString()));
  await once(socket, "open");
  await eventually("the first message", async () => got.length === 1);
  socket.send("a");
  await eventually("its answer", async () => got.length === 2);
  socket.send("b");
  await eventually("the next answer", async () => got.length === 3);
  expect(got).toEqual(["welcome", "first", "second"]);
});

it("survives an answer that breaks while the browser still sends", async () => {
  door.setHeaders({ source: noHeaders, authority: exit, recorder });
  const port = await listen(
    createHttpServer((request, response) => {
      request.once("data", () =>
        response.writeHead(200, { "content-length": 10 }).write("half", () => response.destroy()),
      );
    }),
  );
  const socket = client();
  socket.write(
    `POST http://site.example:${port}/ HTTP/1.1\r\n${asBrowser[0]}\r\nHost: x\r\nContent-Length: 99\r\n\r\nfirst`,
  );
  await once(socket, "data");
  const closed = new Promise((resolve) => socket.resume().once("close", resolve));
  socket.write("more");
  await closed;
  await expect
    .poll(() => noted)
    .toMatchObject([{ content: "half", ended: expect.stringMatching(/^broken [0-9a-f]{12}$/) as unknown }]);
});
