// npm run newcomers -- [WAY…]: goes from a fresh clone to success as new users do, and prints the time of each step.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { agentUser } from "./mcp.ts";
import { platformEngineer } from "./platform.ts";
import { pythonDeveloper } from "./python.ts";
import { supportPerson } from "./support.ts";
import { developer } from "./typescript.ts";
import { Way } from "./way.ts";

const ways: Readonly<Record<string, (way: Way) => Promise<void>>> = {
  typescript: developer,
  python: pythonDeveloper,
  mcp: agentUser,
  platform: platformEngineer,
  support: supportPerson,
};

const { positionals, values } = parseArgs({ allowPositionals: true, options: { keep: { type: "boolean" } } });
const unknown = positionals.filter((name) => !(name in ways));
if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(", ")}. Ways: ${Object.keys(ways).join(", ")}. --keep leaves the folders.`);
  process.exit(2);
}

const repository = join(import.meta.dirname, "../../../..");
const folder = mkdtempSync(join(tmpdir(), "shoal-newcomers-"));
const clone = join(folder, "shoal");
execFileSync("git", ["clone", "--quiet", repository, clone], { stdio: "inherit" });
const walked: Way[] = [];
try {
  for (const name of positionals.length > 0 ? positionals : Object.keys(ways)) {
    console.log(`\n${name}`);
    // Everyone has the same machine, so what one has downloaded is there for the next.
    const way = new Way(name, { clone, home: join(folder, "home", name) });
    walked.push(way);
    try {
      await ways[name]?.(way);
    } catch (error) {
      console.log(`          ${error instanceof Error ? error.message : String(error)}`);
      process.exitCode = 1;
    } finally {
      await way.stopServices();
    }
  }
} finally {
  if (values.keep === true) console.log(`\nFolders: ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
}

console.log("\nway             time  steps  dead ends");
for (const { name, steps } of walked) {
  const seconds = steps.reduce((sum, step) => sum + step.seconds, 0);
  const ends = steps.flatMap(({ deadEnd, title }) => (deadEnd === undefined ? [] : [title]));
  const row = [name.padEnd(12), `${seconds.toFixed(0)} s`.padStart(7), String(steps.length).padStart(6)];
  console.log(`${row.join(" ")}  ${ends.length === 0 ? "none" : ends.join(", ")}`);
}
