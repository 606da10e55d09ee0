import { startService } from "@shoal/cli/service";
import { Shoal } from "@shoal/client";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Browser, chromium, type Page } from "playwright-core";
import { type Figure, percentile } from "../measuring/figures.ts";
import { descendants, proportionalBytes } from "../measuring/processes.ts";

const megabyte = 1024 * 1024;
/** Time until browsers are idle. */
const restMs = 5_000;
const roundTrips = 300;
const content = "<!doctype html><title>page</title><h1>hello</h1>";

interface OpenSession {
  readonly id: string;
  readonly browser: Browser;
  readonly page: Page;
}

interface Kind {
  readonly opened: readonly OpenSession[];
  readonly createMs: readonly number[];
  readonly roundTripMs: number[];
  readonly bytesEach: number;
}

/** Measures sessions that share a browser, and then as many with separate browsers. @param sessions - of each kind. */
export async function measureContexts(sessions: number): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "shoal-bench-"));
  const service = await startService(folder, ["--warm", "0", "--log-level", "warn"]);
  try {
    const shoal = new Shoal({ baseUrl: service.baseUrl, apiKey: service.apiKey });
    const memory = () =>
      descendants(service.pid)
        .filter(({ command }) => !command.includes("postgres"))
        .reduce((total, { pid }) => total + proportionalBytes(pid), 0);
    const shared = await measureKind(shoal, { sessions, isolation: "context", memory });
    const separate = await measureKind(shoal, { sessions, isolation: "process", memory });
    await measureRoundTrips([shared, separate]);
    for (const { opened } of [shared, separate]) await end(shoal, opened);
    const peerName = "separate browsers";
    const compare = (name: string, unit: string, of: (kind: Kind) => number): Figure => ({
      name,
      unit,
      ours: of(shared),
      peer: of(separate),
      peerName,
    });
    return [
      compare("memory of a further session with a page (PSS)", "MB", ({ bytesEach }) => bytesEach / megabyte),
      compare("browsers.create(), p50", "ms", ({ createMs }) => percentile(createMs, 0.5)),
      compare("page.evaluate(), p50", "ms", ({ roundTripMs }) => percentile(roundTripMs, 0.5)),
    ];
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface KindOptions {
  readonly sessions: number;
  readonly isolation: "context" | "process";
  readonly memory: () => number;
}

async function measureKind(shoal: Shoal, { isolation, memory, sessions }: KindOptions): Promise<Kind> {
  const opened: OpenSession[] = [];
  const createMs: number[] = [];
  const open = async (): Promise<void> => {
    const beganMs = performance.now();
    const { cdp_ws_url: url, session_id: id } = await shoal.browsers.create({ isolation, timeout_seconds: 3600 });
    createMs.push(performance.now() - beganMs);
    const browser = await chromium.connectOverCDP(url);
    const page = browser.contexts()[0]?.pages()[0];
    if (page === undefined) throw new Error("The session has no page.");
    await page.setContent(content);
    opened.push({ id, browser, page });
  };
  // The first one also starts the shared browser.
  await open();
  await delay(restMs);
  const before = memory();
  createMs.length = 0;
  while (opened.length <= sessions) await open();
  await delay(restMs);
  const bytesEach = (memory() - before) / sessions;
  return { opened, createMs, roundTripMs: [], bytesEach };
}

/** Alternates between the kinds, so that other work of the machine slows both. */
async function measureRoundTrips(kinds: readonly Kind[]): Promise<void> {
  for (let count = 0; count < roundTrips; count++) {
    for (const { opened, roundTripMs } of kinds) {
      const beganMs = performance.now();
      await opened[0]?.page.evaluate("1");
      roundTripMs.push(performance.now() - beganMs);
    }
  }
}

async function end(shoal: Shoal, opened: readonly OpenSession[]): Promise<void> {
  for (const { browser, id } of opened) {
    await browser.close();
    await shoal.browsers.delete(id);
  }
}
