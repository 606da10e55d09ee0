import { defineProject } from "vitest/config";

/**
 * How the tests of a package or app run: its sources in place of what was built.
 * The limits are generous, for real databases and browsers on machines that do other things as well: they end what hangs, and say nothing of speed.
 */
export const testsOf = (name: string) =>
  defineProject({
    ssr: { resolve: { conditions: ["@shoal/source"] } },
    test: { name, include: ["src/**/*.test.ts"], testTimeout: 60_000, hookTimeout: 60_000, expect: { poll: { timeout: 15_000 } } },
  });
