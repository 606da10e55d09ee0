import { startService } from "@shoal/cli/service";
import { Shoal } from "@shoal/client";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Browser, chromium, type Page } from "playwright-core";
import { type Figure, percentile } from "../measuring/figures.ts";
import { cpuMs, descendants, proportionalBytes } from "../measuring/processes.ts";

const megabyte = 1024 * 1024;
const together = 8;
/** For the memory of all sessions to move to swap. */
const pageOutMs = 15_000;
/** Memory and timers of an ordinary page. */
const content = `<script>
  const rows = Array.from({ length: 40000 }, (_, row) => ({ row, text: "row " + row }));
  document.body.innerHTML = rows.slice(0, 2000).map(({ text }) => "<p>" + text + "</p>").join("");
  setInterval(() => rows.reverse(), 50);
</script>`;

interface Sleeper {
  readonly id: string;
  readonly page: Page;
}

/** Measures wakes of sessions with a Playwright client, and what they cost while they sleep. @param wakes - per session. */
export async function measureSleep(wakes: number): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "shoal-bench-"));
  const service = await startService(folder, ["--warm", "0", "--log-level", "warn", "--placement", "sandbox"]);
  const browsers: Browser[] = [];
  try {
    const shoal = new Shoal({ baseUrl: service.baseUrl, apiKey: service.apiKey });
    const boxes = () => descendants(service.pid).filter(({ command }) => !command.includes("postgres"));
    const sum = (of: (pid: number) => number) => boxes().reduce((total, { pid }) => total + of(pid), 0);
    const sleepers: Sleeper[] = [];
    while (sleepers.length < together) {
      const { session_id: id, cdp_ws_url: url } = await shoal.browsers.create({ timeout_seconds: 3600 });
      const browser = await chromium.connectOverCDP(url);
      browsers.push(browser);
      const page = await browser.contexts()[0]?.newPage();
      if (page === undefined) throw new Error("The browser has no context.");
      await page.setContent(content);
      sleepers.push({ id, page });
    }
    const awakeBytes = sum(proportionalBytes);
    const awakeCpuMs = await cpuOf(() => sum(cpuMs));
    const awakeMs = await timesOf(sleepers, wakes, () => Promise.resolve());
    for (const { id } of sleepers) await shoal.browsers.update(id, { sleep_after_seconds: 1 });
    const wakeMs = await timesOf(sleepers, wakes, (sleeper) => asleep(shoal, sleeper));
    await Promise.all(sleepers.map((sleeper) => asleep(shoal, sleeper)));
    await delay(pageOutMs);
    const asleepBytes = sum(proportionalBytes);
    const asleepCpuMs = await cpuOf(() => sum(cpuMs));
    const pagedMs = hasSwap() ? await timesOf(sleepers, 1, () => Promise.resolve()) : [];
    const peerName = "the same sessions awake";
    const each = (bytes: number) => bytes / together / megabyte;
    return [
      {
        name: "page.evaluate() that wakes, p50",
        unit: "ms",
        ours: percentile(wakeMs, 0.5),
        peer: percentile(awakeMs, 0.5),
        peerName,
      },
      {
        name: "page.evaluate() that wakes, p99",
        unit: "ms",
        ours: percentile(wakeMs, 0.99),
        peer: percentile(awakeMs, 0.99),
        peerName,
      },
      {
        name: "CPU of a session per second",
        unit: "ms",
        ours: asleepCpuMs / together,
        peer: awakeCpuMs / together,
        peerName,
      },
      {
        name: `memory of a session (PSS), ${hasSwap() ? "with" : "without"} swap`,
        unit: "MB",
        ours: each(asleepBytes),
        peer: each(awakeBytes),
        peerName,
      },
      ...(pagedMs.length === 0
        ? []
        : [{ name: "the first one after its memory moved to swap, latest", unit: "ms", ours: Math.max(...pagedMs) }]),
    ];
  } finally {
    await Promise.all(browsers.map((browser) => browser.close()));
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function timesOf(
  sleepers: readonly Sleeper[],
  count: number,
  before: (sleeper: Sleeper) => Promise<void>,
): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < count; round++) {
    await Promise.all(sleepers.map(before));
    // One at a time, so that wakes do not compete for processors.
    for (const { page } of sleepers) {
      const began = performance.now();
      await page.evaluate(() => document.title);
      times.push(performance.now() - began);
    }
  }
  return times;
}

async function asleep(shoal: Shoal, { id }: Sleeper): Promise<void> {
  while ((await shoal.browsers.get(id)).asleep_since === undefined) await delay(50);
}

/** CPU of one second, in milliseconds. */
async function cpuOf(used: () => number): Promise<number> {
  const seconds = 5;
  const before = used();
  await delay(seconds * 1000);
  return (used() - before) / seconds;
}

function hasSwap(): boolean {
  return readFileSync("/proc/swaps", "utf8").trim().split("\n").length > 1;
}
