import { EgressGateway, type EgressDoor } from "./gateway.ts";
import { createEgressPolicy, type ResolveName } from "../policy/egress-policy.ts";
import { temporaryDirectory } from "../testing/placements.ts";
import { once } from "node:events";
import { Agent, createServer, request as httpRequest, type IncomingMessage, type Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const resolveName: ResolveName = async () => [{ address: "127.0.0.1", family: 4 }];

let origin: Server;
let port: number;
let hosts: (string | undefined)[];
const closing: (() => unknown)[] = [];

beforeEach(async () => {
  hosts = [];
  origin = createServer((request, response) => {
    hosts.push(request.headers.host);
    if (request.url === "/endless") response.write("begun");
    else response.end("hello");
  }).listen(0, "127.0.0.1");
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

async function openDoor(resolve = resolveName): Promise<{ door: EgressDoor; path: string }> {
  const path = join(await temporaryDirectory(), "egress.sock");
  const door = await new EgressGateway(silent).open(path, createEgressPolicy(["127.0.0.0/8"], resolve));
  closing.push(() => door.close());
  return { door, path };
}

function get(
  path: string,
  url: string,
  agent: Agent | false = false,
  host = URL.parse(url)?.host ?? "egress",
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    httpRequest({ socketPath: path, path: url, agent, headers: { host } }, resolve).on("error", reject).end();
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

async function refusals(path: string, after = 0): Promise<Record<string, unknown>[]> {
  return JSON.parse(await text(await get(path, `/refusals?after=${after}`))) as Record<string, unknown>[];
}

it("refuses requests and tunnels by rule, with the rule in the message", async () => {
  const { door, path } = await openDoor();
  door.setRules("session", { allow: ["*.allowed.example"], deny: ["not.allowed.example"] });
  expect((await get(path, `http://is.allowed.example:${port}/`)).statusCode).toBe(200);
  expect((await tunnel(path, `is.allowed.example:${port}`)).head).toMatch(/^HTTP\/1\.1 200 /);
  const answer = await get(path, `http://not.allowed.example:${port}/`);
  expect([answer.statusCode, await text(answer)]).toEqual([
    403,
    expect.stringContaining("the rule not.allowed.example in network.deny of this session refuses it"),
  ]);
  expect((await tunnel(path, `other.example:${port}`)).head).toMatch(/^HTTP\/1\.1 403 /);
  expect((await get(path, `http://127.0.0.1:${port}/`)).statusCode).toBe(403);
});

it("checks each request of a reused connection", async () => {
  const { door, path } = await openDoor();
  door.setRules("session", { deny: ["b.example"] });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  closing.push(() => {
    agent.destroy();
  });
  const statuses: (number | undefined)[] = [];
  for (const host of ["a.example", "a.example", "b.example", "a.example"]) {
    const answer = await get(path, `http://${host}:${port}/`, agent);
    await text(answer);
    statuses.push(answer.statusCode);
  }
  expect(statuses).toEqual([200, 200, 403, 200]);
});

it("sends the host that it checked, not the one of the header", async () => {
  const { path } = await openDoor();
  await text(await get(path, `http://a.example:${port}/`, false, "b.example"));
  expect(hosts).toEqual([`a.example:${port}`]);
});

it("closes the open connections that new rules refuse, and no others", async () => {
  const { door, path } = await openDoor();
  const [kept, refused] = [await tunnel(path, `a.example:${port}`), await tunnel(path, `b.example:${port}`)];
  const streaming = await get(path, `http://b.example:${port}/endless`);
  streaming.on("error", () => undefined).resume();
  const ended = [refused.socket, streaming].map((each) => new Promise((resolve) => each.once("close", resolve)));
  door.setRules("project", { deny: ["b.example"] });
  await Promise.all(ended);
  kept.socket.write("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n");
  expect(String((await once(kept.socket, "data"))[0])).toMatch(/^HTTP\/1\.1 200 /);
  const closed = once(kept.socket, "close");
  door.setRules("session", { allow: [] });
  await closed;
  door.setRules("session", undefined);
  door.setRules("project", undefined);
  expect((await tunnel(path, `b.example:${port}`)).head).toMatch(/^HTTP\/1\.1 200 /);
});

it("applies rules that change during a lookup", async () => {
  const waiting = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const { door, path } = await openDoor(async () => {
    asked.resolve();
    await waiting.promise;
    return [{ address: "127.0.0.1", family: 4 }];
  });
  const answer = tunnel(path, `a.example:${port}`);
  await asked.promise;
  door.setRules("session", { deny: ["a.example"] });
  waiting.resolve();
  expect((await answer).head).toMatch(/^HTTP\/1\.1 403 /);
});

it("keeps the old rules if new ones are invalid", async () => {
  const { door, path } = await openDoor();
  door.setRules("session", { deny: ["a.example"] });
  expect(() => {
    door.setRules("session", { deny: ["http://a.example"] });
  }).toThrow(expect.objectContaining({ code: "bad_option" }));
  expect((await tunnel(path, `a.example:${port}`)).head).toMatch(/^HTTP\/1\.1 403 /);
});

it("checks names before a proxy gets them", async () => {
  const seen: string[] = [];
  const proxy = createServer().listen(0, "127.0.0.1");
  proxy.on("connect", (request, socket) => {
    seen.push(request.url ?? "");
    socket.end("HTTP/1.1 200 OK\r\n\r\n");
  });
  await once(proxy, "listening");
  closing.push(() => proxy.close());
  const { door, path } = await openDoor();
  door.setUpstream({ url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, bypassHosts: [] });
  door.setRules("session", { allow: ["a.example", "127.0.0.0/8"] });
  const heads: string[] = [];
  for (const host of ["a.example", "b.example", "127.0.0.1", "127.1"])
    heads.push((await tunnel(path, `${host}:443`)).head.slice(9, 12));
  // The local lookup of b.example leads into the range, but the proxy's may not.
  expect(heads).toEqual(["200", "403", "200", "200"]);
  expect(seen).toEqual(["a.example:443", "127.0.0.1:443", "127.0.0.1:443"]);
});

it("reports each refused host once in a while, with the number of refusals", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  closing.push(() => vi.useRealTimers());
  const { door, path } = await openDoor();
  door.setRules("session", { deny: ["*.example"] });
  const first = refusals(path);
  for (const host of ["a.example", "a.example", "a.example"]) await tunnel(path, `${host}:443`);
  expect(await first).toEqual([
    { seq: 1, target: "a.example:443", source: "session", list: "deny", rule: "*.example", count: 1, age_ms: 0 },
  ]);
  vi.advanceTimersByTime(11_000);
  const next = refusals(path, 1);
  await tunnel(path, "a.example:443");
  expect(await next).toMatchObject([{ seq: 2, count: 3 }]);
  for (let index = 0; index < 150; index++) (await tunnel(path, `host${index}.example:443`)).socket.destroy();
  const kept = await refusals(path);
  expect(kept.length).toBe(100);
  expect(kept.at(-1)).toMatchObject({ target: "host98.example:443" });
});
