import { openDatabase } from "@shoal/database";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { expect, it } from "vitest";
import { createId } from "../ids.ts";
import { startHeartbeat } from "./heartbeat.ts";

it("ends the sessions of servers that have been silent for a minute, and of no others", async () => {
  const folder = mkdtempSync(join(tmpdir(), "shoal-heartbeat-"));
  const log = pino({ level: "silent" });
  const database = await openDatabase({ dataDir: folder, log });
  const { query } = database;
  try {
    const { id: project_id } = await query.selectFrom("projects").select("id").executeTakeFirstOrThrow();
    const [silent, alive, me] = [createId(), createId(), createId()];
    for (const [id, agoMs] of [[silent, 61_000], [alive, 30_000]] as const) await query.insertInto("servers").values({ id, heartbeat_at: new Date(Date.now() - agoMs).toISOString() }).execute();
    for (const server_id of [silent, alive, me]) {
      await query.insertInto("sessions").values({ id: createId(), project_id, server_id, name: server_id, placement: "process", timeout_seconds: 60, headless: true, stealth: false, viewport: null, start_url: null }).execute();
    }
    const heartbeat = await startHeartbeat(database, me, log);
    expect(await query.selectFrom("servers").select("id").where("id", "=", me).execute()).toHaveLength(1);
    const ended = await query.selectFrom("sessions").select(["name", "ended_reason"]).where("ended_at", "is not", null).execute();
    expect(ended).toEqual([{ name: silent, ended_reason: "instance_lost" }]);
    await heartbeat.stop();
    expect(await query.selectFrom("servers").select("id").where("id", "=", me).execute()).toEqual([]);
  } finally {
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
