import { executePlaywright } from "@shoal/contract";
import type { ExecutePlaywright, PlaywrightResult } from "@shoal/schemas";
import type { Call, CallOptions, Transport } from "@shoal/transport";

/** Playwright code that runs next to the browser. */
export class BrowserPlaywright {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Runs the body of an async function, in TypeScript or JavaScript, with `page`, `context` and `browser` in scope. When the code
   * fails, the call resolves with `success: false` and `error`. Default of `timeoutMs`: `timeout_sec` plus 10 seconds.
   *
   * @example
   * const { result } = await shoal.browsers.playwright.execute(id, { code: "await page.goto('https://example.com'); return page.title();" });
   */
  execute(browserId: string, body: ExecutePlaywright, options: CallOptions = {}): Call<PlaywrightResult> {
    const timeoutMs = options.timeoutMs ?? ((body.timeout_sec ?? 60) + 10) * 1000;
    return this.#transport.call(executePlaywright, { params: { id: browserId }, body }, { ...options, timeoutMs });
  }
}
