// One part of the program for all, because each needs all of Playwright.
export { runBinding } from "./binding-worker.ts";
export { runRepl } from "../../operations/repl/repl-worker.ts";
export { runWorker } from "../../operations/playwright/playwright-worker.ts";
