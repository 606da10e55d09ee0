import { relative } from "node:path";
import type { Reporter, SerializedError, TestModule } from "vitest/node";

/** Ends a run with lines that any tool can read: "failed: FILE > NAME: MESSAGE" for each failure, then "4 passed, 0 failed, 0 skipped". */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string) => tests.filter((test) => test.result().state === state).length;
    for (const test of tests) {
      const { errors, state } = test.result();
      if (state === "failed") console.log(`failed: ${fileOf(test.module)} > ${test.fullName}: ${firstLine(errors)}`);
    }
    // A file that does not load, or whose set-up fails, has no test that failed.
    const broken = modules.filter((module) => module.state() === "failed" && ![...module.children.allTests("failed")].length);
    for (const module of broken)
      console.log(
        `failed: ${fileOf(module)} did not load or could not be set up: ${firstLine([...module.errors(), ...[...module.children.allSuites()].flatMap((suite) => suite.errors())])}`,
      );
    // Errors beside every test fail the run too: a rejection that nobody waited for, a worker that ended by itself.
    for (const { message, stack, VITEST_TEST_PATH: path } of unhandled) {
      const frames = stack?.split("\n").filter((line) => /^\s+at /.test(line) && !line.includes("/node_modules/")) ?? [];
      console.log(
        `failed: ${typeof path === "string" ? `${relative(process.cwd(), path)} > ` : ""}outside the tests: ${message.split("\n", 1)[0] ?? ""}${frames.slice(0, 4).join("")}`,
      );
    }
    console.log(
      `${String(count("passed"))} passed, ${String(count("failed") + broken.length + unhandled.length)} failed, ${String(count("skipped"))} skipped`,
    );
  }
}

/** From the root of the repository, as vitest takes it. */
const fileOf = (module: TestModule) => relative(process.cwd(), module.moduleId);

const firstLine = (errors: readonly { message: string }[]) => errors[0]?.message.split("\n", 1)[0] ?? "";
