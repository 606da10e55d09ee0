import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runService } from "../testing/service.ts";

// Windows has no SIGHUP.
describe.skipIf(process.platform === "win32")("SIGHUP", () => {
  let folder: string;
  let file: string;
  let running: Awaited<ReturnType<typeof runService>>;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "shoal-e2e-reload-"));
    file = join(folder, "shoal.yaml");
    writeFileSync(file, "rate_limit_per_key: 1000\n");
    running = await runService(["--config", file]);
  });
  afterAll(async () => {
    await running.end();
    rmSync(folder, { recursive: true, force: true });
  });

  async function limit(): Promise<string | null> {
    const response = await fetch(`${running.service.baseUrl}/profiles`, {
      headers: { authorization: `Bearer ${running.service.apiKey}` },
    });
    expect(response.status).toBe(200);
    return response.headers.get("x-ratelimit-limit");
  }

  it("reloads the config file, and keeps the settings when it is wrong", async () => {
    expect(await limit()).toBe("1000");
    writeFileSync(file, "rate_limit_per_key: 2000\n");
    process.kill(running.service.pid, "SIGHUP");
    await expect.poll(limit).toBe("2000");
    writeFileSync(file, "rate_limit_per_key: lots\n");
    process.kill(running.service.pid, "SIGHUP");
    await expect.poll(() => running.service.output()).toContain("cannot reload the settings");
    expect(await limit()).toBe("2000");
    writeFileSync(file, "rate_limit_per_key: 3000\n");
    process.kill(running.service.pid, "SIGHUP");
    await expect.poll(limit).toBe("3000");
  });
});
