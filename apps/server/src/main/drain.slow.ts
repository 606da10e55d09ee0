import { Browser, type BrowserPool } from "@shoal/schemas";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, expect, it } from "vitest";
import { connectCdp } from "../testing/cdp-client.ts";
import { freePorts, type LoadBalancer, startLoadBalancer } from "../testing/load-balancer.ts";
import { type ServerProcess, type ServerProcesses, startServerProcesses } from "../testing/server-processes.ts";
import { shoalServer } from "./shoal-server.ts";

const names = ["one", "two", "three"] as const;
const settings = { SHOAL_SESSION_DRAIN_SECONDS: "600" };
let servers: ServerProcesses;
let running: Map<string, ServerProcess>;
let balancer: LoadBalancer;
const cleanup = new AsyncDisposableStack();
beforeAll(async () => {
  const ports = await freePorts(names.length + 1);
  const started = await startServerProcesses({ ...settings, SHOAL_PORT: String(ports[0]) });
  servers = started;
  cleanup.defer(() => started.close());
  running = new Map([["one", started.one]]);
  for (const [index, name] of names.entries())
    if (index > 0) running.set(name, await servers.start(name, { ...settings, SHOAL_PORT: String(ports[index]) }));
  balancer = cleanup.use(await startLoadBalancer(ports[names.length] ?? 0, ports.slice(0, names.length)));
});
afterAll(() => cleanup.disposeAsync());

async function ask(baseUrl: string, method: string, path: string, body?: object) {
  const answer = await fetch(baseUrl + path, {
    method,
    headers: { authorization: `Bearer ${servers.key}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: (text === "" ? undefined : JSON.parse(text)) as unknown };
}
const server = (name: string) => {
  const found = running.get(name);
  if (found === undefined) throw new Error(`Server ${name} does not run.`);
  return found;
};
const create = async (baseUrl: string, body: object = {}) => {
  const answer = await ask(baseUrl, "POST", "/browsers", { timeout_seconds: 600, ...body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return Browser.parse(answer.body);
};
const rowOf = (id: string) =>
  servers.database.query
    .selectFrom("sessions")
    .select(["server_id", "ended_reason"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
/** Command lines of the browsers in a server's folder, without their child processes. Linux only. */
const browsersOf = (name: string) =>
  readdirSync("/proc").flatMap((entry) => {
    try {
      const command = /^\d+$/.test(entry) ? readFileSync(`/proc/${entry}/cmdline`, "utf8").replaceAll("\0", " ") : "";
      const isBrowser = command.includes(`--user-data-dir=${servers.dataDirOf(name)}/`) && !command.includes("--type=");
      return isBrowser ? [command] : [];
    } catch {
      return []; // It has ended meanwhile.
    }
  });
const files = async (id: string) => (await ask(balancer.url, "GET", `/browsers/${id}/fs/list_files?path=/`)).status;

it("restarts three servers behind a load balancer one by one without losing a session", async () => {
  const pool = (
    (await ask(balancer.url, "POST", "/browser_pools", { size: 3, fill_rate_per_minute: 100_000 })).body as BrowserPool
  ).id;
  const warm = async () =>
    ((await ask(balancer.url, "GET", `/browser_pools/${pool}`)).body as BrowserPool).available_count;
  await expect.poll(warm).toBe(3);
  for (const name of names) {
    const leaving = server(name);
    const session = await create(leaving.baseUrl);
    expect((await rowOf(session.session_id)).server_id).toBe(leaving.id);
    const client = await connectCdp(session.cdp_ws_url);
    leaving.child.kill("SIGTERM");
    const ended = once(leaving.child, "close");
    await expect
      .poll(async () => (await ask(leaving.baseUrl, "GET", "/ready")).body)
      .toMatchObject({ code: "not_ready", message: expect.stringContaining("1 session is left") as unknown });
    const drainMs = async () => {
      const drain = await servers.database.query
        .selectFrom("servers")
        .select(["draining_since", "drain_until"])
        .where("id", "=", leaving.id)
        .executeTakeFirstOrThrow();
      return Date.parse(drain.drain_until ?? "") - Date.parse(drain.draining_since ?? "");
    };
    // The server stores it just after it has begun.
    await expect.poll(drainMs).toBe(600_000);
    // Another server takes the request.
    const next = await create(leaving.baseUrl);
    expect((await rowOf(next.session_id)).server_id).not.toBe(leaving.id);
    const acquired = await ask(leaving.baseUrl, "POST", `/browser_pools/${pool}/acquire`, {});
    expect(acquired.status).toBe(200);
    const leased = Browser.parse(acquired.body).session_id;
    expect((await rowOf(leased)).server_id).not.toBe(leaving.id);
    await ask(balancer.url, "POST", `/browser_pools/${pool}/release`, { session_id: leased });
    await expect.poll(warm).toBe(3);
    const created = await Promise.all(Array.from({ length: 4 }, () => create(balancer.url)));
    // The session goes on, for its clients and through every server.
    expect(await client.send("Browser.getVersion")).toHaveProperty("product");
    for (const { session_id: id } of [session, next, ...created]) expect([id, await files(id)]).toEqual([id, 200]);
    expect((await ask(balancer.url, "DELETE", `/browsers/${session.session_id}`)).status).toBe(204);
    await ended;
    expect(await rowOf(session.session_id)).toMatchObject({ ended_reason: "deleted" });
    const { port } = new URL(leaving.baseUrl);
    running.set(name, await servers.start(name, { ...settings, SHOAL_PORT: port }));
    for (const { session_id: id } of [next, ...created]) {
      expect([id, await files(id)]).toEqual([id, 200]);
      expect((await ask(balancer.url, "DELETE", `/browsers/${id}`)).status).toBe(204);
    }
  }
  expect((await ask(balancer.url, "DELETE", `/browser_pools/${pool}`, { force: true })).status).toBe(204);
});

it("ends only the sessions of a server that is killed under load", async () => {
  const sessions = await Promise.all(Array.from({ length: 9 }, () => create(balancer.url)));
  const killed = server("three");
  const rows = new Map(await Promise.all(sessions.map(async ({ session_id: id }) => [id, await rowOf(id)] as const)));
  const lost = [...rows].filter(([, row]) => row.server_id === killed.id).map(([id]) => id);
  expect(lost.length).toBeGreaterThan(0);
  let stopped = false;
  const statuses = new Set<number>();
  const load = Array.from({ length: 8 }, async (_, index) => {
    const id = sessions[index]?.session_id ?? "";
    while (!stopped) statuses.add(await files(id).catch(() => 0));
  });
  await expect.poll(() => statuses.has(200)).toBe(true);
  const ended = once(killed.child, "close");
  killed.child.kill("SIGKILL");
  await ended;
  const killedAtMs = performance.now();
  const reasons = () => Promise.all(lost.map(async (id) => (await rowOf(id)).ended_reason));
  await expect.poll(reasons).toEqual(lost.map(() => "instance_lost"));
  const tookMs = performance.now() - killedAtMs;
  process.stdout.write(`reported after ${(tookMs / 1000).toFixed(1)} s\n`);
  stopped = true;
  await Promise.all(load);
  expect([...statuses].filter((status) => ![0, 200, 404, 502, 503, 504].includes(status))).toEqual([]);
  for (const { session_id: id } of sessions) {
    // The third server learns of the loss up to a second later.
    await expect.poll(() => files(id)).toBe(lost.includes(id) ? 404 : 200);
    if (!lost.includes(id)) await ask(balancer.url, "DELETE", `/browsers/${id}`);
  }
  running.set("three", await servers.start("three", { ...settings, SHOAL_PORT: new URL(killed.baseUrl).port }));
});

it("begins to drain on the operator's command, and ends sessions at the deadline", async () => {
  const leaving = await servers.start("four", { SHOAL_SESSION_DRAIN_SECONDS: "40" });
  const session = await create(leaving.baseUrl);
  const output = new PassThrough();
  const said: string[] = [];
  output.on("data", (chunk: Buffer) => said.push(chunk.toString()));
  const streams = { stdin: new PassThrough(), stdout: output, stderr: output };
  expect(await shoalServer(["drain", "--data-dir", servers.dataDirOf("four")], {}, streams)).toBe(0);
  expect(said.join("")).toContain("drains: it starts no more sessions");
  await expect
    .poll(async () => JSON.stringify((await ask(leaving.baseUrl, "GET", "/ready")).body))
    .toContain("the server drains");
  expect(await files(session.session_id)).toBe(200);
  const ended = once(leaving.child, "close");
  leaving.child.kill("SIGTERM");
  await ended;
  expect(await rowOf(session.session_id)).toMatchObject({ ended_reason: "server_stopped" });
  expect(await shoalServer(["drain", "--data-dir", servers.dataDirOf("four")], {}, streams)).toBe(1);
  expect(said.join("")).toContain("No Shoal server of this user runs");
});

it.skipIf(process.platform !== "linux")(
  "drains sessions that share a browser: they live until the deadline, and leave no browser",
  async () => {
    const shared = { isolation: "context" };
    const leaving = await servers.start("five", { SHOAL_SESSION_DRAIN_SECONDS: "40" });
    const sessions = await Promise.all([create(leaving.baseUrl, shared), create(leaving.baseUrl, shared)]);
    const clients = await Promise.all(sessions.map(({ cdp_ws_url: url }) => connectCdp(url)));
    await expect.poll(() => browsersOf("five")).toHaveLength(1);
    leaving.child.kill("SIGTERM");
    const ended = once(leaving.child, "close");
    await expect
      .poll(async () => (await ask(leaving.baseUrl, "GET", "/ready")).body)
      .toMatchObject({ message: expect.stringContaining("2 sessions are left") as unknown });
    const drain = () =>
      servers.database.query
        .selectFrom("servers")
        .select("drain_until")
        .where("id", "=", leaving.id)
        .executeTakeFirstOrThrow();
    await expect.poll(async () => (await drain()).drain_until).not.toBeNull();
    const deadline = Date.parse((await drain()).drain_until ?? "");
    // The browser has room, but its server starts no more sessions.
    const next = await create(leaving.baseUrl, shared);
    expect((await rowOf(next.session_id)).server_id).not.toBe(leaving.id);
    for (const client of clients) expect(await client.send("Browser.getVersion")).toHaveProperty("product");
    await expect.poll(() => browsersOf("five")).toHaveLength(1);
    await ended;
    for (const { session_id: id } of sessions) {
      const row = await servers.database.query
        .selectFrom("sessions")
        .select(["ended_reason", "ended_at"])
        .where("id", "=", id)
        .executeTakeFirstOrThrow();
      expect(row.ended_reason).toBe("server_stopped");
      expect(Date.parse(row.ended_at ?? "")).toBeGreaterThanOrEqual(deadline);
    }
    await Promise.all(clients.map(({ closed }) => closed));
    await expect.poll(() => browsersOf("five")).toEqual([]);
    const back = await servers.start("five");
    expect(browsersOf("five")).toEqual([]);
    const again = await create(back.baseUrl, shared);
    expect((await rowOf(again.session_id)).server_id).toBe(leaving.id);
    for (const { session_id: id } of [next, again])
      expect((await ask(balancer.url, "DELETE", `/browsers/${id}`)).status).toBe(204);
  },
);
