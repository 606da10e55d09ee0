import type { Reporter, SerializedError, TestModule } from "vitest/node";

/** Ends a run with lines that any tool can read: "failed: FILE > NAME: MESSAGE" for each failure, then "4 passed, 0 failed, 0 skipped". */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string) => tests.filter((test) => test.result().state === state).length;
    // A file that does not load has no tests, so its failure would not be counted.
    const broken = modules.filter((module) => module.state() === "failed" && [...module.children.allTests()].length === 0).length;
    for (const test of tests) {
      const { errors, state } = test.result();
      if (state === "failed") console.log(`failed: ${test.module.relativeModuleId} > ${test.fullName}: ${errors[0]?.message.split("\n", 1)[0] ?? ""}`);
    }
    for (const module of modules) if (module.state() === "failed" && [...module.children.allTests()].length === 0) console.log(`failed: ${module.relativeModuleId} did not load`);
    // Errors beside every test fail the run too: a rejection that nobody waited for, a worker that ended by itself.
    for (const { message, stack } of unhandled) {
      const frames = stack?.split("\n").filter((line) => /^\s+at /.test(line) && !line.includes("/node_modules/")) ?? [];
      console.log(`failed: outside the tests: ${message.split("\n", 1)[0] ?? ""}${frames.slice(0, 4).join("")}`);
    }
    console.log(`${String(count("passed"))} passed, ${String(count("failed") + broken + unhandled.length)} failed, ${String(count("skipped"))} skipped`);
  }
}
