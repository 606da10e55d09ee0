import pTimeout from "p-timeout";
import type { CdpConnection } from "../../../browser/cdp/cdp-connection.ts";
import type { Closing } from "../../../browser/pages/closing.ts";
import { visibleOf } from "../../../browser/pages/visible-page.ts";
import { hasContent, type PagePicture, pictureOf, shownPages } from "./page-picture.ts";

/** Closing a page waits at most this time for its picture. */
const patienceMs = 3_000;
/** Pictures that are taken without a pause. */
const burst = 20;
/** After the burst: a client that opens and closes one page after the other waits for few pictures. */
const pauseMs = 10_000;

type Page = Awaited<ReturnType<typeof shownPages>>[number];

interface Begun {
  readonly targetId?: string | undefined;
  readonly contextIds: readonly string[];
}

function isOf({ contextIds, targetId }: Begun, page: Page): boolean {
  return targetId === page.targetId || contextIds.includes(page.browserContextId ?? "");
}

/** Keeps a picture of the last page with content that a client closed. */
export class ClosedPages {
  #kept: PagePicture | undefined;
  /** Closings whose pages may still exist. */
  #begun: readonly Begun[] = [];
  #left = burst;
  #filledMs = performance.now();

  /** Older than the pages that are open now. */
  get last(): PagePicture | undefined {
    return this.#kept;
  }

  forget(): void {
    this.#kept = undefined;
    this.#begun = [];
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

  /** A page remains for a moment after the answer to the command that closes it. */
  isClosing(page: Page): boolean {
    return this.#begun.some((one) => isOf(one, page));
  }

  async #before(cdp: CdpConnection, { contextId, targetId }: Closing): Promise<PagePicture | "goes on" | undefined> {
    const known: Begun = { targetId, contextIds: contextId === undefined ? [] : [contextId] };
    const asked = [...this.#begun, known];
    this.#begun = asked;
    const [pages, contexts] = await Promise.all([
      shownPages(cdp),
      targetId === undefined && contextId === undefined ? cdp.send("Target.getBrowserContexts") : undefined,
    ]);
    const closing = contexts === undefined ? known : { contextIds: contexts.browserContextIds };
    const begun = [...this.#begun, closing];
    // Contexts of a client that leaves are not kept: some may be those of another client.
    this.#begun = this.#begun.filter(
      (one) =>
        !asked.includes(one) || ((contexts === undefined || one !== known) && pages.some((page) => isOf(one, page))),
    );
    const open = pages.filter(hasContent);
    if (!open.every((page) => begun.some((one) => isOf(one, page)))) return "goes on";
    const own = open.filter((page) => isOf(closing, page));
    if (own.length === 0) return "goes on";
    if (!this.#take()) return undefined;
    const front = await visibleOf(
      cdp,
      own.map(({ targetId }) => targetId),
    );
    const info = own.find(({ targetId }) => targetId === front);
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
