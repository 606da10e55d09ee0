import { eventually, eventuallyPasses } from "@shoal/testkit";
import type { EgressLimits } from "../interface/egress.ts";
import { EgressGateway, type EgressDoor } from "./gateway.ts";
import { createEgressPolicy, type ResolveName } from "../policy/egress-policy.ts";
import { createNameResolver } from "../policy/resolve-name.ts";
import { temporaryDirectory } from "../testing/placements.ts";
import { describeWith } from "../testing/requirements.ts";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect, createServer, type AddressInfo, type Server, Socket } from "node:net";
import { join } from "node:path";
import { json, text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const closing: (() => unknown)[] = [];
let stubborn: Server;
let port: number;
const accepted = new Set<Socket>();

beforeAll(async () => {
  stubborn = createServer({ allowHalfOpen: true }, (socket) => {
    accepted.add(socket);
    socket
      .on("error", () => undefined)
      .on("data", (data) => socket.write(data))
      .on("close", () => accepted.delete(socket));
  });
  await once(stubborn.listen(0, "127.0.0.1"), "listening");
  port = (stubborn.address() as AddressInfo).port;
});
afterAll(() => {
  for (const socket of accepted) socket.destroy();
  stubborn.close();
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface TestDoor {
  readonly path: string;
  readonly door: EgressDoor;
  readonly gateway: EgressGateway;
}

async function openDoor(
  limits: Partial<EgressLimits>,
  {
    gateway = new EgressGateway(silent, limits),
    resolveName = createNameResolver(),
  }: { gateway?: EgressGateway; resolveName?: ResolveName } = {},
): Promise<TestDoor> {
  const path = join(await temporaryDirectory(), "egress.sock");
  const door = await gateway.open(path, createEgressPolicy(["127.0.0.1", "never.example"], resolveName));
  closing.push(() => door.close());
  return { path, door, gateway };
}

function dial(path: string): Socket {
  const socket = connect({ path, allowHalfOpen: true });
  closing.push(() => socket.destroy());
  return socket.on("error", () => undefined);
}

async function tunnel(path: string, target = `127.0.0.1:${String(port)}`): Promise<{ head: string; socket: Socket }> {
  const socket = dial(path);
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`);
  const head = await new Promise<string>((resolve) => {
    socket.once("data", (data: Buffer) => {
      resolve(data.toString());
    });
    socket.once("close", () => {
      resolve("");
    });
    socket.once("end", () => {
      resolve("");
    });
  });
  return { head, socket };
}

/** The gateway's connections to the server, which are in this process. */
function outside(): number {
  const all = process as unknown as { _getActiveHandles(): readonly unknown[] };
  return all._getActiveHandles().filter((handle) => handle instanceof Socket && handle.remotePort === port).length;
}

/** Resolves at the end of what the client receives. */
function endOf(socket: Socket): Promise<unknown> {
  return new Promise((resolve) => socket.resume().once("end", resolve).once("close", resolve));
}

async function failures(path: string): Promise<readonly { target: string; status: number; message: string }[]> {
  const request = httpRequest({ socketPath: path, path: "/failures" }).end();
  const [answer] = (await once(request, "response")) as [NodeJS.ReadableStream];
  return (await json(answer)) as { target: string; status: number; message: string }[];
}

/** The gateway's timers run in the thread of the tests: a pause of this length may end a connection with traffic. */
const longMs = 6_000;

it("closes an idle tunnel after the timeout, and keeps one with traffic in either direction", async () => {
  const { path, gateway } = await openDoor({ idleMs: longMs });
  const [silentOne, busy] = [await tunnel(path), await tunnel(path)];
  let echoed = 0;
  busy.socket.on("data", (data: Buffer) => (echoed += data.length));
  const ticking = setInterval(() => busy.socket.write("."), 50);
  closing.push(() => {
    clearInterval(ticking);
  });
  const ended = [silentOne, busy].map(({ socket }) => endOf(socket));
  await Promise.race(ended);
  const before = echoed;
  await Promise.race([ended[1], eventually("more traffic", () => echoed > before + 8)]);
  expect([silentOne, busy].map(({ socket }) => socket.readableEnded)).toEqual([true, false]);
  expect(gateway.traffic()).toMatchObject({ connections: 1, ended: { idle: 1 } });
});

it("closes both connections of a tunnel when the session's side ends or vanishes and the server's does not", async () => {
  await eventually("the connections of other tests have ended", () => outside() === 0);
  const limits = { waitingMs: longMs };
  const [ending, vanishing] = [await openDoor(limits), await openDoor(limits)];
  const [ends, vanishes] = [await tunnel(ending.path), await tunnel(vanishing.path)];
  for (const { head } of [ends, vanishes]) expect(head).toMatch(/ 200 /);
  expect(outside()).toBe(2);
  vanishes.socket.destroy();
  ends.socket.end("last words");
  expect(await text(ends.socket)).toBe("last words");
  await eventuallyPasses(() => {
    const open = [ending, vanishing].map(({ gateway }) => gateway.traffic().connections);
    expect([outside(), ...open]).toEqual([0, 0, 0]);
  });
});

it("closes a connection that sends no request", async () => {
  const { path, gateway } = await openDoor({ waitingMs: 200 });
  const socket = dial(path).resume();
  await once(socket, "end");
  await eventuallyPasses(() => {
    expect(gateway.traffic().connections).toBe(0);
  });
});

it("times out for names that do not resolve and proxies that do not answer", async () => {
  const { path, door } = await openDoor({ connectMs: 300 }, { resolveName: () => new Promise(() => undefined) });
  expect((await tunnel(path, "never.example:80")).head).toMatch(/^HTTP\/1\.1 504 /);
  for (const protocol of ["http", "https", "socks5"]) {
    const mute = createServer((socket) => socket.on("error", () => undefined).resume());
    await once(mute.listen(0, "127.0.0.1"), "listening");
    door.setUpstream({
      url: `${protocol}://127.0.0.1:${String((mute.address() as AddressInfo).port)}`,
      bypassHosts: [],
    });
    expect((await tunnel(path, "8.8.8.8:443")).head, protocol).toMatch(/^HTTP\/1\.1 504 /);
    const closed = once(mute, "close");
    mute.close();
    await closed;
  }
});

it("limits concurrent lookups of a session, so that its slow names do not delay other sessions", async () => {
  let pending = 0;
  const { path } = await openDoor(
    { lookupsPerSession: 2, connectMs: 1_000 },
    {
      resolveName: () => {
        pending++;
        return new Promise(() => undefined);
      },
    },
  );
  await Promise.all(Array.from({ length: 8 }, (_, index) => tunnel(path, `name${String(index)}.example:80`)));
  expect(pending).toBe(2);
});

it("limits concurrent lookups of a project, and other projects go on", async () => {
  const pending: string[] = [];
  const resolveName = (name: string) => {
    pending.push(name);
    return name.startsWith("slow") ? new Promise<never>(() => undefined) : Promise.reject(new Error("unknown"));
  };
  const limits = { lookupsPerSession: 2, lookupsPerProject: 3 };
  const first = await openDoor(limits, { resolveName });
  const second = await openDoor(limits, { gateway: first.gateway, resolveName });
  const other = await openDoor(limits, { gateway: first.gateway, resolveName });
  for (const { door } of [first, second]) door.setProject("project");
  other.door.setProject("other");
  for (const { path } of [first, second])
    for (let index = 0; index < 4; index++) {
      const target = `slow${String(pending.length)}-${String(index)}.example:80`;
      dial(path).write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`);
    }
  await eventually("the lookups of the project", () => pending.length === 3);
  expect((await tunnel(other.path, "fast.example:80")).head).toMatch(/^HTTP\/1\.1 502 /);
  expect(pending).toHaveLength(4);
});

it("refuses connections above the limit of a session or project, and names the setting", async () => {
  const limits = { connectionsPerSession: 3, connectionsPerProject: 5 };
  const first = await openDoor(limits);
  const second = await openDoor(limits, { gateway: first.gateway });
  for (const { door } of [first, second]) door.setProject("project");
  for (let count = 0; count < 3; count++) expect((await tunnel(first.path)).head).toMatch(/ 200 /);
  expect((await tunnel(first.path)).head).toBe("");
  for (let count = 0; count < 2; count++) expect((await tunnel(second.path)).head).toMatch(/ 200 /);
  const { head } = await tunnel(second.path);
  expect(head).toBe("");
  const other = await openDoor(limits, { gateway: first.gateway });
  other.door.setProject("other");
  expect((await tunnel(other.path)).head).toMatch(/ 200 /);
  expect(first.gateway.traffic()).toMatchObject({ connections: 6, ended: { session: 1, project: 1 } });
  first.door.setUpstream(undefined);
  expect((await failures(first.path))[0]).toMatchObject({
    target: "*",
    status: 503,
    message: expect.stringContaining("egress_connections_per_session") as unknown,
  });
  expect((await failures(second.path))[0]?.message).toContain("egress_connections_per_project");
});

it("closes the oldest connection of the largest session to admit one of a small session", async () => {
  const limits = { connections: 10 };
  const greedy = await openDoor(limits);
  const modest = await openDoor(limits, { gateway: greedy.gateway });
  const held: Socket[] = [];
  for (let count = 0; count < 10; count++) held.push((await tunnel(greedy.path)).socket.resume());
  expect((await tunnel(greedy.path)).head).toBe("");
  for (let count = 0; count < 4; count++) expect((await tunnel(modest.path)).head).toMatch(/ 200 /);
  await eventuallyPasses(() => {
    expect(held.map(({ readableEnded }) => readableEnded)).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
      false,
      false,
      false,
      false,
    ]);
  });
  expect(greedy.gateway.traffic()).toMatchObject({ connections: 10, ended: { server: 5 } });
});

it("serves requests of a connection one at a time", async () => {
  const { path } = await openDoor({});
  const before = accepted.size;
  const socket = dial(path);
  const request = `GET http://127.0.0.1:${String(port)}/ HTTP/1.1\r\nHost: a\r\n\r\n`;
  socket.write(request.repeat(100));
  await once(socket.resume(), "end");
  expect(accepted.size - before).toBeLessThan(3);
});

describeWith(["linux"], "with few descriptors", () => {
  it("keeps the API responsive while two sessions open as many connections as possible", async () => {
    const folder = await temporaryDirectory();
    const paths = ["one.sock", "two.sock"].map((name) => join(folder, name));
    const program = fileURLToPath(new URL("../testing/egress-child.ts", import.meta.url));
    const child = spawn(
      "prlimit",
      ["--nofile=400:400", process.execPath, "--conditions=@shoal/source", program, ...paths],
      {
        stdio: ["pipe", "pipe", "inherit"],
      },
    );
    closing.push(() => child.kill("SIGKILL"));
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    const api = { host: "127.0.0.1", port: Number(line) };
    const ask = async (): Promise<{ connections: number }> => {
      const [answer] = (await once(httpRequest(api).end(), "response")) as [NodeJS.ReadableStream];
      return (await json(answer)) as { connections: number };
    };
    const attempts = await Promise.all(Array.from({ length: 800 }, (_, index) => tunnel(paths[index % 2] ?? "")));
    expect(attempts.filter(({ head }) => head.includes(" 200 ")).length).toBeGreaterThan(50);
    const answers = await Promise.all(Array.from({ length: 50 }, ask));
    expect(Math.max(...answers.map(({ connections }) => connections))).toBeLessThanOrEqual(100);
  });
});
