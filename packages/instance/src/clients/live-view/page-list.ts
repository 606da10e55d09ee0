import type { CdpConnection } from "../../browser/cdp/cdp-connection.ts";

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

export type PageListChange = "opened" | "closed" | "changed";

/** Longest reported title and address, in characters. */
const maxTitleCharacters = 300;
const maxUrlCharacters = 2_000;
/** Interval for reading titles, in milliseconds: the browser does not report title changes. */
const titlesMs = 700;

/** Uses a separate CDP session, so that other clients' settings stay unchanged. @throws {CdpError} */
export async function followPageList(
  cdp: CdpConnection,
  onChange: (change: PageListChange) => void,
): Promise<PageList> {
  const { sessionId } = await cdp.send("Target.attachToBrowserTarget");
  const pages = new Map<string, ListedPage>();
  let ended = false;

  function take({
    targetId,
    type,
    subtype,
    title,
    url,
  }: {
    targetId: string;
    type: string;
    subtype?: string;
    title: string;
    url: string;
  }): void {
    // A subtype marks a page that is not shown, such as a prerendered one.
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
    // Other events report pages that opened or closed meanwhile.
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
