import type { CdpConnection } from "../cdp/cdp-connection.ts";
import pTimeout from "p-timeout";
import { attachToPage, findVisiblePage } from "../pages/visible-page.ts";
import { evaluateApart } from "./evaluate-apart.ts";
import { readPageScript } from "./page-scripts.ts";
import {
  maxAddressCharacters,
  maxHistory,
  maxTabCharacters,
  maxTabs,
  PageContent,
  type SavedField,
  type SavedTab,
} from "./saved-tab.ts";

/** A page with an endless script or an open dialog does not answer. */
const pageTimeoutMs = 2_000;

/**
 * Reads the open pages, oldest first; of more than 20, the newest.
 * @param hasSecret - whether a text contains a value that was typed as a secret. These fields are omitted.
 */
export async function readTabs(cdp: CdpConnection, hasSecret: (text: string) => boolean): Promise<SavedTab[]> {
  const { targetInfos } = await cdp.send("Target.getTargets", { filter: [{ type: "page" }] });
  // A subtype marks a page that is not shown, such as a prerendered one.
  const pages = targetInfos.filter(({ subtype }) => subtype === undefined).map(({ targetId }) => targetId);
  const front = await findVisiblePage(cdp);
  const read = await Promise.all(
    inOrder(cdp, pages)
      .slice(-maxTabs)
      .map((targetId) =>
        // A page that closes meanwhile is omitted.
        readTab(cdp, targetId, hasSecret).then(
          (tab) => tab && { ...tab, in_front: targetId === front },
          () => undefined,
        ),
      ),
  );
  return withinLimit(read.filter((tab) => tab !== undefined));
}

function inOrder(cdp: CdpConnection, pages: readonly string[]): string[] {
  if (cdp.pageOrder === undefined) return [...pages];
  const ordered: string[] = [];
  for (let left = pages; left.length > 0; left = left.filter((page) => page !== ordered[0]))
    ordered.unshift(cdp.pageOrder.newestOf(left) ?? left[0] ?? "");
  return ordered;
}

async function readTab(
  cdp: CdpConnection,
  targetId: string,
  hasSecret: (text: string) => boolean,
): Promise<Omit<SavedTab, "in_front"> | undefined> {
  await using page = await attachToPage(cdp, targetId);
  const { currentIndex, entries } = await cdp.send("Page.getNavigationHistory", undefined, page.sessionId);
  const history: string[] = [];
  let index = 0;
  for (const [place, { url }] of entries.entries()) {
    if (!canOpenAgain(url)) continue;
    // Chromium replaces an entry by one with the same address.
    if (history.at(-1) !== url) history.push(url);
    if (place <= currentIndex) index = history.length - 1;
  }
  const present = entries[currentIndex]?.url ?? "";
  // A page of the browser itself, or a file of the session.
  if (!canOpenAgain(present) || history.length === 0) return undefined;
  const from = Math.max(0, Math.min(index, history.length - maxHistory));
  const content = await pTimeout(evaluateApart(cdp, page, readPageScript(present)), {
    milliseconds: pageTimeoutMs,
  }).catch(() => undefined);
  const read = PageContent.safeParse(content);
  return {
    history: history.slice(from, from + maxHistory),
    index: index - from,
    ...(read.success && { content: withoutSecrets(read.data, hasSecret) }),
  };
}

function canOpenAgain(url: string): boolean {
  return url.length <= maxAddressCharacters && /^(?:https?:|data:|about:blank$)/.test(url);
}

function withoutSecrets(content: PageContent, hasSecret: (text: string) => boolean): PageContent {
  return { ...content, fields: content.fields.filter(({ value = "" }: SavedField) => !hasSecret(value)) };
}

/** Omits storage, then fields, of the oldest tabs. */
function withinLimit(tabs: readonly SavedTab[]): SavedTab[] {
  let left = maxTabCharacters;
  const fits = (value: unknown): boolean => {
    const { length } = JSON.stringify(value);
    if (length > left) return false;
    left -= length;
    return true;
  };
  return tabs
    .toReversed()
    .flatMap((tab) => {
      const { content, ...rest } = tab;
      if (!fits(rest)) return [];
      if (content === undefined) return [rest];
      const { fields, local_storage, scroll, session_storage } = content;
      return [
        {
          ...rest,
          content: {
            scroll,
            fields: fits(fields) ? fields : [],
            ...(local_storage && fits(local_storage) && { local_storage }),
            ...(session_storage && fits(session_storage) && { session_storage }),
          },
        },
      ];
    })
    .reverse();
}
