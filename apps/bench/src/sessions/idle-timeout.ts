import { startService } from "@shoal/cli/service";
import { Shoal } from "@shoal/client";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Figure, percentile } from "../measuring/figures.ts";

/** The shortest possible timeout in seconds. */
const timeoutSeconds = 10;
const patienceMs = 60_000;

/** Measures the time from a session's last use to its end, both by the service's clock. @returns milliseconds. */
async function idleOf(shoal: Shoal): Promise<number> {
  const { session_id: id } = await shoal.browsers.create({ timeout_seconds: timeoutSeconds });
  // A use in the middle of the timeout, which must restart it.
  await delay((timeoutSeconds * 1000) / 3);
  await shoal.browsers.process.run(id, { command: "true" });
  await delay((timeoutSeconds * 1000) / 3);
  const { expires_at: expiresAt } = await shoal.browsers.get(id);
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const { deleted_at: endedAt, ended_reason: reason } = await shoal.browsers.get(id, { include_deleted: true });
    if (reason !== undefined) {
      if (reason !== "timeout" || expiresAt == null || endedAt == null)
        throw new Error(`The session ended otherwise: ${reason}.`);
      return Date.parse(endedAt) - Date.parse(expiresAt) + timeoutSeconds * 1000;
    }
    if (performance.now() > deadline) throw new Error("The session did not end.");
    await delay(100);
  }
}

/** Measures how exactly unused sessions end. @param sessions - two at a time. */
export async function measureIdleTimeout(sessions: number): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "shoal-bench-"));
  const service = await startService(join(folder, "data"), ["--warm", "0", "--log-level", "warn"]);
  try {
    const shoal = new Shoal({ baseUrl: service.baseUrl, apiKey: service.apiKey });
    const found: number[] = [];
    while (found.length < sessions) found.push(...(await Promise.all([idleOf(shoal), idleOf(shoal)])));
    const peer = timeoutSeconds * 1000;
    const figure = (name: string, ours: number, target: string): Figure => ({
      name,
      unit: "ms",
      ours,
      peer,
      peerName: "timeout_seconds",
      target,
    });
    // Within a second in both directions.
    return [
      figure("end after the last use, soonest", Math.min(...found), ">= 0.9"),
      figure("end after the last use, p50", percentile(found, 0.5), "<= 1.1"),
      figure("end after the last use, latest", Math.max(...found), "<= 1.1"),
    ];
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
