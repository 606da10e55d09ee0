import { availableParallelism } from "node:os";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { LongestFirst } from "./tools/longest-first.ts";
import { slowTestLimitMs } from "./packages/testkit/src/limits.ts";
import { hookTimeout, modules, setupFiles, waits } from "./vitest.project.ts";

/** Fewer than in the fast suite: a slow file often starts several services or many browsers. */
const maxWorkers = Math.max(2, Math.ceil(availableParallelism() * 1.5));

const slowTests = (name: string, test: TestProjectInlineConfiguration["test"]): TestProjectInlineConfiguration => ({
  test: {
    name,
    ...modules,
    env: { SHOAL_TEST_VARIANTS: "all" },
    testTimeout: slowTestLimitMs,
    hookTimeout,
    setupFiles,
    expect: waits,
    ...test,
  },
});

/** Tests of `npm run test:all` that are too slow for `npm test` or have rarely failed. */
export default defineConfig({
  test: {
    projects: [
      slowTests("slow", {
        include: ["{packages,apps}/*/src/**/*.slow.ts", "tools/*.slow.ts"],
        exclude: ["**/node_modules/**", "**/*.alone.slow.ts"],
        maxWorkers,
      }),
      // Tests that `npm test` runs with one browser or placement: here with the others.
      slowTests("variants", {
        include: ["{packages,apps}/*/src/**/*.variants.test.ts"],
        env: { SHOAL_TEST_VARIANTS: "others" },
        maxWorkers,
      }),
      // Tests that measure memory or use the whole machine: one file at a time, after the others.
      slowTests("alone", {
        include: ["{packages,apps}/*/src/**/*.alone.slow.ts"],
        fileParallelism: false,
        sequence: { groupOrder: 1 },
      }),
    ],
    maxWorkers,
    sequence: { sequencer: LongestFirst },
    reporters: ["default", "./tools/closing-line.ts"],
  },
});
