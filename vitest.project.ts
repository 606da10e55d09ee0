import { availableParallelism } from "node:os";
import { defineProject } from "vitest/config";
import { testLimitMs, waitLimitMs } from "./packages/testkit/src/limits.ts";

// Variables of this machine that change the connections of programs: tests choose proxies and databases themselves.
for (const name of Object.keys(process.env))
  if (/^(?:(?:https?|all|no)_proxy|node_use_env_proxy)$/i.test(name) || /^PG[A-Z]+$/.test(name))
    Reflect.deleteProperty(process.env, name);

/**
 * Test files that run at once. Tests mostly wait for browsers and databases: one file at a time leaves two processors
 * idle for half of the time. A project does not inherit this setting from the root.
 */
export const maxWorkers = Math.max(2, Math.ceil(availableParallelism() * 1.5));

/** Hooks start services of one server or several. */
export const hookTimeout = testLimitMs * Number(process.env.SHOAL_TEST_SERVERS ?? "1");

/** The deadline of `expect.poll` is that of `eventually`. */
export const waits = { poll: { timeout: waitLimitMs } };

/** Settings for the tests of a package or app, which run on sources instead of built files. */
export const testsOf = (name: string) =>
  defineProject({
    ssr: { resolve: { conditions: ["@shoal/source"] } },
    test: {
      name,
      maxWorkers,
      include: ["src/**/*.test.ts"],
      testTimeout: testLimitMs,
      hookTimeout,
      expect: waits,
    },
  });
