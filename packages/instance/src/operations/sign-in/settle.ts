import { setTimeout as wait } from "node:timers/promises";
import type { SettledPage, SettlePage } from "../../protocol/page.ts";
import { unchangedMs } from "./page-changes.ts";
import type { WatchedPage } from "./watched-page.ts";

/** Longest pause between two looks at a page that still works. */
const lookMs = 20;
/** After a complete load, a shorter pause shows that nothing follows. Milliseconds. */
const loadedQuietMs = 100;

/** Waits for a quiet page. `present` returns the front page, which may change meanwhile. */
export async function settle(
  present: () => Promise<WatchedPage>,
  { quiet_ms, timeout_ms }: SettlePage,
  signal: AbortSignal,
): Promise<SettledPage> {
  const endMs = performance.now() + timeout_ms;
  let page = await present();
  for (;;) {
    const enoughMs = page.log.hasLoaded ? Math.min(quiet_ms, loadedQuietMs) : quiet_ms;
    let leftMs = enoughMs - page.log.quietMs;
    if (leftMs <= 0) leftMs = enoughMs - (await unchangedMs(page));
    if (leftMs <= 0) {
      const next = await present();
      if (next === page) return report(page, true);
      page = next;
      page.log.touch();
    }
    if (performance.now() >= endMs) return report(await present(), false);
    await wait(Math.min(Math.max(leftMs, 1), lookMs), undefined, { signal });
    if (page.session.ended) page = await present();
  }
}

async function report(page: WatchedPage, quiet: boolean): Promise<SettledPage> {
  const [target] = page.targets;
  const [origin, history, changed_cookies] = await Promise.all([
    target === undefined ? "" : page.originOf(page.mainFrameId, target),
    page.ask(page.cdp.send("Page.getNavigationHistory", undefined, page.session.sessionId)),
    page.changedCookies(),
  ]);
  const { status } = page.log;
  return {
    quiet,
    url: (history?.entries[history.currentIndex]?.url ?? "").slice(0, 8_000),
    host: URL.parse(origin)?.hostname ?? "",
    ...(status !== undefined && { status }),
    ...page.log.changes,
    changed_cookies,
  };
}
