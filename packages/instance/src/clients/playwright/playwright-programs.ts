// One part of the program for both, because each needs all of Playwright.
export { runBinding } from "./binding-worker.ts";
export { runWorker } from "../../operations/playwright/playwright-worker.ts";
