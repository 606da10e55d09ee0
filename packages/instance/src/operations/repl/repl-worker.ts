import * as playwright from "playwright-core";
import { ReplBrowser } from "./repl-browser.ts";
import { helpersOf } from "./helpers.ts";
import { Cells, endOf } from "./evaluate-cell.ts";
import { replGlobals } from "./help.ts";
import type { RunCell } from "./messages.ts";
import { captureOutput, tell } from "./repl-output.ts";

/** The process of `browsers.repl`: a channel to the instance, and the code of its callers. */
export function runRepl(): void {
  captureOutput("stdout");
  captureOutput("stderr");
  process.on("uncaughtException", (reason: unknown) => {
    const { error, stack } = endOf(reason instanceof Error ? (reason.stack ?? String(reason)) : String(reason));
    tell({ type: "fatal", error, stack }, () => process.exit(1));
  });
  process.on("disconnect", () => process.exit());
  const browser = new ReplBrowser();
  const helpers = Object.freeze(helpersOf(browser));
  for (const [name, value] of Object.entries({ ...replGlobals(), ...helpers, browser: helpers }))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  const module = { ...playwright, default: playwright };
  const cells = new Cells({ "playwright-core": module, patchright: module });
  process.on("message", ({ cell, code, endpoint, visibleTarget }: RunCell) => {
    if (endpoint === undefined) delete process.env.CDP_ENDPOINT;
    else process.env.CDP_ENDPOINT = endpoint;
    browser.use({ endpoint, visibleTarget });
    void cells.run(code, cell).then((end) => {
      tell({ type: "done", end });
    });
  });
  tell({ type: "ready" });
}
