import { startService } from "@shoal/cli/service";
import { Shoal } from "@shoal/client";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { join } from "node:path";
import type { Figure } from "../measuring/figures.ts";
import { descendants, proportionalBytes, residentBytes } from "../measuring/processes.ts";

const megabyte = 1024 * 1024;
const atRestTogether = 8;
/** Time until a browser is idle after its start. */
const restMs = 10_000;

/** Measures memory of the service and of an idle instance with its Chromium, at the start and after many sessions. */
export async function measureMemory(sessions: number): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "shoal-bench-"));
  const service = await startService(folder, ["--warm", "0", "--log-level", "warn"]);
  try {
    const shoal = new Shoal({ baseUrl: service.baseUrl, apiKey: service.apiKey });
    const atRest = residentBytes(service.pid);
    const atRestShare = proportionalBytes(service.pid);
    // The number of the embedded database's processes varies with its connections.
    const running = () => descendants(service.pid).filter(({ command }) => !command.includes("postgres")).length;
    const before = running();

    const { session_id } = await shoal.browsers.create();
    const inBox = descendants(service.pid);
    const program = (name: RegExp) => inBox.filter(({ command }) => name.test(command.split(" ")[0] ?? ""));
    const instance = program(/\/(?:node|loader)$/);
    const chromium = program(/chrom|headless/);
    const sum = (processes: { pid: number }[]) =>
      processes.reduce((total, { pid }) => total + proportionalBytes(pid), 0) / megabyte;
    const figures: Figure[] = [
      {
        name: "one idle instance (PSS)",
        unit: "MB",
        ours: sum(instance),
        peer: sum(chromium),
        peerName: "its Chromium",
      },
    ];
    await shoal.browsers.delete(session_id);

    // Each with one page, like idle sessions.
    const many = await Promise.all(
      Array.from({ length: atRestTogether }, () => shoal.browsers.create({ timeout_seconds: 3600 })),
    );
    await delay(restMs);
    const boxes = descendants(service.pid).filter(({ command }) => !command.includes("postgres"));
    const each = (sum(boxes) + (proportionalBytes(service.pid) - atRestShare) / megabyte) / many.length;
    figures.push(
      { name: `one of ${String(many.length)} sessions at rest, all of it (PSS)`, unit: "MB", ours: each },
      { name: "sessions per GB of memory, at rest", unit: "", ours: 1024 / each },
    );
    await Promise.all(many.map(({ session_id: id }) => shoal.browsers.delete(id)));

    let left = sessions;
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        while (left-- > 0) {
          const session = await shoal.browsers.create();
          await shoal.browsers.delete(session.session_id);
        }
      }),
    );
    // A delete returns before the kernel has removed the box.
    for (let waited = 0; running() > before && waited < 5000; waited += 50) await delay(50);
    figures.push({
      name: `service after ${String(sessions)} sessions (RSS)`,
      unit: "MB",
      ours: residentBytes(service.pid) / megabyte,
      peer: atRest / megabyte,
      peerName: "the service at rest",
    });
    figures.push({
      name: `processes after ${String(sessions)} sessions`,
      unit: "",
      ours: running(),
      peer: before,
      peerName: "at rest",
    });
    return figures;
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
