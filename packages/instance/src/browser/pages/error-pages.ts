import { setTimeout } from "node:timers/promises";
import type { CdpConnection } from "../cdp/cdp-connection.ts";
import { type EgressFailure, type EgressFailures, egressTarget } from "../../egress/failures.ts";
import { type AttachedPage, attachToPage } from "./visible-page.ts";

/** Longest time in milliseconds from a failed connection to Chromium's error page. */
const commitMs = 3_000;
const maxPages = 50;

/** Writes the egress gateway's reason into Chromium's error pages, for the live view and for screenshots. */
export class ErrorPages {
  readonly #cdp: CdpConnection;
  readonly #failures: EgressFailures;
  readonly #watched = new Set<string>();
  #failedAtMs = 0;
  #isListing = false;

  constructor(cdp: CdpConnection, failures: EgressFailures) {
    this.#cdp = cdp;
    this.#failures = failures;
  }

  /** Call it for each failed connection of the browser: explains error pages during the next seconds. */
  connectionFailed(): void {
    this.#failedAtMs = performance.now();
    if (this.#isListing) return;
    this.#isListing = true;
    void this.#watchPages().finally(() => {
      this.#isListing = false;
    });
  }

  async #watchPages(): Promise<void> {
    const { targetInfos } = await this.#cdp
      .send("Target.getTargets", { filter: [{ type: "page" }] })
      .catch(() => ({ targetInfos: [] }));
    for (const { targetId } of targetInfos.slice(0, maxPages)) {
      if (this.#watched.has(targetId)) continue;
      this.#watched.add(targetId);
      // It may be closed.
      void this.#watch(targetId)
        .catch(() => undefined)
        .finally(() => this.#watched.delete(targetId));
    }
  }

  async #watch(targetId: string): Promise<void> {
    await using page = await attachToPage(this.#cdp, targetId);
    const { sessionId } = page;
    const explain = (address: string | undefined): void => {
      if (address !== undefined) void this.#explain(address, page).catch(() => undefined);
    };
    const stop = this.#cdp.on("Page.frameNavigated", ({ frame }, of) => {
      if (of === sessionId && frame.parentId === undefined) explain(frame.unreachableUrl);
    });
    try {
      await this.#cdp.send("Page.enable", {}, sessionId);
      const { frameTree } = await this.#cdp.send("Page.getFrameTree", undefined, sessionId);
      explain(frameTree.frame.unreachableUrl);
      for (let leftMs = commitMs; leftMs > 0; leftMs = this.#failedAtMs + commitMs - performance.now())
        await setTimeout(leftMs);
    } finally {
      stop();
    }
  }

  async #explain(address: string, { targetId, sessionId }: AttachedPage): Promise<void> {
    const failure = await this.#failures.of(egressTarget(address));
    if (failure !== undefined) await this.#write(targetId, sessionId, failure);
  }

  /** In an isolated world: the main world may contain Playwright's scripts. */
  async #write(frameId: string, sessionId: string, { message }: EgressFailure): Promise<void> {
    const { executionContextId } = await this.#cdp.send(
      "Page.createIsolatedWorld",
      { frameId, worldName: "" },
      sessionId,
    );
    await this.#cdp.send("Runtime.evaluate", { expression: script(message), contextId: executionContextId }, sessionId);
  }
}

/** Runs in the page. As text, because a bundler may change functions. */
function script(reason: string): string {
  return `if (!document.getElementById("shoal-reason")) {
    const line = document.createElement("p");
    line.id = "shoal-reason";
    line.textContent = ${JSON.stringify(reason)};
    line.style.cssText = "font: 16px/1.5 sans-serif; max-width: 44em; margin: 2em auto; padding: 0 1em";
    document.body.prepend(line);
  }`;
}
