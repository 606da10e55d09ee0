// Runs slow tests until a time: first those near to the change, then the others in an order that rotates. Names the files
// that did not run. A file that has started finishes.
// Usage: node tools/slow-tests.ts [--until SECONDS_SINCE_1970] [--record]
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createVitest } from "vitest/node";
import ClosingLine from "./closing-line.ts";
import { fileOf, fileSeconds, secondsOf } from "./longest-first.ts";
import { nextBatch } from "./slow-tests/batches.ts";
import { changedSince, describeCommit, findBase } from "./slow-tests/changes.ts";
import { ImportGraph } from "./slow-tests/import-graph.ts";
import { currentSeed, orderFiles } from "./slow-tests/order.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
process.chdir(root);
const { values } = parseArgs({ options: { until: { type: "string" }, record: { type: "boolean", default: false } } });
const until = values.until === undefined ? Number.POSITIVE_INFINITY : Number(values.until) * 1_000;
if (Number.isNaN(until)) throw new Error(`--until ${String(values.until)}: expected seconds since 1970.`);
const seed = Number(process.env.SHOAL_CI_SEED ?? currentSeed());
if (!Number.isSafeInteger(seed) || seed < 0) throw new Error("SHOAL_CI_SEED must be an integer of 0 or more.");

const closing = new ClosingLine({ atEndOfRun: false });
const vitest = await createVitest({
  config: join(root, "vitest.slow.config.ts"),
  watch: false,
  reporters: ["default", closing],
});
// Without this, reporters do not know Vitest.
await vitest.standalone();
const specifications = new Map((await vitest.globTestSpecifications()).map((spec) => [fileOf(spec), spec]));
const workers = vitest.config.maxWorkers;

const base = findBase(root);
const changed = base === undefined ? [] : changedSince(root, base);
const distances = new ImportGraph(root).distancesFrom(changed);
const ordered = orderFiles([...specifications.keys()], distances, seed);
const touched = ordered.filter((file) => distances.has(file)).length;
console.log(
  base === undefined
    ? "No earlier commit: all slow files run in the order of the seed."
    : `${String(changed.length)} files changed since ${describeCommit(root, base)}. They touch ${String(touched)} of ${String(ordered.length)} slow files, which run first.`,
);
console.log(`Order of the others: SHOAL_CI_SEED=${String(seed)}`);

let waiting = ordered.map((path) => ({
  path,
  seconds: secondsOf(path),
  alone: specifications.get(path)?.project.name === "alone",
}));
/** Real seconds of a file in relation to the recorded ones. */
let slowness = 1;
for (;;) {
  const batch = nextBatch(waiting, (until - Date.now()) / 1_000 / slowness, workers);
  if (batch.length === 0) break;
  await vitest.runTestSpecifications(batch.flatMap(({ path }) => specifications.get(path) ?? []));
  waiting = waiting.filter((file) => !batch.includes(file));
  const taken = [...closing.seconds];
  const expected = taken.reduce((sum, [file]) => sum + secondsOf(file), 0);
  slowness = Math.max(0.2, taken.reduce((sum, [, seconds]) => sum + seconds, 0) / expected);
}
if (values.record) {
  const seconds = { ...fileSeconds };
  for (const [file, taken] of closing.seconds) seconds[file] = Math.max(1, Math.round(taken));
  const kept = Object.entries(seconds).filter(([file]) => specifications.has(file));
  const text = JSON.stringify(Object.fromEntries(kept.toSorted(([a], [b]) => (a < b ? -1 : 1))), undefined, 2);
  writeFileSync(join(root, "tools/slow-tests/seconds.json"), `${text}\n`);
}
await vitest.close();

for (const { path } of waiting) console.log(`not run: ${path}${distances.has(path) ? " (touched by the change)" : ""}`);
console.log(
  `${String(ordered.length - waiting.length)} of ${String(ordered.length)} slow files ran. \`npm run test:slow\` runs all of them.`,
);
process.exit(closing.print() === 0 ? 0 : 1);
