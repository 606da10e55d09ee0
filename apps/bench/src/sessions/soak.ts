import { startService, type ServiceProcess } from "@shoal/cli/service";
import { Shoal } from "@shoal/client";
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import { chromium } from "playwright-core";
import type { Figure } from "../measuring/figures.ts";
import { descendants, residentBytes } from "../measuring/processes.ts";

const atOnce = 4;
const megabyte = 1024 * 1024;

/** In bytes, after a garbage collection; read through the inspector, which listens on loopback meanwhile. */
async function heapBytes(service: ServiceProcess): Promise<number> {
  if (!service.output().includes("Debugger listening on ws:")) process.kill(service.pid, "SIGUSR1");
  let address: string | undefined;
  while ((address = /Debugger listening on (ws:\S+)/.exec(service.output())?.[1]) === undefined) await delay(20);
  const socket = new WebSocket(address);
  await new Promise<unknown>((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", () => {
      reject(new Error("The service's inspector does not answer."));
    });
  });
  let id = 0;
  const send = (method: string): Promise<Record<string, unknown>> =>
    new Promise((resolve) => {
      const mine = ++id;
      socket.addEventListener("message", function listen({ data }) {
        const answer = JSON.parse(String(data)) as { id?: number; result?: Record<string, unknown> };
        if (answer.id !== mine) return;
        socket.removeEventListener("message", listen);
        resolve(answer.result ?? {});
      });
      socket.send(JSON.stringify({ id: mine, method }));
    });
  for (let round = 0; round < 3; round++) await send("HeapProfiler.collectGarbage");
  const { usedSize } = await send("Runtime.getHeapUsage");
  socket.close();
  return Number(usedSize);
}

/** Number of the service's open files, without keep-alive connections. */
function openFiles(pid: number): number {
  return readdirSync(`/proc/${String(pid)}/fd`).filter((fd) => {
    try {
      return !readlinkSync(`/proc/${String(pid)}/fd/${fd}`).startsWith("socket:");
    } catch {
      return false; // It was closed meanwhile.
    }
  }).length;
}

/** Everything that a session may leave. */
async function traces(
  service: ServiceProcess,
  folder: string,
): Promise<{ processes: number; files: number; sockets: number; rows: number }> {
  const sessions = join(folder, "sessions");
  const servers = readdirSync(sessions).filter((name) => name.startsWith("server-"));
  const client = new Client({ host: join(folder, "database", "run"), user: "shoal", database: "postgres" });
  await client.connect();
  const { rows } = await client.query<{ count: string }>(
    "select count(*) from sessions where ended_at is null or ended_reason <> 'deleted'",
  );
  await client.end();
  return {
    processes: descendants(service.pid).filter(({ command }) => command !== "" && !command.includes("postgres")).length,
    files: servers.flatMap((name) => readdirSync(join(sessions, name))).filter((name) => name !== "owner.json").length,
    sockets: readFileSync("/proc/net/unix", "utf8")
      .split("\n")
      .filter((line) => line.includes(sessions)).length,
    rows: Number(rows[0]?.count),
  };
}

/** Four sessions at a time. @param cycles - number of sessions; memory is compared with that after the first tenth. */
export async function measureSoak(cycles: number): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "shoal-bench-"));
  const service = await startService(folder, ["--warm", "0", "--log-level", "warn"], {
    ...process.env,
    NODE_OPTIONS: "--inspect-port=0",
  });
  try {
    const shoal = new Shoal({ baseUrl: service.baseUrl, apiKey: service.apiKey });
    async function live(index: number): Promise<void> {
      const { cdp_ws_url, session_id } = await shoal.browsers.create({
        name: `soak-${String(index)}`,
        tags: { soak: String(index) },
      });
      await shoal.browsers.fs.writeFile(session_id, "x".repeat(10_000), { path: "/tmp/file" });
      if (index % 5 === 0) {
        const browser = await chromium.connectOverCDP(cdp_ws_url);
        await browser.contexts()[0]?.newPage();
        await browser.close();
      }
      await shoal.browsers.delete(session_id);
    }
    async function run(from: number, to: number): Promise<void> {
      let next = from;
      await Promise.all(
        Array.from({ length: atOnce }, async () => {
          while (next < to) await live(next++);
        }),
      );
      // A delete returns before the kernel has removed the box.
      for (let waited = 0; waited < 10_000; waited += 100) {
        const { files, processes } = await traces(service, folder);
        if (files + processes === 0) return;
        await delay(100);
      }
    }
    const first = Math.ceil(cycles / 10);
    await run(0, first);
    const before = {
      heap: await heapBytes(service),
      resident: residentBytes(service.pid),
      open: openFiles(service.pid),
    };
    await run(first, cycles);
    const after = {
      heap: await heapBytes(service),
      resident: residentBytes(service.pid),
      open: openFiles(service.pid),
    };
    const left = await traces(service, folder);
    const peerName = `after ${String(first)} sessions`;
    return [
      {
        name: `heap of the service after ${String(cycles)} sessions`,
        unit: "MB",
        ours: after.heap / megabyte,
        peer: before.heap / megabyte,
        peerName,
        target: "<= 1.05",
      },
      {
        name: `memory of the service after ${String(cycles)} sessions (RSS)`,
        unit: "MB",
        ours: after.resident / megabyte,
        peer: before.resident / megabyte,
        peerName,
        target: "<= 1.05",
      },
      { name: "open files", unit: "", ours: after.open, peer: before.open, peerName, target: "<= 1" },
      ...Object.entries(left).map(([name, count]) => ({
        name: `${name} left of ${String(cycles)} sessions`,
        unit: "",
        ours: count,
      })),
    ];
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
