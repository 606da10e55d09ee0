import { relative } from "node:path";
import type { Reporter, SerializedError, TestModule } from "vitest/node";

const slowestShown = 10;

/**
 * Prints the slowest files, then lines that other programs can parse: `failed: FILE > NAME: MESSAGE` for each failure and
 * `4 passed, 0 failed, 0 skipped` at the end.
 */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    if (modules.length > slowestShown) printSlowest(modules);
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string) => tests.filter((test) => test.result().state === state).length;
    for (const test of tests) {
      const { errors, state } = test.result();
      if (state === "failed") console.log(`failed: ${fileOf(test.module)} > ${test.fullName}: ${firstLine(errors)}`);
    }
    // A file that does not load, or whose set-up fails, has no failed test.
    const broken = modules.filter(
      (module) => module.state() === "failed" && ![...module.children.allTests("failed")].length,
    );
    for (const module of broken)
      console.log(
        `failed: ${fileOf(module)} did not load or its set-up failed: ${firstLine([...module.errors(), ...[...module.children.allSuites()].flatMap((suite) => suite.errors())])}`,
      );
    // Unhandled rejections and workers that exit also fail the run.
    for (const { message, stack, VITEST_TEST_PATH: path } of unhandled) {
      const frames =
        stack?.split("\n").filter((line) => /^\s+at /.test(line) && !line.includes("/node_modules/")) ?? [];
      console.log(
        `failed: ${typeof path === "string" ? `${relative(process.cwd(), path)} > ` : ""}outside the tests: ${message.split("\n", 1)[0] ?? ""}${frames.slice(0, 4).join("")}`,
      );
    }
    console.log(
      `${String(count("passed"))} passed, ${String(count("failed") + broken.length + unhandled.length)} failed, ${String(count("skipped"))} skipped`,
    );
  }
}

function printSlowest(modules: readonly TestModule[]): void {
  const timed = modules.map((module) => {
    const { collectDuration, duration, setupDuration } = module.diagnostic();
    return { file: fileOf(module), seconds: (collectDuration + duration + setupDuration) / 1_000 };
  });
  console.log(`Slowest of ${String(modules.length)} files:`);
  for (const { file, seconds } of timed.sort((a, b) => b.seconds - a.seconds).slice(0, slowestShown))
    console.log(`${seconds.toFixed(1).padStart(7)} s  ${file}`);
}

/** Path from the root of the repository, in the form that Vitest accepts as an argument. */
const fileOf = (module: TestModule) => relative(process.cwd(), module.moduleId);

const firstLine = (errors: readonly { message: string }[]) => errors[0]?.message.split("\n", 1)[0] ?? "";
