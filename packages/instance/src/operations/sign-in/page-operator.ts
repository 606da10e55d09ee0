import { ServiceError } from "@shoal/router";
import { setTimeout as wait } from "node:timers/promises";
import { CdpError } from "../../browser/cdp/cdp-connection.ts";
import type { BrowserSupervisor } from "../../browser/chromium/supervisor.ts";
import { findVisiblePage } from "../../browser/pages/visible-page.ts";
import type { PageAct, PageActResult, PageOutline, SettledPage, SettlePage } from "../../protocol/page.ts";
import type { TypedSecrets } from "../../secrets/typed-secrets.ts";
import { actOn } from "./acts.ts";
import { readOutline } from "./read-outline.ts";
import { settle } from "./settle.ts";
import { WatchedPage } from "./watched-page.ts";

const maxPages = 10;
const maxAttempts = 10;
/** A closing page stays in the list of targets for some milliseconds. */
const closingMs = 30;

/** Follows the front page, and pages that were in front before, until it is released. */
export class PageOperator {
  readonly #browser: Pick<BrowserSupervisor, "cdp">;
  readonly #secrets: Pick<TypedSecrets, "add">;
  readonly #pages = new Map<string, Promise<WatchedPage>>();
  #hasTyped = false;

  constructor(browser: Pick<BrowserSupervisor, "cdp">, secrets: Pick<TypedSecrets, "add">) {
    this.#browser = browser;
    this.#secrets = secrets;
  }

  /** Whether pages may contain secrets that the service or a person typed: from then on for the whole session. */
  get mayShowSecrets(): boolean {
    return this.#hasTyped || this.#pages.size > 0;
  }

  outline(): Promise<PageOutline> {
    return whileFrontCloses(async () => readOutline(await this.#front()));
  }

  async act(act: PageAct, signal: AbortSignal): Promise<PageActResult> {
    if (act.kind === "fill" && act.visible !== true) this.#secrets.add(act.value);
    if (act.kind === "authenticate") this.#secrets.add(act.password);
    if (act.kind === "authenticate" || (act.kind === "fill" && act.visible !== true)) this.#hasTyped = true;
    const page = await whileFrontCloses(() => this.#front());
    try {
      return await actOn(page, act, signal);
    } catch (error) {
      throw page.session.ended ? page.session.endError() : error;
    }
  }

  settle(wishes: SettlePage, signal: AbortSignal): Promise<SettledPage> {
    return whileFrontCloses(() => settle(() => this.#front(), wishes, signal));
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

/** Popups of identity providers may close at any moment: another page is then in front. */
async function whileFrontCloses<T>(read: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await read();
    } catch (error) {
      const isGone = error instanceof CdpError || (ServiceError.isInstance(error) && error.status === 409);
      if (!isGone || attempt === maxAttempts) throw error;
      await wait(closingMs);
    }
  }
}
