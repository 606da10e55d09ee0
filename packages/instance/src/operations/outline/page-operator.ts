import { ServiceError } from "@shoal/router";
import type { BrowserSupervisor } from "../../browser/chromium/supervisor.ts";
import { findVisiblePage } from "../../browser/pages/visible-page.ts";
import type { PageAct, PageActResult, PageOutline, SettledPage, SettlePage } from "../../protocol/page.ts";
import { actOn } from "./acts.ts";
import { readOutline } from "./reading/read-outline.ts";
import { settle } from "./settle.ts";
import { WatchedPage } from "./watched-page.ts";

const maxPages = 10;

/** Follows the front page, and pages that were in front before, until it is released. */
export class PageOperator {
  readonly #browser: Pick<BrowserSupervisor, "cdp">;
  readonly #pages = new Map<string, Promise<WatchedPage>>();

  constructor(browser: Pick<BrowserSupervisor, "cdp">) {
    this.#browser = browser;
  }

  get isOperating(): boolean {
    return this.#pages.size > 0;
  }

  async outline(): Promise<PageOutline> {
    return readOutline(await this.#front());
  }

  async act(act: PageAct, signal: AbortSignal): Promise<PageActResult> {
    return actOn(await this.#front(), act, signal);
  }

  settle(wishes: SettlePage, signal: AbortSignal): Promise<SettledPage> {
    return settle(() => this.#front(), wishes, signal);
  }

  async release(): Promise<void> {
    const pages = [...this.#pages.values()];
    this.#pages.clear();
    // Pages that could not be opened have nothing to close.
    await Promise.allSettled(pages.map(async (opening) => (await opening).close()));
  }

  async #front(): Promise<WatchedPage> {
    const cdp = await this.#browser.cdp();
    const targetId = await findVisiblePage(cdp);
    if (targetId === undefined)
      throw new ServiceError(409, "conflict", "The browser has no open page.", { hint: "Open one over CDP." });
    const known = await this.#pages.get(targetId)?.catch(() => undefined);
    if (known !== undefined && !known.session.ended && known.cdp === cdp) return known;
    const opening = WatchedPage.open(cdp, targetId);
    this.#pages.set(targetId, opening);
    this.#forgetOthers(targetId);
    opening.catch(() => this.#pages.delete(targetId));
    return opening;
  }

  #forgetOthers(present: string): void {
    for (const [targetId, opening] of this.#pages) {
      if (targetId === present) continue;
      const isOver = this.#pages.size > maxPages;
      void opening.then(
        async (page) => {
          if (!isOver && !page.session.ended) return;
          this.#pages.delete(targetId);
          await page.close();
        },
        () => undefined,
      );
    }
  }
}
