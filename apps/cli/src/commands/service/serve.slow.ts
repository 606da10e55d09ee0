import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterAll, describe, expect, it } from "vitest";
import { startService } from "../../service.ts";
import { bareEnv, noChromium, shoalProcess, startProcess } from "../../testing/shoal.ts";

const missing = await noChromium();
const folder = mkdtempSync(join(tmpdir(), "shoal-serve-"));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

it("waits for the ready file although a file of an earlier run is removed meanwhile", async () => {
  const dataDir = join(folder, "restarted");
  mkdirSync(dataDir);
  // Creates and removes the file repeatedly while the service starts.
  const script = `
    const { renameSync, rmSync, writeFileSync } = require("node:fs");
    for (;;) {
      writeFileSync(${JSON.stringify(join(dataDir, "draft"))}, '{"pid":1}');
      renameSync(${JSON.stringify(join(dataDir, "draft"))}, ${JSON.stringify(join(dataDir, "ready.json"))});
      rmSync(${JSON.stringify(join(dataDir, "ready.json"))}, { force: true });
    }`;
  const earlier = new Worker(script, { eval: true });
  try {
    // This service exits, so that it does not remove the file.
    await expect(startService(dataDir, ["--warm", "many"], bareEnv())).rejects.toThrow("--warm");
  } finally {
    await earlier.terminate();
  }
});

describe.skipIf(missing)(`a service that runs${missing === undefined ? "" : ` (skipped: ${missing})`}`, () => {
  const dataDir = join(folder, "running");
  const flags = ["--warm", "0", "--placement", "process", "--max-event-loop-delay-ms", "0"];
  const serve = (args: readonly string[]) =>
    shoalProcess(["serve", "--port", "0", "--data-dir", dataDir, "--warm", "0", "--log-level", "silent", ...args]);

  it("rejects a second service with the same data folder or port", async () => {
    const service = await startService(dataDir, flags, bareEnv());
    expect(await serve([])).toMatchObject({
      status: 12,
      stderr: expect.stringMatching(
        new RegExp(`in use by the Shoal server with process id ${String(service.pid)}\\.\n {2}.*--data-dir`),
      ) as unknown,
    });
    await service.stop();
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    expect(await serve(["--port", String(port)])).toMatchObject({
      status: 12,
      stderr: expect.stringMatching(
        new RegExp(
          `^error: Port ${String(port)} of 127\\.0\\.0\\.1 is in use by another program\\.\n {2}.*--port 0\\.\n$`,
        ),
      ) as unknown,
    });
    other.close();
  });

  it.skipIf(process.platform === "win32")("exits at once on a second signal", async () => {
    const readyFile = join(folder, "second.json");
    const run = startProcess([
      "serve",
      "--port",
      "0",
      "--data-dir",
      dataDir,
      "--ready-file",
      readyFile,
      ...flags,
      "--drain-seconds",
      "600",
    ]);
    await expect.poll(() => existsSync(readyFile)).toBe(true);
    const { base_url, api_key } = JSON.parse(readFileSync(readyFile, "utf8")) as { base_url: string; api_key: string };
    const env = { SHOAL_BASE_URL: base_url, SHOAL_API_KEY: api_key };
    // An endless request delays the shutdown.
    const { stdout } = await shoalProcess(["browsers", "create", "-o", "json"], { env });
    const { session_id } = JSON.parse(stdout) as { session_id: string };
    const writing = startProcess(["browsers", "fs", "write-file", session_id, "/home/shoal/slow"], env);
    writing.stdin.write("some");
    // The request is in progress when its first bytes are in the session's folder.
    await expect
      .poll(() =>
        readdirSync(join(dataDir, "sessions"), { recursive: true }).some((name) =>
          /\.shoal-[a-z0-9]+\.part$/.test(String(name)),
        ),
      )
      .toBe(true);
    run.kill("SIGTERM");
    await expect.poll(() => run.stderr()).toContain("the service stops");
    run.kill("SIGTERM");
    expect((await run.outcome).status).toBe(143);
    writing.kill("SIGKILL");
    await writing.outcome;
  });
});
