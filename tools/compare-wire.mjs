// Holds openapi.json against the wire reference, area by area, where that reference lies beside the checkout.
// Operations that are not declared yet are allowed; every other difference fails.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const compare = join(root, "../shared/wire/compare.mjs");
const areas = ["Profiles", "API Keys", "Browsers", "Browser Filesystem"];

if (!existsSync(compare)) {
  console.log("openapi.json was not compared: there is no ../shared/wire/compare.mjs beside this checkout.");
  process.exit(0);
}

let failed = false;
for (const area of areas) {
  const { status, stderr, stdout } = spawnSync(process.execPath, [compare, join(root, "openapi.json"), "--area", area], { encoding: "utf8" });
  const lines = stdout.trimEnd().split("\n");
  const counts = lines.pop() ?? "";
  const differences = lines.filter((line) => !line.endsWith(": operation missing"));
  // A crash of the comparison has no closing line with counts.
  const complete = /^operations \d+\/\d+, differences \d+/.test(counts);
  if (differences.length > 0 || !complete || (status !== 0 && lines.length === 0)) failed = true;
  console.log(`${area}: ${complete ? counts : `the comparison failed: ${stderr}`}`);
  for (const line of differences) console.log(`  ${line}`);
}
process.exit(failed ? 1 : 0);
