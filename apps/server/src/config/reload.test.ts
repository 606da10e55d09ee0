import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { RunningServer } from "../main/running-server.ts";
import { startServer } from "../main/server.ts";
import { completeConfig } from "./config.ts";
import { compareSettings } from "./reload.ts";
import { reloadable, type Settings, settings } from "./settings.ts";

let folder: string;
let server: RunningServer;
let logged = "";
const configOf = (changes: Settings = {}) =>
  completeConfig(
    {
      data_dir: folder,
      port: 0,
      placement: "process",
      warm: 0,
      log_format: "json",
      rate_limit_per_key: 1000,
      max_event_loop_delay_ms: 0,
      ...changes,
    },
    {},
  );
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "shoal-reload-"));
  const log = new PassThrough();
  log.on("data", (chunk: Buffer) => {
    logged += chunk.toString();
  });
  server = await startServer(configOf(), { logTo: log });
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const ask = (method: string, path: string, body?: object) =>
  fetch(server.baseUrl + path, {
    method,
    headers: { authorization: `Bearer ${server.apiKey ?? ""}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });

it("applies new limits and a new log level, and reports settings that need a restart", async () => {
  expect((await ask("GET", "/profiles")).headers.get("x-ratelimit-limit")).toBe("1000");
  expect(logged).not.toContain('"msg":"request"');
  const report = server.reload(
    configOf({
      rate_limit_per_key: 500,
      log_level: "debug",
      max_sessions: 1,
      idle_timeout_seconds: 300,
      port: 1,
      warm: 3,
    }),
  );
  expect(report).toEqual({
    applied: ["idle_timeout_seconds", "log_level", "max_sessions", "rate_limit_per_key"],
    needRestart: ["port", "warm"],
  });
  expect((await ask("GET", "/profiles")).headers.get("x-ratelimit-limit")).toBe("500");
  await expect.poll(() => logged).toContain('"msg":"request"');
  expect(logged).toContain('"needs_restart":["port","warm"]');
  const created = await ask("POST", "/browsers", {});
  expect(await created.json()).toMatchObject({ timeout_seconds: 300 });
  expect((await ask("POST", "/browsers", {})).status).toBe(529);
  // Returning to the earlier value counts as a change.
  expect(server.reload(configOf()).applied).toContain("max_sessions");
  expect((await ask("POST", "/browsers", {})).status).toBe(200);
});

it("lists only existing settings", () => {
  for (const name of reloadable) expect(settings[name]).toBeDefined();
  const config = configOf();
  expect(compareSettings(config, config)).toEqual({ applied: [], needRestart: [] });
});
