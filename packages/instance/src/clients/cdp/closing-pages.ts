import type { BrowserSupervisor } from "../../browser/chromium/supervisor.ts";
import type { BeforeClose, Closing } from "../../browser/pages/closing.ts";

export interface ClosingPagesOptions {
  readonly browser: Pick<BrowserSupervisor, "cdp">;
  readonly before: BeforeClose;
}

/** The pages that one client closes. Commands that wait when the client leaves are sent nevertheless. */
export class ClosingPages {
  readonly #options: ClosingPagesOptions | undefined;
  readonly #waiting = new Set<Promise<unknown>>();
  #hasLeft = false;
  #ownsContexts = false;

  constructor(options: ClosingPagesOptions | undefined) {
    this.#options = options;
  }

  readonly before: BeforeClose = (closing) => {
    const ready = this.#options?.before(closing);
    if (ready === undefined) return undefined;
    const closed = ready
      .then(() => (this.#hasLeft ? this.#close(closing) : undefined))
      // The page or the browser may have ended.
      .catch(() => undefined)
      .finally(() => this.#waiting.delete(closed));
    this.#waiting.add(closed);
    return ready;
  };

  /** On the instance's own connection. */
  async #close({ contextId, targetId }: Closing): Promise<void> {
    const cdp = await this.#options?.browser.cdp();
    if (targetId !== undefined) await cdp?.send("Target.closeTarget", { targetId });
    else if (contextId !== undefined) await cdp?.send("Target.disposeBrowserContext", { browserContextId: contextId });
  }

  /** The browser closes the contexts of a client that leaves. */
  noteContext(): void {
    this.#ownsContexts = true;
  }

  /** Call it when the client leaves. @returns a promise while the browser's connection has to stay open. */
  leave(): Promise<unknown> | undefined {
    this.#hasLeft = true;
    const last = this.#ownsContexts ? this.#options?.before({}) : undefined;
    if (last === undefined && this.#waiting.size === 0) return undefined;
    return Promise.all([last, ...this.#waiting]);
  }
}
