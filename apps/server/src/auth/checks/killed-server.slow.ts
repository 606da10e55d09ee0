import { createId } from "@shoal/primitives";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { connectionRow } from "../../testing/connection-row.ts";
import { type ServerProcess, startServerProcesses } from "../../testing/server-processes.ts";

let servers: Awaited<ReturnType<typeof startServerProcesses>>;
let pair: readonly [ServerProcess, ServerProcess];
let site: Server;
let host: string;
/** Answers of the site that wait. */
const visits: (() => void)[] = [];
let isHanging = true;

beforeAll(async () => {
  site = createServer((_request, response) => {
    const answer = () =>
      response.setHeader("content-type", "text/html").end(`<h1>Home</h1><a href="/logout">Log out</a>`);
    if (isHanging) visits.push(answer);
    else answer();
  }).listen(0, "127.0.0.1");
  await once(site, "listening");
  host = `127.0.0.1:${String((site.address() as AddressInfo).port)}`;
  servers = await startServerProcesses();
  // It cannot reach the site.
  const ended = once(servers.one.child, "exit");
  servers.one.child.kill("SIGTERM");
  await ended;
  const settings = { SHOAL_ALLOW_PRIVATE_HOSTS: host };
  pair = [await servers.start("two", settings), await servers.start("three", settings)];
});
afterAll(async () => {
  await servers.close();
  site.closeAllConnections();
  site.close();
});

it("repeats the check of a killed server on another server, once", async () => {
  const { query } = servers.database;
  const { id: project_id } = await query.selectFrom("projects").select("id").executeTakeFirstOrThrow();
  const [id, profile_id] = [createId(), createId()];
  await query.insertInto("profiles").values({ id: profile_id, project_id, name: profile_id }).execute();
  await query
    .insertInto("auth_connections")
    .values({
      ...connectionRow({ id, project_id, profile_id }),
      domain: host,
      login_url: `http://${host}/`,
      status: "AUTHENTICATED",
      health_checks: true,
      signed_in_at: new Date(),
      next_check_at: new Date(),
    })
    .execute();
  const connection = () =>
    query.selectFrom("auth_connections").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  await vi.waitUntil(() => visits.length > 0, { timeout: 60_000, interval: 50 });
  const { check_server_id } = await connection();
  const [two, three] = pair;
  const checking = check_server_id === two.id ? two : three;
  isHanging = false;
  checking.child.kill("SIGKILL");
  await vi.waitUntil(async () => (await connection()).last_auth_check_at !== null, { timeout: 60_000, interval: 200 });
  expect(await connection()).toMatchObject({ status: "AUTHENTICATED", check_id: null, check_server_id: null });
  const timeline = await query.selectFrom("auth_flows").selectAll().where("connection_id", "=", id).execute();
  expect(timeline).toHaveLength(1);
  await vi.waitUntil(
    async () => (await query.selectFrom("sessions").select("id").where("ended_at", "is", null).execute()).length === 0,
    { timeout: 30_000, interval: 200 },
  );
});
