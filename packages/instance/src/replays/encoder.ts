import { readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { superviseChromium } from "../chromium/browser.ts";
import { spawnChromium } from "../chromium/spawn.ts";
import type { InstanceConfig } from "../protocol.ts";
import type { EncoderPage } from "./encoder-page.ts";

/** The encoder of a browser of its own, which serves several files at once. */
export interface Encoder {
  /** Calls a method of the page; resolves when it is ready for more. @throws when the browser is gone, or cannot encode. */
  call<Method extends keyof EncoderPage>(method: Method, ...args: Parameters<EncoderPage[Method]>): Promise<void>;
  /** Called with each piece of a file, in order. */
  onBytes(listener: (key: string, bytes: Buffer) => void): void;
  /** Resolves when its browser has ended. */
  readonly closed: Promise<void>;
  close(): void;
}

/** Pages of `about:` and `data:` have no encoder: it needs an address that counts as secure. Nothing is ever sent there. */
const address = "https://recorder.invalid/";

/**
 * Starts a Chromium that encodes: the pages of the session's own would see another one among them.
 *
 * @param directory - made for it, and removed with it.
 * @throws when it does not start.
 */
export async function startEncoder(config: InstanceConfig, directory: string, egressPort: number): Promise<Encoder> {
  // In the built program, beside this file.
  const script = await readFile(join(dirname(fileURLToPath(import.meta.url)), "encoder-page.js"), "utf8");
  const browser = superviseChromium(spawnChromium({ ...config, session_dir: directory, viewport: { width: 64, height: 64 } }, egressPort));
  const { cdp } = browser;
  void browser.exited.then(() => rm(directory, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined));
  let listener: ((key: string, bytes: Buffer) => void) | undefined;
  try {
    await browser.endpoint;
    const { targetId } = await cdp.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await cdp.send("Target.attachToTarget", { targetId, flatten: true });
    cdp.on("Fetch.requestPaused", ({ requestId }, from) => {
      if (from !== sessionId) return;
      cdp
        .send(
          "Fetch.fulfillRequest",
          { requestId, responseCode: 200, responseHeaders: [{ name: "content-type", value: "text/html" }], body: "" },
          sessionId,
        )
        .catch(() => undefined);
    });
    cdp.on("Runtime.bindingCalled", ({ payload }, from) => {
      if (from !== sessionId) return;
      const colon = payload.indexOf(":");
      listener?.(payload.slice(0, colon), Buffer.from(payload.slice(colon + 1), "base64"));
    });
    await cdp.send("Fetch.enable", { patterns: [{ urlPattern: "*" }] }, sessionId);
    await cdp.send("Page.navigate", { url: address }, sessionId);
    await cdp.send("Runtime.enable", undefined, sessionId);
    await cdp.send("Runtime.addBinding", { name: "emitBytes" }, sessionId);
    await cdp.send("Runtime.evaluate", { expression: script }, sessionId);
    const { result } = await cdp.send("Runtime.evaluate", { expression: "shoalRecorder" }, sessionId);
    const { objectId } = result;
    if (objectId === undefined) throw new Error("The page that records could not be loaded.");
    return {
      async call(method, ...args) {
        const { exceptionDetails } = await cdp.send(
          "Runtime.callFunctionOn",
          {
            objectId,
            functionDeclaration: `function(...args) { return this.${method}(...args); }`,
            arguments: args.map((value) => ({ value })),
            awaitPromise: true,
          },
          sessionId,
        );
        if (exceptionDetails !== undefined)
          throw new Error(`The encoder failed: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
      },
      onBytes(told) {
        listener = told;
      },
      closed: browser.exited.then(() => undefined),
      close() {
        void browser.kill();
      },
    };
  } catch (error) {
    await browser.kill();
    throw error;
  }
}
