import type { CdpConnection } from "../cdp/cdp-connection.ts";
import { maxSavedItems, type SavedOrigin } from "./saved-state.ts";

const maxPages = 20;

/** Reads the local storage of open pages, except that of `known` origins. */
export async function localStorageOfOpenPages(cdp: CdpConnection, known: ReadonlySet<string>): Promise<SavedOrigin[]> {
  const { targetInfos } = await cdp.send("Target.getTargets");
  const pages = new Map<string, string>();
  for (const { type, url, targetId } of targetInfos) {
    const { protocol, origin } = new URL(url || "about:blank");
    if (type === "page" && /^https?:$/.test(protocol) && !known.has(origin) && pages.size < maxPages)
      pages.set(origin, targetId);
  }
  const found = await Promise.all([...pages].map(([origin, targetId]) => readOrigin(cdp, origin, targetId)));
  return found.filter(({ localStorage }) => localStorage.length > 0 && localStorage.length <= maxSavedItems);
}

async function readOrigin(cdp: CdpConnection, origin: string, targetId: string): Promise<SavedOrigin> {
  const { sessionId } = await cdp.send("Target.attachToTarget", { targetId, flatten: true });
  try {
    const { entries } = await cdp.send(
      "DOMStorage.getDOMStorageItems",
      { storageId: { securityOrigin: origin, isLocalStorage: true } },
      sessionId,
    );
    return { origin, localStorage: entries.map(([name = "", value = ""]) => ({ name, value })) };
  } finally {
    await cdp.send("Target.detachFromTarget", { sessionId }).catch(() => undefined);
  }
}
