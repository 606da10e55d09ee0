import { startService } from "@shoal/cli/service";
import { type CreateBrowser, Shoal } from "@shoal/client";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Figure, percentile } from "../measuring/figures.ts";
import { settled } from "../measuring/processes.ts";

const profile = { name: "signed-in" };
/** Each starts the warm browser again; the first is the baseline. */
const variants: Readonly<Record<string, CreateBrowser>> = {
  stealth: { stealth: true },
  "a profile": { profile },
  "a profile and stealth": { profile, stealth: true },
};

/** Measures `browsers.create` with a profile from warm browsers, next to another reason to start the browser again. */
export async function measureProfileCreates(rounds: number): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "shoal-bench-"));
  const service = await startService(folder, ["--warm", "1", "--log-level", "warn"]);
  const samples = new Map(Object.keys(variants).map((name) => [name, [] as number[]]));
  try {
    const shoal = new Shoal({ baseUrl: service.baseUrl, apiKey: service.apiKey });
    await shoal.profiles.create(profile);
    const first = await shoal.browsers.create({ profile: { ...profile, save_changes: true } });
    await shoal.browsers.delete(first.session_id);
    for (let round = -1; round < rounds; round++) {
      for (const [name, request] of Object.entries(variants)) {
        await settled(service.pid, 1);
        const began = performance.now();
        const { session_id } = await shoal.browsers.create(request);
        if (round >= 0) samples.get(name)?.push(performance.now() - began);
        await shoal.browsers.delete(session_id);
      }
    }
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  const [baseline = [], ...others] = [...samples.values()];
  const names = Object.keys(variants).slice(1);
  return others.map((taken, index) => ({
    name: `create with ${names[index] ?? ""}, p50`,
    unit: "ms",
    ours: percentile(taken, 0.5),
    peer: percentile(baseline, 0.5),
    peerName: "create with stealth",
  }));
}
