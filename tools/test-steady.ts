// Runs the fast suite under conditions that make unsteady tests fail, and lists the failures:
// three times with other orders of the files while two loops use the processors, and once with half of the processors.
// Usage: node tools/test-steady.ts [--seed NUMBER] [ARGUMENT OF VITEST …]
import { type ChildProcess, spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";

const busyLoops = 2;
const orders = 3;

interface Round {
  readonly title: string;
  readonly seed: number;
  /** Runs the command on some of the processors. */
  readonly prefix: readonly string[];
  readonly loops: number;
}

const { values, tokens } = parseArgs({
  options: { seed: { type: "string" } },
  strict: false,
  allowPositionals: true,
  tokens: true,
});
const firstSeed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000));
if (!Number.isSafeInteger(firstSeed) || firstSeed < 0) {
  console.error(
    `--seed: "${String(values.seed)}" is not a whole number from 0. Use the seed that an earlier run printed.`,
  );
  process.exit(2);
}
const seedAt = tokens.flatMap((token) => (token.kind === "option" && token.name === "seed" ? [token.index] : []));
const given = process.argv
  .slice(2)
  .filter((text, index) => !seedAt.includes(index) && !(seedAt.includes(index - 1) && text === values.seed));

const half = Math.max(1, Math.floor(availableParallelism() / 2));
const rounds: readonly Round[] = [
  ...Array.from({ length: orders }, (_, index) => ({
    title: `order ${index + 1} of ${orders}, with ${busyLoops} busy loops`,
    seed: firstSeed + index,
    prefix: [],
    loops: busyLoops,
  })),
  {
    title: `on ${half} of ${availableParallelism()} processors`,
    seed: firstSeed + orders,
    prefix: process.platform === "linux" ? ["taskset", "--cpu-list", `0-${half - 1}`] : [],
    loops: 0,
  },
];

let loops: readonly ChildProcess[] = [];
const endLoops = (): void => {
  for (const loop of loops) loop.kill("SIGKILL");
  loops = [];
};
process.on("exit", endLoops);
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    process.exit(1);
  });

/** @returns the lines of the failed tests, and one line if Vitest itself failed */
async function run({ seed, prefix, loops: count }: Round): Promise<readonly string[]> {
  loops = Array.from({ length: count }, () => spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }));
  const [program = "", ...args] = [
    ...[...prefix, "pnpm", "exec", "vitest", "run"],
    ...["--sequence.shuffle.files", `--sequence.seed=${seed}`, ...given],
  ];
  const vitest = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<number>((resolve, reject) => {
    vitest.once("error", reject);
    vitest.once("close", (status) => {
      resolve(status ?? 1);
    });
  });
  const failures: string[] = [];
  for await (const line of createInterface({ input: vitest.stdout })) {
    console.log(line);
    if (line.startsWith("failed: ")) failures.push(line);
  }
  const status = await ended;
  endLoops();
  return status !== 0 && failures.length === 0 ? [`failed: Vitest ended with status ${status}`] : failures;
}

const results: string[] = [];
let failed = 0;
for (const round of rounds) {
  console.log(`steady: ${round.title}, seed ${round.seed}`);
  const failures = await run(round);
  failed += failures.length;
  results.push(`steady: ${round.title}, seed ${round.seed}: ${failures.length} failed`, ...failures);
}
console.log(results.join("\n"));
process.exitCode = failed === 0 ? 0 : 1;
