import { Browser } from "@shoal/schemas";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { completeConfig } from "../config/config.ts";
import { stuckSaves } from "../testing/stuck-saves.ts";
import { startTestServer } from "../testing/test-server.ts";

it("stops within shutdown_seconds although sessions do not answer, or never finish an answer", async () => {
  await using stuck = await stuckSaves();
  const server = await startTestServer(
    { shutdown_seconds: 3, drain_seconds: 3600 },
    { proxied: true, aroundPlacement: stuck.around },
  );
  try {
    const start = async (name: string): Promise<string> => {
      await server.request("POST", "/profiles", { body: { name } });
      return Browser.parse(
        (await server.request("POST", "/browsers", { body: { profile: { name, save_changes: true } } })).body,
      ).session_id;
    };
    const [silent, trickling] = [await start("silent"), await start("trickling")];
    expect((await server.request("POST", `/browsers/${trickling}/profile/save`)).status).toBe(200);
    const deleting = server.request("DELETE", `/browsers/${silent}`).catch(() => undefined);
    await expect.poll(() => stuck.asked()).toBe(1);
    stuck.behave("trickle");
    const startedMs = performance.now();
    await server.running.close();
    // Without a deadline it takes 8 minutes.
    expect(performance.now() - startedMs).toBeLessThan(240_000);
    await deleting;
    const rows = await server.database.query
      .selectFrom("sessions")
      .innerJoin("profiles", "profiles.id", "sessions.profile_id")
      .select(["sessions.id", "ended_reason", "version", "last_save_error"])
      .execute();
    const why = expect.stringContaining("shutdown_seconds") as unknown;
    expect(Object.fromEntries(rows.map(({ id, ...row }) => [id, row]))).toEqual({
      [silent]: { ended_reason: "deleted", version: null, last_save_error: why },
      [trickling]: { ended_reason: "server_stopped", version: 1, last_save_error: why },
    });
  } finally {
    await server.close();
  }
});

it("has a default that leaves systemd's unit 30 seconds", () => {
  const unit = readFileSync(new URL("../../../../docs/service/shoal.service", import.meta.url), "utf8");
  const stopSeconds = Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]);
  expect(completeConfig({}).shutdown_seconds + 30).toBeLessThanOrEqual(stopSeconds);
});
