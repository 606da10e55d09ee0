import { startService } from "@shoal/cli/service";
import { type CreateBrowser, Shoal } from "@shoal/client";
import { mkdtempSync, rmSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { chromium } from "playwright-core";
import { type Figure, percentile } from "../measuring/figures.ts";
import { descendants } from "../measuring/processes.ts";
import { interleaved } from "../measuring/rounds.ts";
import { cpuOf } from "./telemetry.ts";

const pages = 5;
const requestsPerPage = 60;
const linesPerPage = 20;

/** A page like those of shops and news: some scripts, pictures and calls, and a few lines in the console. */
const page = `<!doctype html><title>usual</title><h1>Orders</h1><script>
  // Chromium cancels requests when the machine gets a further network interface.
  const get = (address) => fetch(address).then((answer) => answer.text()).catch(() => get(address));
  globalThis.ready = (async () => {
    for (let line = 0; line < ${String(linesPerPage)}; line++) console.log("line", line);
    await Promise.all(Array.from({ length: ${String(requestsPerPage)} }, (_, index) => get("/data?" + index)));
    for (let row = 0; row < 300; row++) document.body.append(Object.assign(document.createElement("p"), { textContent: "Order " + row }));
    return true;
  })();
</script>`;

interface Spent {
  readonly createMs: number;
  readonly visitMs: number;
  readonly deleteMs: number;
  readonly cpu: ReturnType<typeof cpuOf>;
}

/** Measures sessions of five usual pages with the evidence that the service keeps by default, and without any. */
export async function measureEvidence(rounds: number): Promise<Figure[]> {
  const site = createServer((request, response) => {
    if (request.url?.startsWith("/data") === true)
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ rows: "x".repeat(4000) }));
    else response.writeHead(200, { "content-type": "text/html" }).end(page);
  });
  // On a loaded machine, a connection would end while the browser sends on it.
  site.keepAliveTimeout = 120_000;
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${String((site.address() as AddressInfo).port)}/`;
  const folder = mkdtempSync(join(tmpdir(), "shoal-bench-"));
  const flags = ["--warm", "0", "--log-level", "warn", "--allow-private-hosts", "127.0.0.0/8"];
  const service = await startService(folder, flags);
  const shoal = new Shoal({ baseUrl: service.baseUrl, apiKey: service.apiKey });
  const spent = { kept: [] as Spent[], none: [] as Spent[] };
  let bytes = 0;
  const run = async (side: keyof typeof spent, telemetry: CreateBrowser["telemetry"]) => {
    const before = cpuOf(service.pid);
    const began = performance.now();
    const { session_id: id, cdp_ws_url } = await shoal.browsers.create({ timeout_seconds: 600, telemetry });
    const created = performance.now();
    const browser = await chromium.connectOverCDP(cdp_ws_url);
    const [tab] = browser.contexts()[0]?.pages() ?? [];
    for (let visit = 0; visit < pages; visit++) {
      await tab?.goto(url);
      await tab?.evaluate("ready");
    }
    const visited = performance.now();
    // Events in transit.
    await delay(300);
    const after = cpuOf(service.pid);
    await browser.close();
    const ending = performance.now();
    await shoal.browsers.delete(id);
    const deleteMs = performance.now() - ending;
    const used = (kind: keyof typeof after) => after[kind] - before[kind];
    const cpu = { browsers: used("browsers"), instances: used("instances"), service: used("service") };
    spent[side].push({ createMs: created - began, visitMs: visited - created, deleteMs, cpu });
    while (descendants(service.pid).some(({ command }) => /chrom|headless/.test(command))) await delay(20);
    if (side === "kept") bytes += (await sizeOf(join(folder, "telemetry", id))) / rounds;
  };
  try {
    await run("none", { enabled: false });
    spent.none.length = 0;
    await interleaved(rounds, {
      kept: () => run("kept", undefined),
      none: () => run("none", { enabled: false }),
    });
    const middle = (side: keyof typeof spent, of: (one: Spent) => number) => percentile(spent[side].map(of), 0.5);
    const figure = (name: string, of: (one: Spent) => number): Figure => ({
      name,
      unit: "ms",
      ours: middle("kept", of),
      peer: middle("none", of),
      peerName: "without evidence",
    });
    return [
      figure("start of the session", ({ createMs }) => createMs),
      figure(`visits of ${String(pages)} pages`, ({ visitMs }) => visitMs),
      figure("deletion of the session", ({ deleteMs }) => deleteMs),
      figure("CPU of all three", ({ cpu }) => cpu.browsers + cpu.instances + cpu.service),
      ...(["browsers", "instances", "service"] as const).map((kind) =>
        figure(`CPU of that: ${kind}`, ({ cpu }) => cpu[kind]),
      ),
      { name: "kept for each session, with its picture", unit: "KB", ours: bytes / 1000 },
    ];
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
    site.closeAllConnections();
    site.close();
  }
}

async function sizeOf(directory: string): Promise<number> {
  const names = await readdir(directory);
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(directory, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
