import type { ActedElement, ActResult, BrowserTab, PageDialog } from "@shoal/schemas";
import type { PageSession } from "../../../computer/page-session.ts";
import type { SessionPages } from "../../tabs/session-pages.ts";
import type { ActTools } from "../act-tools.ts";
import { ActRun } from "../act-run.ts";
import { describeActed } from "../element/describe.ts";
import { ElementHandle } from "../../follow/element-handle.ts";
import type { BrowserEffects } from "./browser-effects.ts";
import type { EffectLog } from "./effect-log.ts";

export interface Effects {
  /** Tabs before the action. */
  readonly before: readonly BrowserTab[];
  readonly pages: SessionPages;
  readonly effects: BrowserEffects;
  readonly log: EffectLog;
  readonly element: ElementHandle | undefined;
  readonly settled: boolean;
}

/** Time for other CDP clients to answer a dialog, in milliseconds: Playwright does so automatically. */
const dialogGraceMs = 250;
/** Longest time for reading the element afterwards, in milliseconds, and for a page that may be busy. */
const describeMs = 2_000;
const describeBusyMs = 300;

/** Returns the answer of an action. */
export async function reportEffects(
  { run, tab }: ActTools,
  { before, effects, element, log, pages, settled }: Effects,
): Promise<ActResult> {
  const dialog = await openDialog(run.page.session);
  const [acted, tabs] = await Promise.all([
    dialog === undefined && element !== undefined ? describeLater(element) : undefined,
    pages.tabs(),
  ]);
  const front = tabs.find(({ active }) => active);
  const known = new Set(before.map(({ id }) => id));
  return {
    tab: front?.id ?? tab.id,
    url: front?.url ?? "",
    title: front?.title ?? "",
    ...(acted !== undefined && { element: { ...acted, ...(acted.ref === run.replacedRef && { replaced: true }) } }),
    navigated: log.navigated,
    ...(log.status !== undefined && { status: log.status }),
    new_tabs: tabs.filter(({ id }) => !known.has(id)),
    ...(dialog !== undefined && { dialog }),
    downloads: effects.downloads,
    failed_requests: log.failedRequests,
    settled,
  };

  async function describeLater(of: ElementHandle): Promise<ActedElement | undefined> {
    const later = new ActRun(run.page, { signal: run.signal, timeoutMs: settled ? describeMs : describeBusyMs });
    return describeActed(pages, tab.id, new ElementHandle(later, of.address, of.objectId)).catch(() => undefined);
  }
}

async function openDialog(session: PageSession): Promise<PageDialog | undefined> {
  const { dialog } = session;
  if (dialog === undefined) return undefined;
  const graceMs = dialog.openedAtMs + dialogGraceMs - performance.now();
  if (graceMs > 0) await Promise.race([dialog.closed, new Promise((resolve) => setTimeout(resolve, graceMs))]);
  const { defaultText, message, type } = session.dialog ?? {};
  if (type === undefined || message === undefined) return undefined;
  return { type, message, ...(type === "prompt" && { default_text: defaultText }) };
}
