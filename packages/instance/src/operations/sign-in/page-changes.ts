import type { CdpConnection } from "../../browser/cdp/cdp-connection.ts";
import type { PageSession } from "../computer/page-session.ts";

interface ChangingPage {
  readonly cdp: CdpConnection;
  readonly session: PageSession;
  send<T>(command: Promise<T>): Promise<T | undefined>;
}

const worldName = "shoal-changes";

/** Notes the time of the last change of the document. Texts that tick, such as a countdown, do not count. */
const watchExpression = `(() => {
  if (globalThis.shoalChangedAt === undefined) {
    globalThis.shoalChangedAt = performance.now();
    new MutationObserver(() => { globalThis.shoalChangedAt = performance.now(); }).observe(document, {
      childList: true, subtree: true, attributes: true,
      attributeFilter: ["hidden", "disabled", "aria-hidden", "aria-invalid", "aria-busy", "open"],
    });
  }
  return performance.now() - globalThis.shoalChangedAt;
})()`;

/** Watches the documents of a page from their beginning, in an isolated world. */
export function watchChanges(cdp: CdpConnection, sessionId: string): Promise<unknown> {
  return cdp.send(
    "Page.addScriptToEvaluateOnNewDocument",
    { source: watchExpression, worldName, runImmediately: true },
    sessionId,
  );
}

/** Milliseconds since the last change of the page's document; `Infinity` for a page that cannot tell. */
export async function unchangedMs(page: ChangingPage): Promise<number> {
  const { cdp, session } = page;
  try {
    const world = await page.send(
      cdp.send("Page.createIsolatedWorld", { frameId: session.targetId, worldName }, session.sessionId),
    );
    const contextId = world?.executionContextId;
    if (contextId === undefined) return Infinity;
    const params = { expression: watchExpression, contextId, returnByValue: true };
    const answer = await page.send(cdp.send("Runtime.evaluate", params, session.sessionId));
    const ms: unknown = answer?.result.value;
    return typeof ms === "number" ? ms : Infinity;
  } catch {
    return Infinity;
  }
}
