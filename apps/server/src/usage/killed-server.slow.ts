import { Browser, UsageRow } from "@shoal/schemas";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ServerProcess, startServerProcesses } from "../testing/server-processes.ts";

let servers: Awaited<ReturnType<typeof startServerProcesses>>;
let two: ServerProcess;
beforeAll(async () => {
  servers = await startServerProcesses();
  two = await servers.start("two", { SHOAL_USAGE_SECONDS: "1" });
});
afterAll(() => servers.close());

async function send(server: ServerProcess, method: string, path: string): Promise<unknown> {
  const response = await fetch(server.baseUrl + path, {
    method,
    headers: { authorization: `Bearer ${servers.key}`, "content-type": "application/json" },
    ...(method === "POST" && { body: "{}" }),
  });
  const text = await response.text();
  expect(response.ok, text).toBe(true);
  return text === "" ? undefined : JSON.parse(text);
}

async function today(server: ServerProcess) {
  const rows = ((await send(server, "GET", "/usage")) as unknown[]).map((row) => UsageRow.parse(row));
  return {
    started: rows.reduce((sum, row) => sum + row.sessions_started, 0),
    seconds: rows.reduce((sum, row) => sum + row.session_minutes, 0) * 60,
    peak: Math.max(0, ...rows.map((row) => row.peak_concurrent_sessions)),
  };
}

it(
  "sums the sessions of two servers, and those of a killed one until its last sign of life",
  { timeout: 120_000 },
  async () => {
    const create = async (server: ServerProcess) => Browser.parse(await send(server, "POST", "/browsers")).session_id;
    const here = await create(servers.one);
    const beganMs = Date.now();
    await create(two);
    // Both servers see the same figures, whichever of them charges.
    await expect.poll(async () => (await today(two)).seconds, { timeout: 60_000 }).toBeGreaterThan(3);
    two.child.kill("SIGKILL");
    const killedMs = Date.now();
    const ended = () =>
      servers.database.query
        .selectFrom("usage_sessions")
        .select(["ended_at", "session_id"])
        .where("server_id", "=", two.id)
        .executeTakeFirstOrThrow();
    await expect.poll(async () => (await ended()).ended_at, { timeout: 60_000 }).not.toBeNull();
    const lostMs = Date.parse((await ended()).ended_at ?? "");
    // The other server notices the loss after some seconds. That time does not count.
    expect(lostMs).toBeLessThanOrEqual(killedMs);
    expect(lostMs).toBeGreaterThan(killedMs - 5_000);
    await send(servers.one, "DELETE", `/browsers/${here}`);
    await expect.poll(async () => (await today(servers.one)).started, { timeout: 60_000 }).toBe(2);
    await expect
      .poll(async () => (await today(servers.one)).seconds, { timeout: 60_000 })
      .toBeGreaterThan((lostMs - beganMs) / 1000);
    expect((await today(servers.one)).peak).toBe(2);
  },
);
