import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { testLimitMs, waitLimitMs } from "./packages/testkit/src/limits.ts";

if (process.features.typescript === false)
  throw new Error(
    `Tests need Node 24.9 or later, and this is ${process.version}: run npm test -- FILE, which fetches it.`,
  );

// Variables of this machine that change the connections of programs: tests choose proxies and databases themselves.
for (const name of Object.keys(process.env))
  if (/^(?:(?:https?|all|no)_proxy|node_use_env_proxy)$/i.test(name) || /^PG[A-Z]+$/.test(name))
    Reflect.deleteProperty(process.env, name);

/**
 * Test files that run at once. Tests mostly wait for browsers and databases: on two processors, three files at a time took
 * 355 seconds, four 282.
 */
export const maxWorkers = availableParallelism() * 2;

/** Hooks of helpers, for each test file. */
export const setupFiles = [fileURLToPath(new URL("vitest.each-file.ts", import.meta.url))];

/** A PostgreSQL for the run, which starts when a test first needs it. */
export const globalSetup = [
  fileURLToPath(new URL("packages/database/src/testing/shared-databases.ts", import.meta.url)),
];

/** Hooks start services of one server or several. */
export const hookTimeout = testLimitMs * Number(process.env.SHOAL_TEST_SERVERS ?? "1");

/** The deadline of `expect.poll` is that of `eventually`. */
export const waits = { poll: { timeout: waitLimitMs } };

/**
 * Node imports the modules of tests, and strips their types. Vite's module runner transforms each module first, and its calls of
 * imported functions take more time: without it, the workers need a quarter less of the processors.
 */
export const modules = {
  execArgv: ["--conditions=@shoal/source"],
  experimental: { viteModuleRunner: false, nodeLoader: false },
};
