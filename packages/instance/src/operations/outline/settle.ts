import { setTimeout as wait } from "node:timers/promises";
import type { SettledPage, SettlePage } from "../../protocol/page.ts";
import { readFrames } from "./reading/frames.ts";
import type { WatchedPage } from "./watched-page.ts";

const lookMs = 50;
/** After a complete load, a shorter pause shows that nothing follows. Milliseconds. */
const loadedQuietMs = 150;

/** Counts changes of the document from an isolated world: texts that tick, such as a countdown, do not count. */
const changesExpression = `(() => {
  if (globalThis.shoalChanges === undefined) {
    globalThis.shoalChanges = 0;
    new MutationObserver((records) => { globalThis.shoalChanges += records.length; }).observe(document, {
      childList: true, subtree: true, attributes: true,
      attributeFilter: ["hidden", "disabled", "aria-hidden", "aria-invalid", "aria-busy", "open"],
    });
  }
  return globalThis.shoalChanges;
})()`;

/** Waits for a quiet page. `present` returns the front page, which may change meanwhile. */
export async function settle(
  present: () => Promise<WatchedPage>,
  { quiet_ms, timeout_ms }: SettlePage,
  signal: AbortSignal,
): Promise<SettledPage> {
  const endMs = performance.now() + timeout_ms;
  let page = await present();
  let changes = await countChanges(page);
  for (;;) {
    const enoughMs = page.log.hasLoaded ? Math.min(quiet_ms, loadedQuietMs) : quiet_ms;
    if (page.log.quietMs >= enoughMs) {
      const now = await countChanges(page);
      if (now === changes) {
        const next = await present();
        if (next === page) return report(page, true);
        page = next;
      }
      changes = now;
      page.log.touch();
    }
    if (performance.now() >= endMs) return report(await present(), false);
    await wait(lookMs, undefined, { signal });
    if (page.session.ended) page = await present();
  }
}

async function countChanges(page: WatchedPage): Promise<unknown> {
  const { cdp, session } = page;
  try {
    const [target] = page.targets;
    const contextId = target && (await page.worldOf(session.targetId, target));
    if (contextId === undefined) return undefined;
    const answer = await page.send(
      cdp.send(
        "Runtime.evaluate",
        { expression: changesExpression, contextId, returnByValue: true },
        session.sessionId,
      ),
    );
    return `${String(contextId)} ${String(answer?.result.value)}`;
  } catch {
    return undefined;
  }
}

async function report(page: WatchedPage, quiet: boolean): Promise<SettledPage> {
  const [mainTarget] = page.targets;
  const [facts, history, changed_cookies] = await Promise.all([
    mainTarget === undefined ? undefined : readFrames(page, mainTarget),
    page.send(page.cdp.send("Page.getNavigationHistory", undefined, page.session.sessionId)).catch(() => undefined),
    page.changedCookies(),
  ]);
  const { status } = page.log;
  return {
    quiet,
    url: (history?.entries[history.currentIndex]?.url ?? "").slice(0, 8_000),
    host: facts?.get(page.session.targetId)?.host ?? "",
    ...(status !== undefined && { status }),
    ...page.log.changes,
    changed_cookies,
  };
}
