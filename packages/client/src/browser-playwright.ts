import { executePlaywright } from "@shoal/contract";
import type { ExecutePlaywright, PlaywrightResult } from "@shoal/schemas";
import type { CallOptions, Transport } from "@shoal/transport";

/** Playwright code that runs beside the browser. */
export class BrowserPlaywright {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Runs the body of an async function, in TypeScript or JavaScript, with `page`, `context` and `browser` in scope. Code that fails
   * does not reject: `success` is then `false` and `error` says why. One try waits for `timeout_sec` and 10 seconds, unless `timeoutMs` is given.
   *
   * @example
   * const { result } = await shoal.browsers.playwright.execute(id, { code: "await page.goto('https://example.com'); return page.title();" });
   */
  execute(browserId: string, body: ExecutePlaywright, options: CallOptions = {}): Promise<PlaywrightResult> {
    const timeoutMs = options.timeoutMs ?? ((body.timeout_sec ?? 60) + 10) * 1000;
    return this.#transport.call(executePlaywright, { params: { id: browserId }, body }, { ...options, timeoutMs });
  }
}
