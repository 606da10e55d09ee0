import { readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { superviseChromium } from "../../browser/chromium/browser.ts";
import { spawnChromium } from "../../browser/chromium/spawn.ts";
import type { InstanceConfig } from "../../protocol/protocol.ts";
import type { EncoderPage } from "./encoder-page.ts";

export interface Encoder {
  /** Resolves when the page can accept more. @throws when the browser has ended or cannot encode. */
  call<Method extends keyof EncoderPage>(method: Method, ...args: Parameters<EncoderPage[Method]>): Promise<void>;
  onBytes(listener: (key: string, bytes: Buffer) => void): void;
  readonly closed: Promise<void>;
  close(): void;
}

/** The encoder API is missing on `about:` and `data:` pages: it needs a secure URL. No request leaves the browser. */
const address = "https://recorder.invalid/";

/** In the session's browser, clients would see an additional page. `directory`: created and removed with it. */
export async function startEncoder(config: InstanceConfig, directory: string, egressPort: number): Promise<Encoder> {
  // In the built program, next to this file.
  const script = await readFile(join(dirname(fileURLToPath(import.meta.url)), "encoder-page.js"), "utf8");
  const browser = superviseChromium(
    spawnChromium({ ...config, session_dir: directory, viewport: { width: 64, height: 64 } }, egressPort),
  );
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
    if (objectId === undefined) throw new Error("The encoder page could not be loaded.");
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
