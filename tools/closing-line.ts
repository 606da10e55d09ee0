import type { Reporter, TestModule } from "vitest/node";

/** Ends a run with a line that any tool can read: "4 passed, 0 failed, 0 skipped". */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string) => tests.filter((test) => test.result().state === state).length;
    // A file that does not load has no tests, so its failure would not be counted.
    const broken = modules.filter((module) => module.state() === "failed" && [...module.children.allTests()].length === 0).length;
    console.log(`${String(count("passed"))} passed, ${String(count("failed") + broken)} failed, ${String(count("skipped"))} skipped`);
  }
}
