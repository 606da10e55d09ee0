import { eventuallyPasses } from "@shoal/testkit";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { openDatabase } from "./index.ts";
import { databaseSuite } from "./testing/database-suite.ts";
import { recordingLog } from "./testing/logs.ts";
import { startBundledServer, startImpostor } from "./testing/servers.ts";
import { refusal } from "./testing/suite/suite.ts";

const log = recordingLog();

describe("on the bundled PostgreSQL", () => {
  databaseSuite(startBundledServer);

  it("closes despite a running query", async () => {
    const server = await startBundledServer();
    const database = await openDatabase({ url: server.url, dataDir: "/nowhere", log });
    const slow = sql`select pg_sleep(25)`.execute(database.query).catch((error: unknown) => error);
    await eventuallyPasses(async () => {
      const { rows } = await sql<{
        count: number;
      }>`select count(*) as count from pg_stat_activity where wait_event = 'PgSleep'`.execute(database.query);
      expect(rows[0]?.count).toBe(1);
    });
    const startedAt = performance.now();
    await database.close();
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    expect(await slow).toBeInstanceOf(Error);
    await server.stop();
  });
});

describe("on an unsupported server", () => {
  it("reports the required version", async () => {
    const impostor = await startImpostor({ version: "13.4 (Debian 13.4-4)", number: "130004", encoding: "UTF8" });
    const error = await refusal(`postgres://shoal:secret1@127.0.0.1:${impostor.port}/db`);
    expect(error.code).toBe("server_too_old");
    expect(error.message).toContain("is version 13.4 (Debian 13.4-4); Shoal needs 14 or newer");
    await impostor.stop();
  });
});
