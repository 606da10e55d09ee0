// Runs the fast suite under conditions that make unsteady tests fail, and ends with a table of the rounds:
// three times with other orders of the files while two loops use the processors, and once with half of the processors.
// With --round, only this one: to repeat it, or to go on after an interruption, with the --seed of that run.
// Usage: node tools/test-steady.ts [--seed NUMBER] [--round 1-4] [ARGUMENT OF VITEST …]
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

// pnpm passes the `--` before its arguments on.
const givenArgs = process.argv.slice(2).filter((text) => text !== "--");
const { values, tokens } = parseArgs({
  args: givenArgs,
  options: { seed: { type: "string" }, round: { type: "string" } },
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
const own = tokens.filter((token) => token.kind === "option" && (token.name === "seed" || token.name === "round"));
const given = givenArgs.filter(
  (text, index) =>
    !own.some(
      (token) => token.index === index || (token.index === index - 1 && "value" in token && token.value === text),
    ),
);

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

const onlyRound = values.round === undefined ? undefined : Number(values.round);
if (onlyRound !== undefined && rounds[onlyRound - 1] === undefined) {
  console.error(`--round: "${String(values.round)}" is not a number from 1 to ${rounds.length}.`);
  process.exit(2);
}

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

const table = ["round    seed  minutes  failed  conditions"];
const allFailures: string[] = [];
for (const [index, round] of rounds.entries()) {
  if (onlyRound !== undefined && index !== onlyRound - 1) continue;
  console.log(
    `steady: ${round.title}, seed ${round.seed}. This round again: npm run test:steady -- --seed ${firstSeed} --round ${index + 1}`,
  );
  const startMs = performance.now();
  const failures = await run(round);
  const minutes = ((performance.now() - startMs) / 60_000).toFixed(1);
  allFailures.push(...failures.map((line) => `round ${index + 1}, ${line}`));
  table.push(
    [String(index + 1).padStart(5), String(round.seed).padStart(7), minutes.padStart(8)].join(" ") +
      `${String(failures.length).padStart(8)}  ${round.title}`,
  );
}
console.log([...allFailures, ...table].join("\n"));
process.exitCode = allFailures.length === 0 ? 0 : 1;
