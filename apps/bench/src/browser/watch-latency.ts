import { startService } from "@shoal/cli/service";
import { Shoal } from "@shoal/client";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type Figure, percentile } from "../measuring/figures.ts";
import { hostPathOf } from "../measuring/session-files.ts";

/** Writes files, each after the event of the previous one. @returns milliseconds from each write to its event. */
async function latencies(directory: string, count: number, next: (name: string) => Promise<void>): Promise<number[]> {
  const samples: number[] = [];
  for (let index = 0; index < count; index++) {
    const name = `file-${String(index)}.txt`;
    const arrived = next(name);
    const began = performance.now();
    writeFileSync(join(directory, name), "content");
    await arrived;
    samples.push(performance.now() - began);
  }
  return samples;
}

/** Measures the time from a file's write to its event at the client, against node:fs.watch in the writing process. */
export async function measureWatchLatency(count: number): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "shoal-bench-"));
  const service = await startService(folder, ["--warm", "0", "--log-level", "warn"]);
  try {
    const shoal = new Shoal({ baseUrl: service.baseUrl, apiKey: service.apiKey });
    const { session_id } = await shoal.browsers.create();
    const path = "/home/shoal/watched";
    await shoal.browsers.fs.createDirectory(session_id, { path });
    const directory = await hostPathOf(shoal, session_id, path, folder);

    const { watch_id } = await shoal.browsers.fs.watch.start(session_id, { path });
    const waiting = new Map<string, () => void>();
    const reading = (async () => {
      for await (const event of shoal.browsers.fs.watch.events(session_id, watch_id))
        if (event.type === "CREATE") waiting.get(basename(event.path))?.();
    })();
    const ours = await latencies(directory, count, (name) => new Promise((resolve) => waiting.set(name, resolve)));
    await shoal.browsers.fs.watch.stop(session_id, watch_id);
    await reading;

    const bare = join(folder, "bare");
    mkdirSync(bare);
    const watcher = watch(bare);
    const peer = await latencies(bare, count, async (name) => {
      for (;;) {
        const [, changed] = (await once(watcher, "change")) as [string, string];
        if (changed === name) return;
      }
    });
    watcher.close();
    return [0.5, 0.99].map((p) => ({
      name: `watch: write to event at the client, p${String(p * 100)}`,
      unit: "ms",
      ours: percentile(ours, p),
      peer: percentile(peer, p),
      peerName: "node:fs.watch in process",
    }));
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
