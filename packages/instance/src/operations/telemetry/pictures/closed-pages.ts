import pTimeout from "p-timeout";
import type { CdpConnection } from "../../../browser/cdp/cdp-connection.ts";
import type { Closing } from "../../../browser/pages/closing.ts";
import { visibleOf } from "../../../browser/pages/visible-page.ts";
import { type PagePicture, pagesWithContent, pictureOf } from "./page-picture.ts";

/** Closing a page waits at most this time for its picture. */
const patienceMs = 3_000;
/** Pictures that are taken without a pause. */
const burst = 20;
/** After the burst: a client that opens and closes one page after the other waits for few pictures. */
const pauseMs = 10_000;

/** Keeps a picture of the last page with content that a client closed. */
export class ClosedPages {
  #kept: PagePicture | undefined;
  #left = burst;
  #filledMs = performance.now();

  /** Absent if another page has been shown since. */
  get last(): PagePicture | undefined {
    return this.#kept;
  }

  forget(): void {
    this.#kept = undefined;
  }

  /** Takes the picture if no other page with content stays open. Never rejects. */
  async before(cdp: CdpConnection, closing: Closing): Promise<void> {
    try {
      const made = await pTimeout(this.#before(cdp, closing), { milliseconds: patienceMs, message: false });
      if (made !== "goes on") this.#kept = made;
    } catch {
      this.#kept = undefined;
    }
  }

  async #before(cdp: CdpConnection, closing: Closing): Promise<PagePicture | "goes on" | undefined> {
    const [pages, contexts] = await Promise.all([
      pagesWithContent(cdp),
      "targetId" in closing || "contextId" in closing ? undefined : cdp.send("Target.getBrowserContexts"),
    ]);
    const isClosing = ({ targetId, browserContextId = "" }: (typeof pages)[number]): boolean =>
      closing.targetId === targetId ||
      closing.contextId === browserContextId ||
      contexts?.browserContextIds.includes(browserContextId) === true;
    if (pages.length === 0 || !pages.every(isClosing)) return "goes on";
    if (!this.#take()) return undefined;
    const front = await visibleOf(
      cdp,
      pages.map(({ targetId }) => targetId),
    );
    const info = pages.find(({ targetId }) => targetId === front);
    return info && pictureOf(cdp, info);
  }

  #take(): boolean {
    const nowMs = performance.now();
    const filled = Math.floor((nowMs - this.#filledMs) / pauseMs);
    if (filled > 0) {
      this.#left = Math.min(burst, this.#left + filled);
      this.#filledMs += filled * pauseMs;
    }
    if (this.#left === 0) return false;
    this.#left -= 1;
    return true;
  }
}
