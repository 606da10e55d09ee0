import { defineConfig } from "vitest/config";
import { testLimitMs } from "./packages/testkit/src/limits.ts";
import { LongestFirst } from "./tools/longest-first.ts";
import { globalSetup, hookTimeout, maxWorkers, modules, setupFiles, waits } from "./vitest.project.ts";

// A sequencer would replace the random orders of `test:steady`.
const isShuffled = process.argv.some((argument) => argument.startsWith("--sequence.shuffle"));

/** The fast suite. Tests run on sources instead of built files. */
export default defineConfig({
  test: {
    include: ["{packages,apps}/*/src/**/*.test.ts", "tools/*.test.ts"],
    exclude: ["**/node_modules/**", "**/*.built.test.ts"],
    // Most of the time of a small file is loading modules. All packages are one project, whose files share processes and
    // the modules in them: a project for each package would load most modules once for each package.
    isolate: false,
    ...modules,
    maxWorkers,
    setupFiles,
    globalSetup,
    testTimeout: testLimitMs,
    hookTimeout,
    expect: waits,
    sequence: isShuffled ? {} : { sequencer: LongestFirst },
    coverage: { provider: "v8", include: ["{packages,apps}/*/src/**/*.ts"] },
    reporters: ["default", "./tools/closing-line.ts"],
  },
});
