import { createId } from "@shoal/primitives";
import { eventually } from "@shoal/testkit";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sessionRow } from "../testing/session-row.ts";
import { startTestServer, type TestServer } from "../testing/test-server.ts";
import { examineDatabase } from "./examine-database.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({}, { embedded: true });
});
afterAll(() => server.close());

const serversOf = async () =>
  (await examineDatabase({ data_dir: dirname(server.databaseDir) })).filter(({ name }) => name === "server");

it("lists the servers of a database, with what runs on them and their drain", async () => {
  const { query } = server.database;
  expect(await serversOf()).toEqual([
    {
      name: "server",
      state: "ok",
      detail: expect.stringContaining("accepts sessions: 0 sessions, 0 invocations") as unknown,
    },
  ]);
  const { id: project_id } = await query.selectFrom("projects").select("id").executeTakeFirstOrThrow();
  const { id: server_id } = await query.selectFrom("servers").select("id").executeTakeFirstOrThrow();
  const id = createId();
  await query
    .insertInto("sessions")
    .values(sessionRow({ id, project_id, server_id, name: "shop" }))
    .execute();
  server.running.drain();
  await expect.poll(serversOf).toEqual([
    {
      name: "server",
      state: "warning",
      detail: expect.stringMatching(
        /has been draining since .*Z, until it is stopped: 1 session, 0 invocations/,
      ) as unknown,
      advice: "Stop it when no session is left. Oldest: shop.",
    },
  ]);
  // The running server removes it after some seconds, perhaps at once.
  const lost = await eventually("the lost server is listed", async () => {
    await query
      .insertInto("servers")
      .values({
        ...{ id: "lost", life: "lost", address: "http://10.0.0.9:7777", version: "1.0.0", secret_check: null },
        heartbeat_at: new Date(Date.now() - 3_600_000),
      })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    return (await serversOf()).find(({ detail }) => detail.startsWith("http://10.0.0.9:7777"));
  });
  expect(lost).toMatchObject({
    state: "warning",
    detail: expect.stringContaining("has sent no heartbeat since") as unknown,
  });
});

it("names the reason when the database does not answer", async () => {
  expect(await examineDatabase({ data_dir: "/none", database_url: "postgres://127.0.0.1:1/none" })).toEqual([
    {
      name: "database",
      state: "missing",
      detail: expect.stringContaining("127.0.0.1") as unknown,
      advice: expect.any(String) as unknown,
    },
  ]);
});

it("starts no database in an empty folder", async () => {
  const folder = mkdtempSync(join(tmpdir(), "shoal-examine-"));
  try {
    expect(await examineDatabase({ data_dir: folder })).toEqual([
      { name: "database", state: "ok", detail: "Embedded PostgreSQL is installed." },
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
