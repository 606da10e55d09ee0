// Puts small faults into the source, one at a time, in a separate worktree, and checks that tests turn red. The faults are
// in tools/mutations/faults.jsonl: `old` is in `file` once and becomes `new`; `before` and `after` are the test files that
// must fail, `before` at the commit before the test files were merged, with `fileBefore` where the file was then. With
// `build`, they start built programs.
// Usage: node tools/mutations.mjs [--before COMMIT] [--record] [NAME …]
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = fileURLToPath(new URL("..", import.meta.url));
const resultsFile = join(root, "tools/mutations/results.json");
const { values, positionals: names } = parseArgs({
  allowPositionals: true,
  options: { before: { type: "string" }, record: { type: "boolean", default: false } },
});
const side = values.before === undefined ? "after" : "before";
const all = readFileSync(join(root, "tools/mutations/faults.jsonl"), "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line));
for (const name of names) if (!all.some((fault) => fault.name === name)) throw new Error(`No fault is named ${name}.`);
// Faults of newer code have no test before the merges.
const faults = all.filter((fault) => fault[side].length > 0 && (names.length === 0 || names.includes(fault.name)));

/** @param {string} cwd @param {string[]} command */
function run(cwd, command) {
  const env = { ...process.env, CI: "true", NO_COLOR: "1" };
  const { status, stdout, stderr } = spawnSync(command[0] ?? "", command.slice(1), {
    cwd,
    env,
    encoding: "utf8",
    maxBuffer: 256 * 1024 * 1024,
  });
  return { status, output: `${stdout}${stderr}` };
}

/** @param {string} cwd @param {string[]} command */
function mustRun(cwd, command) {
  const { status, output } = run(cwd, command);
  if (status !== 0) throw new Error(`${command.join(" ")} ended with ${String(status)}:\n${output.slice(-4_000)}`);
}

/**
 * Runs test files, until one fails if `bail` is set. Returns the full name of the first failed test of each file;
 * the message if a file does not load.
 * @param {string} tree @param {{ slow: boolean, files: string[], bail: boolean }} options
 */
function failuresOf(tree, { slow, files, bail }) {
  const report = join(tree, "mutations-report.json");
  rmSync(report, { force: true });
  const config = slow ? "vitest.slow.config.ts" : "vitest.config.ts";
  // Earlier commits have short limits, which a busy machine exceeds.
  const reporter = ["--reporter=json", `--outputFile=${report}`, "--testTimeout=600000", "--hookTimeout=600000"];
  const { output } = run(tree, [
    ...["pnpm", "exec", "vitest", "run", "--config", config, ...reporter, ...(bail ? ["--bail=1"] : []), ...files],
  ]);
  if (!existsSync(report)) return [`no report: ${output.slice(-2_000)}`];
  const { testResults, numTotalTests } = JSON.parse(readFileSync(report, "utf8"));
  if (numTotalTests === 0) return [`no tests: ${output.slice(-2_000)}`];
  return testResults
    .filter((/** @type {{ status: string }} */ { status }) => status === "failed")
    .map((/** @type {any} */ { assertionResults, message }) => {
      const failed = assertionResults.find((/** @type {{ status: string }} */ { status }) => status === "failed");
      return failed?.fullName ?? `did not load: ${String(message).split("\n", 1)[0] ?? ""}`;
    });
}

/**
 * @param {string} tree @param {{ name: string, file: string, fileBefore?: string, old: string, new: string }} fault
 * @returns {{ file: string, text: string, mutated: string }}
 */
function mutationOf(tree, fault) {
  const name = (side === "before" ? fault.fileBefore : undefined) ?? fault.file;
  const file = join(tree, name);
  const text = readFileSync(file, "utf8");
  if (text.split(fault.old).length !== 2) throw new Error(`${fault.name}: \`old\` is not in ${name} exactly once.`);
  return { file, text, mutated: text.replace(fault.old, () => fault.new) };
}

/** The command `shoal`, with all that it starts. */
const buildWithTypes = ["pnpm", "exec", "turbo", "run", "build", "--filter=@shoal/cli", "--output-logs=errors-only"];
const tree = mkdtempSync(join(tmpdir(), "shoal-mutations-"));
const recorded = existsSync(resultsFile) ? JSON.parse(readFileSync(resultsFile, "utf8")) : {};
let survived = 0;
try {
  mustRun(root, ["git", "worktree", "add", "--detach", "--force", tree, values.before ?? "HEAD"]);
  for (const fault of faults) mutationOf(tree, fault);
  mustRun(tree, ["pnpm", "install", "--frozen-lockfile", "--prefer-offline"]);
  // Builds without types are newer than the commits of "before".
  const build = existsSync(join(tree, "tools/build.mjs")) ? ["node", "tools/build.mjs"] : buildWithTypes;
  mustRun(tree, build);
  for (const slow of [false, true]) {
    const files = [...new Set(faults.filter((fault) => fault.slow === slow).flatMap((fault) => fault[side]))];
    if (files.length === 0) continue;
    const failures = failuresOf(tree, { slow, files, bail: false });
    if (failures.length > 0) throw new Error(`Without a fault, these tests must pass:\n${failures.join("\n")}`);
    console.log(`green  ${String(files.length)} ${slow ? "slow " : ""}files without a fault`);
  }
  for (const fault of faults) {
    const { file, text, mutated } = mutationOf(tree, fault);
    writeFileSync(file, mutated);
    // Programs that tests start are built; the others run on sources.
    if (fault.build) mustRun(tree, build);
    const failures = failuresOf(tree, { slow: fault.slow, files: fault[side], bail: true });
    writeFileSync(file, text);
    if (fault.build) mustRun(tree, build);
    // A file that does not load proves nothing.
    const red = failures.find((failure) => !/^(?:did not load|no report|no tests):/.test(failure)) ?? null;
    if (red === null) survived += 1;
    console.log(`${red === null ? "GREEN " : "red   "} ${fault.name}: ${red ?? failures[0] ?? "no test failed"}`);
    recorded[fault.name] = { ...recorded[fault.name], [side]: red };
    if (values.record) writeFileSync(resultsFile, `${JSON.stringify(recorded, undefined, 2)}\n`);
  }
} finally {
  run(root, ["git", "worktree", "remove", "--force", tree]);
  rmSync(tree, { recursive: true, force: true });
}
console.log(`${String(faults.length - survived)} of ${String(faults.length)} faults turn a test red`);
process.exit(survived === 0 ? 0 : 1);
