import { deletePlaywrightExecutor, executePlaywright, listPlaywrightExecutors } from "@shoal/contract";
import type {
  DeletePlaywrightExecutor,
  ExecutePlaywright,
  PlaywrightExecutors as ExecutorList,
  PlaywrightResult,
} from "@shoal/schemas";
import type { Call, CallOptions, Transport } from "@shoal/transport";

/** Playwright code that runs next to the browser. */
export class BrowserPlaywright {
  readonly executors: PlaywrightExecutors;
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
    this.executors = new PlaywrightExecutors(transport);
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

/** Names for Playwright code that keeps a tab between calls. */
export class PlaywrightExecutors {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** `default` is the first, then the oldest. */
  list(browserId: string, options?: CallOptions): Call<ExecutorList> {
    return this.#transport.call(listPlaywrightExecutors, { params: { id: browserId } }, options);
  }

  /** Ends the calls of an executor, and frees its name. @throws {ApiError} 404 for an unknown name. */
  delete(
    browserId: string,
    name: string,
    query: DeletePlaywrightExecutor = {},
    options?: CallOptions,
  ): Call<undefined> {
    return this.#transport.call(deletePlaywrightExecutor, { params: { id: browserId, name }, query }, options);
  }
}
