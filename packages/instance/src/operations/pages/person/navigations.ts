import type { FollowedPage } from "../follow/followed-page.ts";
import type { OpenTab, SessionPages } from "../tabs/session-pages.ts";

/** A tab at the beginning of an action. */
export interface PageMoment {
  readonly tab: OpenTab;
  readonly url: string;
  readonly tabIds: ReadonlySet<string>;
  readonly count: number;
}

/** Counts the documents of pages, to tell what an action opened. */
export class Navigations {
  readonly #pages: Pick<SessionPages, "targets">;
  readonly #counts = new WeakMap<FollowedPage, { count: number }>();

  constructor(pages: Pick<SessionPages, "targets">) {
    this.#pages = pages;
  }

  async now(tab: OpenTab): Promise<PageMoment> {
    const { listed } = await this.#pages.targets();
    const url = listed.find(({ id }) => id === tab.id)?.url ?? "";
    return { tab, url, tabIds: new Set(listed.map(({ id }) => id)), count: this.#countOf(tab.page).count };
  }

  async since({
    count,
    tab,
    tabIds,
    url,
  }: PageMoment): Promise<{ readonly pageUrl: string; readonly navigated: boolean }> {
    const { listed } = await this.#pages.targets();
    const opened = listed.findLast(({ id }) => !tabIds.has(id));
    const pageUrl = (opened ?? listed.find(({ id }) => id === tab.id))?.url ?? url;
    const isOther = pageUrl.replace(/#.*/, "") !== url.replace(/#.*/, "");
    return { pageUrl, navigated: opened !== undefined || isOther || this.#countOf(tab.page).count !== count };
  }

  #countOf(page: FollowedPage): { count: number } {
    const known = this.#counts.get(page);
    if (known !== undefined) return known;
    const made = { count: 0 };
    this.#counts.set(page, made);
    page.on("Page.frameNavigated", ({ frame }, { parent }) => {
      if (parent === undefined && frame.parentId === undefined) made.count += 1;
    });
    return made;
  }
}
