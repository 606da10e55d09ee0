import type { CdpConnection } from "../cdp/pipe-connection.ts";

/** A page that a person could look at. */
export interface ListedPage {
  readonly id: string;
  readonly title: string;
  readonly url: string;
}

export interface PageList {
  /** In the order in which they were opened. */
  readonly pages: readonly ListedPage[];
  end(): void;
}

/** What has happened to the pages. */
export type PageListChange = "opened" | "closed" | "changed";

/** Longest title and address that are told, in characters. */
const maxTitleCharacters = 300;
const maxUrlCharacters = 2_000;
/** How often titles are asked for, in milliseconds: the browser does not tell when one changes. */
const titlesMs = 700;

/**
 * Follows which pages are open, on a CDP session of its own, so that nobody else's wishes are changed.
 *
 * @throws {CdpError} when the browser is gone.
 */
export async function followPageList(cdp: CdpConnection, onChange: (change: PageListChange) => void): Promise<PageList> {
  const { sessionId } = await cdp.send("Target.attachToBrowserTarget");
  const pages = new Map<string, ListedPage>();
  let ended = false;

  function take({ targetId, type, subtype, title, url }: { targetId: string; type: string; subtype?: string; title: string; url: string }): void {
    // A subtype is a page that is being prepared and not shown, such as a prerendered one.
    if (type !== "page" || subtype !== undefined) return;
    const known = pages.get(targetId);
    const page = { id: targetId, title: title.slice(0, maxTitleCharacters), url: url.slice(0, maxUrlCharacters) };
    if (known?.title === page.title && known.url === page.url) return;
    pages.set(targetId, page);
    onChange(known === undefined ? "opened" : "changed");
  }

  const stops = [
    cdp.on("Target.targetCreated", ({ targetInfo }, from) => {
      if (from === sessionId) take(targetInfo);
    }),
    cdp.on("Target.targetInfoChanged", ({ targetInfo }, from) => {
      if (from === sessionId) take(targetInfo);
    }),
    cdp.on("Target.targetDestroyed", ({ targetId }, from) => {
      if (from === sessionId && pages.delete(targetId)) onChange("closed");
    }),
  ];
  async function readTitles(): Promise<void> {
    const { targetInfos } = await cdp.send("Target.getTargets", { filter: [{ type: "page" }] }, sessionId);
    if (ended) return;
    // What came or went meanwhile is told of by itself.
    for (const info of targetInfos) if (pages.has(info.targetId)) take(info);
  }
  const timer = setInterval(() => void readTitles().catch(() => undefined), titlesMs);
  function end(): void {
    if (ended) return;
    ended = true;
    clearInterval(timer);
    for (const stop of stops) stop();
    cdp.send("Target.detachFromTarget", { sessionId }).catch(() => undefined);
  }
  try {
    await cdp.send("Target.setDiscoverTargets", { discover: true, filter: [{ type: "page" }] }, sessionId);
  } catch (error) {
    end();
    throw error;
  }
  return {
    get pages() {
      return [...pages.values()];
    },
    end,
  };
}
