import { anySignal } from "@shoal/primitives";
import pTimeout from "p-timeout";
import type * as contract from "@shoal/contract";
import { ServiceError, type Handler } from "@shoal/router";
import { Readable } from "node:stream";
import type { BrowserSupervisor } from "../../browser/chromium/supervisor.ts";
import type { SessionDisplay } from "../../browser/display/session-display.ts";
import type { Computer } from "./computer.ts";

type Endpoints = typeof contract.browserComputer;

export type ComputerHandlers = { readonly [Name in keyof Endpoints]: Handler<Endpoints[Name], unknown> };

export interface SessionComputer {
  readonly handlers: ComputerHandlers;
  close(): void;
}

/** The first call loads the code. `display`: the screen of a browser with a window. */
export function sessionComputer(
  browser: Pick<BrowserSupervisor, "cdp">,
  display: () => SessionDisplay | undefined,
): SessionComputer {
  const closing = new AbortController();
  let computer: Promise<Computer> | undefined;

  async function load(): Promise<Computer> {
    const { Computer, createSessionScreen } = await import("./computer-parts.ts");
    return new Computer(createSessionScreen(browser, display));
  }

  async function run<T>(
    caller: AbortSignal,
    action: (computer: Computer, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const signal = anySignal([caller, closing.signal]);
    try {
      const loaded = await (computer ??= load());
      return await pTimeout(action(loaded, signal), { milliseconds: Infinity, signal });
    } catch (error) {
      if (closing.signal.aborted)
        throw new ServiceError(503, "shutting_down", "The session ended during the call.", { cause: error });
      throw error;
    }
  }

  return {
    close() {
      closing.abort();
    },
    handlers: {
      clickMouse: ({ body, signal: caller }) =>
        run(caller, (loaded, signal) => loaded.click(body, { field: "body", signal })),
      moveMouse: ({ body, signal: caller }) =>
        run(caller, (loaded, signal) => loaded.move(body, { field: "body", signal })),
      typeText: ({ body, signal: caller }) =>
        run(caller, (loaded, signal) => loaded.type(body, { field: "body", signal })),
      pressKey: ({ body, signal: caller }) =>
        run(caller, (loaded, signal) => loaded.press(body, { field: "body", signal })),
      scroll: ({ body, signal: caller }) =>
        run(caller, (loaded, signal) => loaded.scroll(body, { field: "body", signal })),
      dragMouse: ({ body, signal: caller }) =>
        run(caller, (loaded, signal) => loaded.drag(body, { field: "body", signal })),
      batchComputerActions: ({ body, signal: caller }) => run(caller, (loaded, signal) => loaded.batch(body, signal)),
      getMousePosition: ({ signal }) => run(signal, async ({ pointer: { x, y } }) => ({ x, y })),
      setCursorVisibility: ({ body, signal }) =>
        run(signal, async (loaded) => {
          loaded.showPointer(body);
          return { ok: true };
        }),
      captureScreenshot: ({ body, signal }) =>
        run(signal, async ({ screen }) => {
          const png = await (await screen.look()).screenshot(body.region);
          return { stream: Readable.from([png]), sizeBytes: png.length };
        }),
      readClipboard: ({ signal: caller }) =>
        run(caller, async (loaded, signal) => ({ text: await loaded.readClipboard(signal) })),
      writeClipboard: ({ body, signal: caller }) =>
        run(caller, (loaded, signal) => loaded.writeClipboard(body.text, signal)),
    },
  };
}
