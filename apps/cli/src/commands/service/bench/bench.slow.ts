import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { noChromium, shoalProcess, startProcess, startTestService, type TestService } from "../../../testing/shoal.ts";
import type { BenchReport } from "./bench-report.ts";

const missing = await noChromium();
const folder = mkdtempSync(join(tmpdir(), "shoal-bench-test-"));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Every file and process of a run has its temporary folder in its name. */
function temporaryFolder(name: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  return path;
}

function processesWith(text: string): string[] {
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
        return command.includes(text) ? [command] : [];
      } catch {
        return [];
      }
    });
}

describe.skipIf(missing !== undefined || process.platform !== "linux")("shoal bench", () => {
  it("compares a new service with Chromium by hand, and removes both", async () => {
    const TMPDIR = temporaryFolder("own");
    const { status, stdout, stderr } = await shoalProcess(
      ["bench", "--quick", "--lives", "5", "--sessions", "5", "-o", "json"],
      { env: { TMPDIR } },
    );
    expect([status, stderr]).toEqual([0, expect.stringContaining("5 lives, 5 at a time")]);
    const report = JSON.parse(stdout) as BenchReport;
    expect(report.service.started).toBe(true);
    expect(report.remains).toEqual({ sessions: 0, processes: 0, files: 0 });
    expect(report.memory?.sessions_per_gb).toBeGreaterThan(1);
    for (const { shoal: ours, by_hand: peer } of [...report.lives, ...report.together]) {
      expect([ours.successes, peer?.successes]).toEqual([ours.attempts, ours.attempts]);
      expect(ours.median_ms).toBeGreaterThan(0);
    }
    // The kernel removes the last processes some time after their end.
    await expect.poll(() => [readdirSync(TMPDIR), processesWith(TMPDIR)]).toEqual([[], []]);
  });

  it("ends all browsers and the service when it is interrupted", async () => {
    const TMPDIR = temporaryFolder("interrupted");
    const run = startProcess(["bench", "--quick", "--lives", "5"], { TMPDIR });
    await expect.poll(() => run.stderr()).toContain("5 at a time");
    run.kill("SIGINT");
    expect((await run.outcome).status).toBe(130);
    // The kernel removes the last processes some time after their end.
    await expect.poll(() => [readdirSync(TMPDIR), processesWith(TMPDIR)]).toEqual([[], []]);
  });
});

it.each(["0", "1.5", "many"])("refuses %s lives", async (lives) => {
  const { status, stderr } = await shoalProcess(["bench", "--lives", lives]);
  expect([status, stderr]).toEqual([2, expect.stringContaining("--lives must be a whole number from 1 to 10,000.")]);
});

describe.skipIf(missing !== undefined)("shoal bench --running", () => {
  let test: TestService | undefined;
  afterAll(() => test?.close());

  it("measures the service of the connection, without its memory", async () => {
    test = await startTestService();
    const report = (await test.json("bench", "--running", "--quick", "--lives", "2", "--sessions", "1")) as BenchReport;
    expect(report).toMatchObject({
      service: { base_url: test.service.baseUrl, started: false },
      memory: null,
      remains: { sessions: 0, processes: null, files: null },
    });
    const [first] = report.lives;
    expect(first?.shoal.successes).toBe(first?.shoal.attempts);
    expect(await test.json("browsers", "list")).toEqual([]);
  });
});
