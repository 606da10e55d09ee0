// Holds openapi.json against the wire reference, where that lies beside the checkout: every operation of it, and no difference but those
// that tools/wire-differences.json names with their reason. An entry there that is no difference any more fails too.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const compare = join(root, "../shared/wire/compare.mjs");

if (!existsSync(compare)) {
  console.log("openapi.json was not compared: there is no ../shared/wire/compare.mjs beside this checkout.");
  process.exit(0);
}

/** @type {Record<string, string>} reasons by the line that the comparison prints */
const kept = JSON.parse(readFileSync(join(root, "tools/wire-differences.json"), "utf8"));
const { stderr, stdout } = spawnSync(process.execPath, [compare, join(root, "packages/contract/openapi.json")], { encoding: "utf8" });
const lines = stdout.trimEnd().split("\n");
const counts = /^operations (\d+)\/(\d+), differences (\d+)/.exec(lines.pop() ?? "");
if (counts === null) {
  // A crash of the comparison has no closing line with counts.
  console.error(`the comparison failed: ${stderr}`);
  process.exit(1);
}
const [, found, wanted] = counts;
const differences = lines.filter((line) => line !== "");
const unexplained = differences.filter((line) => !Object.hasOwn(kept, line));
const idle = Object.keys(kept).filter((line) => !differences.includes(line));
const unreasoned = Object.entries(kept).filter(([, reason]) => typeof reason !== "string" || reason.length < 20);
for (const line of unexplained) console.error(`  ${line}`);
for (const line of idle) console.error(`  tools/wire-differences.json names what is no difference: ${line}`);
for (const [line] of unreasoned) console.error(`  tools/wire-differences.json gives no reason for: ${line}`);
console.log(`operations ${found}/${wanted}, differences ${unexplained.length}, kept on purpose ${differences.length - unexplained.length}`);
process.exit(unexplained.length + idle.length + unreasoned.length > 0 || found !== wanted || Number(counts[3]) !== differences.length ? 1 : 0);
