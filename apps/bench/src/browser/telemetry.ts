import { startService } from "@shoal/cli/service";
import { type CreateBrowser, Shoal } from "@shoal/client";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Figure, percentile } from "../measuring/figures.ts";
import { cpuMs, descendants } from "../measuring/processes.ts";
import { interleaved } from "../measuring/rounds.ts";

const requests = 5_000;
const lines = 20_000;

/** Batches of requests with console lines between them, like a busy page. */
const page = `<!doctype html><title>busy</title><script>
  globalThis.busy = async () => {
    const began = performance.now();
    for (let batch = 0; batch < 100; batch++) {
      for (let line = 0; line < ${String(lines / 100)}; line++) console.log("line", batch, line);
      await Promise.all(Array.from({ length: ${String(requests / 100)} }, (_, index) => fetch("/data?" + batch + "-" + index).then((answer) => answer.text())));
    }
    return performance.now() - began;
  };
</script>`;

/** Runs the page's work with a client that enables no other events. */
async function drive(address: string, site: string): Promise<{ run(): Promise<void>; close(): void }> {
  const socket = new WebSocket(address);
  const waiting = new Map<
    number,
    (result: { targetId?: string; sessionId?: string; result?: { value?: unknown } }) => void
  >();
  socket.addEventListener("message", ({ data }: MessageEvent<string>) => {
    const { id, result } = JSON.parse(data) as { id?: number; result?: object };
    if (id !== undefined) waiting.get(id)?.(result ?? {});
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", reject);
  });
  let latest = 0;
  const send = (method: string, params: object, sessionId?: string) =>
    new Promise<{ targetId?: string; sessionId?: string; result?: { value?: unknown } }>((resolve) => {
      waiting.set(++latest, resolve);
      socket.send(JSON.stringify({ id: latest, method, params, sessionId }));
    });
  const { targetId } = await send("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
  const evaluate = async (expression: string) =>
    (await send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true }, sessionId)).result?.value;
  await send("Page.navigate", { url: site }, sessionId);
  while ((await evaluate("typeof busy")) !== "function") await delay(10);
  return {
    async run() {
      if (typeof (await evaluate("busy()")) !== "number") throw new Error("The page did not do its work.");
    },
    close() {
      socket.close();
    },
  };
}

/** CPU that the processes of a service have used so far, by kind. */
export function cpuOf(servicePid: number): Record<"browsers" | "instances" | "service", number> {
  const used = { browsers: 0, instances: 0, service: cpuMs(servicePid) };
  for (const { pid, command } of descendants(servicePid)) {
    const [program = ""] = command.split(" ");
    if (/chrom|headless/.test(program)) used.browsers += cpuMs(pid);
    else if (/\/(?:node|loader)$/.test(program)) used.instances += cpuMs(pid);
  }
  return used;
}

/** Measures telemetry of a page with 5,000 requests and 20,000 console lines: its cost, and lost events. */
export async function measureTelemetry(rounds: number): Promise<Figure[]> {
  const site = createServer((request, response) => {
    if (request.url?.startsWith("/data") === true)
      response.writeHead(200, { "content-type": "application/json" }).end(`{"url":${JSON.stringify(request.url)}}`);
    else response.writeHead(200, { "content-type": "text/html" }).end(page);
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${String((site.address() as AddressInfo).port)}/`;
  const folder = mkdtempSync(join(tmpdir(), "shoal-bench-"));
  const service = await startService(folder, [
    "--warm",
    "0",
    "--log-level",
    "warn",
    "--allow-private-hosts",
    "127.0.0.0/8",
  ]);
  try {
    const shoal = new Shoal({ baseUrl: service.baseUrl, apiKey: service.apiKey });
    const open = async (telemetry: CreateBrowser["telemetry"]) => {
      const { session_id: id, cdp_ws_url } = await shoal.browsers.create({ timeout_seconds: 3600, telemetry });
      return { id, ...(await drive(cdp_ws_url, url)) };
    };
    const watched = await open({ browser: { console: {}, network: {} } });
    const plain = await open(null);
    const cpu = { ours: { browsers: 0, instances: 0, service: 0 }, plain: { browsers: 0, instances: 0, service: 0 } };
    const count = async (side: keyof typeof cpu, run: () => Promise<void>) => {
      const before = cpuOf(service.pid);
      await run();
      // Wait for events in transit.
      await delay(300);
      const after = cpuOf(service.pid);
      for (const kind of ["browsers", "instances", "service"] as const)
        cpu[side][kind] += (after[kind] - before[kind]) / rounds;
    };
    const walls = { ours: [] as number[], plain: [] as number[] };
    const timed = async (side: keyof typeof walls, run: () => Promise<void>) => {
      const began = performance.now();
      await run();
      walls[side].push(performance.now() - began);
    };
    await interleaved(rounds, {
      ours: () => count("ours", () => timed("ours", () => watched.run())),
      plain: () => count("plain", () => timed("plain", () => plain.run())),
    });
    watched.close();
    plain.close();
    await shoal.browsers.delete(watched.id);
    // Users read the stored events; missing numbers were reported as lost.
    const expected = rounds * (lines + 2 * requests);
    let told = 0;
    let missed = 0;
    let latest = 0;
    for await (const { seq, event } of await shoal.browsers.telemetry.events(watched.id, {
      since: "24h",
      limit: 100,
    })) {
      missed += seq - latest - 1;
      latest = seq;
      const isOfWork =
        event.type === "console_log" ||
        ((event.type === "network_request" || event.type === "network_response") &&
          event.data?.url?.includes("/data?") === true);
      if (isOfWork) told++;
    }
    return [
      {
        name: `page of ${String(requests)} requests and ${String(lines)} lines`,
        unit: "ms",
        ours: percentile(walls.ours, 0.5),
        peer: percentile(walls.plain, 0.5),
        peerName: "without telemetry",
        target: "<= 1.3",
      },
      ...(["browsers", "instances", "service"] as const).map((kind) => ({
        name: `CPU of that: ${kind}`,
        unit: "ms",
        ours: cpu.ours[kind],
        peer: cpu.plain[kind],
        peerName: "without telemetry",
      })),
      {
        name: "events reported, of all",
        unit: "events",
        ours: told,
        peer: expected,
        peerName: "lines and requests",
        target: ">= 1",
      },
      { name: "events lost, and reported as lost", unit: "events", ours: missed },
      { name: "events lost silently", unit: "events", ours: Math.max(0, expected - told - missed) },
    ];
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
    site.closeAllConnections();
    site.close();
  }
}
