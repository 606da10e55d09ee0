import * as playwright from "playwright-core";
import { ReplBrowser } from "./repl-browser.ts";
import { helpersOf } from "./helpers.ts";
import { Cells, endOf } from "./evaluate-cell.ts";
import { replGlobals, webMcpOf } from "./help.ts";
import type { PresentBrowser, ReplOrder, ReplQuestion, RunCell } from "./messages.ts";
import { captureOutput, tell } from "./repl-output.ts";
import { ToolFunctions } from "./tool-functions.ts";
import { WorkerChannel } from "./worker-channel.ts";

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
  const channel = new WorkerChannel();
  const functions = new ToolFunctions(channel.ask);
  const helpers = Object.freeze({ ...helpersOf(browser), webmcp: webMcpOf(channel.ask, functions) });
  for (const [name, value] of Object.entries({ ...replGlobals(), ...helpers, browser: helpers }))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  const module = { ...playwright, default: playwright };
  const cells = new Cells({ "playwright-core": module, patchright: module });
  const use = ({ endpoint, visibleTarget }: PresentBrowser): void => {
    if (endpoint === undefined) delete process.env.CDP_ENDPOINT;
    else process.env.CDP_ENDPOINT = endpoint;
    browser.use({ endpoint, visibleTarget });
  };
  const run = ({ cell, code, ...present }: RunCell): void => {
    use(present);
    void cells.run(code, cell).then((end) => {
      tell({ type: "done", end });
    });
  };
  const questions = new Questions(functions);
  process.on("message", (order: ReplOrder) => {
    if (order.type === "run") run(order);
    else if (order.type === "answer") channel.answered(order.id, order);
    else if (order.type === "keep") functions.keep(order.ids);
    else {
      use(order.browser);
      void questions.answer(order);
    }
  });
  tell({ type: "ready" });
}

/** Questions of the instance. */
class Questions {
  readonly #functions: ToolFunctions;

  constructor(functions: ToolFunctions) {
    this.#functions = functions;
  }

  async answer(question: ReplQuestion): Promise<void> {
    const { id } = question;
    try {
      tell({ type: "answer", id, value: await this.#work(question) });
    } catch (error) {
      tell({ type: "failure", id, error: error instanceof Error ? error.message : String(error) });
    }
  }

  #work({ method, params }: ReplQuestion): Promise<unknown> {
    if (method === "addSource") {
      const { force, namespace, source } = params as { force: boolean; namespace: string; source: string };
      return this.#functions.addSource(namespace, source, force);
    }
    const { id, input, matches } = params as { id: string; input: unknown; matches: unknown };
    return this.#functions.invoke(id, input, matches);
  }
}
