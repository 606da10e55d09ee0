import { Browser } from "@shoal/schemas";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { completeConfig } from "../config/config.ts";
import type { RunningServer } from "./running-server.ts";
import { startServer } from "./server.ts";
import { connectCdp } from "../testing/cdp-client.ts";
import { unlimited } from "../testing/unlimited.ts";

let dataDir: string;
let server: RunningServer;
beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), "shoal-drain-"));
});
afterEach(() => server.close());
afterAll(() => {
  rmSync(dataDir, { recursive: true, force: true });
});

async function start(): Promise<void> {
  // Distinguishes a stop that waits for the whole drain from a slow machine.
  server = await startServer(
    completeConfig({ data_dir: dataDir, port: 0, placement: "process", warm: 0, drain_seconds: 120, ...unlimited }),
    {
      logTo: new PassThrough().resume(),
    },
  );
}

async function ask(method: string, path: string, body?: object): Promise<{ status: number; body: unknown }> {
  const response = await fetch(server.baseUrl + path, {
    method,
    headers: { authorization: `Bearer ${server.apiKey ?? ""}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
}

const reasonOf = async (id: string) =>
  ((await ask("GET", `/browsers/${id}?include_deleted=true`)).body as Browser).ended_reason;

it("finishes requests in flight, ends sessions as server_stopped, and leaves nothing running", async () => {
  await start();
  const running = Browser.parse((await ask("POST", "/browsers", {})).body);
  const cdp = await connectCdp(running.cdp_ws_url);
  const inFlight = ask("POST", "/browsers", { name: "late" });
  await expect.poll(async () => (await ask("GET", "/browsers/late")).status).toBe(200);
  const closing = server.close();
  const late = await inFlight;
  expect(late.status).toBe(200);
  await closing;
  await cdp.closed;
  await server.close();
  await expect(fetch(`${server.baseUrl}/health`)).rejects.toThrow();
  expect(existsSync(join(dataDir, "server.pid"))).toBe(false);
  // The placement keeps compiled programs next to the sessions' folders.
  expect(readdirSync(join(dataDir, "sessions")).filter((name) => !/^(compiled|program)-/.test(name))).toEqual([]);

  await start();
  expect(await reasonOf(running.session_id)).toBe("server_stopped");
  expect(await reasonOf(Browser.parse(late.body).session_id)).toBe("server_stopped");
});

it("ends event streams and idle connections instead of waiting for them", async () => {
  await start();
  const { session_id } = Browser.parse((await ask("POST", "/browsers", {})).body);
  await ask("GET", "/health");
  const started = performance.now();
  await server.close();
  expect(performance.now() - started).toBeLessThan(100_000);
  await start();
  expect(await reasonOf(session_id)).toBe("server_stopped");
});

it("ends the sessions of a server that was killed as instance_lost when it starts again", async () => {
  const readyFile = join(dataDir, "ready.json");
  const program = `const { serve } = await import(${JSON.stringify(new URL("server.ts", import.meta.url).href)}); await serve({ env: {}, flags: JSON.parse(process.argv[1]) });`;
  const flags = {
    data_dir: dataDir,
    port: 0,
    placement: "process",
    warm: 0,
    ready_file: readyFile,
    log_level: "silent",
    ...unlimited,
  };
  const child = spawn(
    process.execPath,
    ["--conditions=@shoal/source", "--input-type=module", "-e", program, JSON.stringify(flags)],
    {
      stdio: "inherit",
    },
  );
  const exited = once(child, "exit");
  try {
    await expect.poll(() => existsSync(readyFile)).toBe(true);
    const { base_url, api_key } = JSON.parse(readFileSync(readyFile, "utf8")) as {
      base_url: string;
      api_key: string;
    };
    const created = await fetch(`${base_url}/browsers`, {
      method: "POST",
      headers: { authorization: `Bearer ${api_key}` },
    });
    const { session_id } = Browser.parse(await created.json());
    child.kill("SIGKILL");
    await exited;
    await start();
    expect(await reasonOf(session_id)).toBe("instance_lost");
    expect((await ask("GET", "/browsers")).body).toEqual([]);
  } finally {
    child.kill("SIGKILL");
    await exited;
  }
});
