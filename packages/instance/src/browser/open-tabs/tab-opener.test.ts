import { expect, it } from "vitest";
import type { CdpConnection } from "../cdp/cdp-connection.ts";
import { TabOpener } from "./tab-opener.ts";

/** Answers commands, and fires the load event of each page but those with the word "slow" in their address. */
function browserWith(entries: readonly string[]) {
  const sent: string[] = [];
  const listeners = new Map<string, Set<(event: object, session: string) => void>>();
  const fire = (event: string): void => {
    for (const listener of listeners.get(event) ?? []) listener({}, "page");
  };
  const cdp = {
    closed: new Promise<void>(() => undefined),
    on(event: string, listener: (event: object, session: string) => void) {
      const all = listeners.get(event) ?? new Set();
      listeners.set(event, all.add(listener));
      return () => all.delete(listener);
    },
    async send(method: string, { url = "" }: { readonly url?: string } = {}) {
      sent.push(`${method} ${url}`.trim());
      if (method === "Page.reload" || (method === "Page.navigate" && !url.includes("slow")))
        setImmediate(() => {
          fire("Page.loadEventFired");
        });
      if (method === "Page.getNavigationHistory")
        return { currentIndex: entries.length - 1, entries: entries.map((entry, id) => ({ id, url: entry })) };
      return { loaderId: "loader" };
    },
  };
  const page = { sessionId: "page", targetId: "target", [Symbol.asyncDispose]: async () => undefined };
  const opener = (index: number) =>
    new TabOpener(cdp as unknown as CdpConnection, page, { history: [...entries], index, in_front: true });
  return { opener, sent };
}

it("requests only the present page if the history is not ready in time", async () => {
  const { opener, sent } = browserWith(["http://a/1", "http://a/slow-logout", "http://a/3"]);
  const tab = opener(2);
  const preparing = tab.prepare();
  await expect.poll(() => sent).toContain("Page.navigate http://a/slow-logout");
  const from = sent.length;
  await tab.load();
  await preparing;
  expect(sent.slice(from)).toEqual([
    "Page.stopLoading",
    "Fetch.disable",
    "Network.setBypassServiceWorker",
    "Network.disable",
    "Page.navigate http://a/3",
  ]);
});

it("reloads the present page of a complete history", async () => {
  const { opener, sent } = browserWith(["http://a/1", "http://a/2"]);
  const tab = opener(1);
  await tab.prepare();
  await tab.load();
  expect(sent.at(-1)).toBe("Page.reload");
});
