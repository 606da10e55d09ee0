import { availableParallelism } from "node:os";
import { defineProject } from "vitest/config";

/**
 * Test files that run at once. Tests mostly wait for browsers and databases: one file at a time leaves two processors
 * idle for half of the time. A project does not inherit this setting from the root.
 */
export const maxWorkers = Math.max(2, Math.ceil(availableParallelism() * 1.5));

/** Hooks start services of one server or several. */
export const hookTimeout = 120_000 * Number(process.env.SHOAL_TEST_SERVERS ?? "1");

/**
 * Settings for the tests of a package or app, which run on sources instead of built files.
 * The timeouts only end hanging tests: machines with real databases and browsers may be slow.
 */
export const testsOf = (name: string) =>
  defineProject({
    ssr: { resolve: { conditions: ["@shoal/source"] } },
    test: {
      name,
      maxWorkers,
      include: ["src/**/*.test.ts"],
      testTimeout: 60_000,
      hookTimeout,
      expect: { poll: { timeout: 30_000 } },
    },
  });
