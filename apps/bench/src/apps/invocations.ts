import type { Shoal } from "@shoal/client";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { type Figure, percentile } from "../measuring/figures.ts";
import { bundledApp, deploy, manifest, withService } from "./deployed.ts";

const run = promisify(execFile);
/** The next program starts 200 ms after an invocation. */
const warmMs = 1_500;
const limit = 5;

interface Times {
  readonly start: number[];
  readonly life: number[];
}

/** Measures invocations one at a time next to the program by hand, then many at once under a limit. */
export async function measureInvocations(rounds: number, many: number): Promise<Figure[]> {
  const app = await bundledApp();
  const files = { "index.js": app, "package.json": JSON.stringify(manifest) };
  const warm = await withService([], async ({ shoal, folder }) => {
    await deploy(shoal, files);
    const script = join(folder, "entry.mjs");
    writeFileSync(script, `${app}\nconsole.log(Date.now() + (performance.now() % 1));\n`);
    const [ours, byHand] = [times(), times()];
    const [first] = await take(times(), () => invoked(shoal));
    for (let round = 0; round < rounds; round++) {
      await delay(warmMs);
      await take(ours, () => invoked(shoal));
      await take(byHand, async () => Number((await run(process.execPath, [script])).stdout));
    }
    return { first, ours, byHand };
  });
  const cold = await withService(["--warm-apps", "0"], async ({ shoal }) => {
    await deploy(shoal, files);
    const taken = times();
    for (let round = 0; round < rounds; round++) await take(taken, () => invoked(shoal));
    return taken;
  });
  const bursts = await withService(["--max-invocations-per-project", String(limit)], async ({ shoal }) => {
    await deploy(shoal, files);
    return burst(shoal, many);
  });
  const peerName = "node entry.js by hand";
  const figure = (name: string, ours: readonly number[], peer: readonly number[], target?: string): Figure => ({
    ...{ name: `${name}, p50`, unit: "ms", ours: percentile(ours, 0.5), peer: percentile(peer, 0.5), peerName },
    ...(target !== undefined && { target }),
  });
  return [
    figure("start of an action, warm", warm.ours.start, warm.byHand.start, "≤ 50 ms"),
    figure("invocation, warm", warm.ours.life, warm.byHand.life),
    figure("start of an action, cold", cold.start, warm.byHand.start),
    figure("invocation, cold", cold.life, warm.byHand.life),
    { name: "first invocation after a deployment", unit: "ms", ours: warm.first ?? Number.NaN },
    ...bursts,
  ];
}

function times(): Times {
  return { start: [], life: [] };
}

/** @param work - returns the time at which the program ran. @returns the time of the whole work. */
async function take({ start, life }: Times, work: () => Promise<number>): Promise<number[]> {
  const began = Date.now() + (performance.now() % 1);
  const began0 = performance.now();
  start.push((await work()) - began);
  life.push(performance.now() - began0);
  return life;
}

async function invoked(shoal: Shoal): Promise<number> {
  const { output, status, status_reason } = await shoal.invocations.create({ app_name: "bench", action_name: "start" });
  if (status !== "succeeded") throw new Error(`The action failed: ${String(status_reason)}`);
  return (JSON.parse(String(output)) as { at: number }).at;
}

/** Starts all at once; those above the limit wait. Counts outputs that are missing and runs in the log. */
async function burst(shoal: Shoal, many: number): Promise<Figure[]> {
  const began = performance.now();
  const runs = new Map<string, number>();
  const outputs = await Promise.all(
    Array.from({ length: many }, async (_, number) => {
      const created = await shoal.invocations.create({
        ...{ app_name: "bench", action_name: "run", payload: JSON.stringify({ number }) },
        ...{ async: true, async_timeout_seconds: 600, queue: true },
      });
      const ended = await shoal.invocations.wait(created.id, {
        totalTimeoutMs: 600_000,
        onEvent: (event) => {
          if (event.event === "log") runs.set(event.message, (runs.get(event.message) ?? 0) + 1);
        },
      });
      return ended.output === String(number);
    }),
  );
  const name = `${String(many)} at once under a limit of ${String(limit)}`;
  const twice = [...runs.values()].filter((count) => count > 1).length;
  return [
    { name: `${name}, each`, unit: "ms", ours: (performance.now() - began) / many },
    { name: `${name}, lost`, unit: "runs", ours: outputs.filter((isRight) => !isRight).length, target: "0" },
    { name: `${name}, run twice`, unit: "runs", ours: twice, target: "0" },
  ];
}
