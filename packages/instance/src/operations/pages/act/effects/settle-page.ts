import type { ActRun } from "../act-run.ts";
import type { Act, ActType } from "../act-fields.ts";
import { callInPage, type ElementHandle } from "../../follow/element-handle.ts";
import { ChangingPage } from "./changing-page.ts";
import type { EffectLog } from "./effect-log.ts";

/** A page without activity for this time has processed an action. Milliseconds. */
const idleMs = 35;
/** The same after activity: a page often continues after an answer. Milliseconds. */
const quietMs = 120;
/** The same after input that pages answer with a delay: menus on hover, suggestions of a field. Milliseconds. */
const delayedMs = 400;
/** Longest wait for a page that changes without requests, such as an animation. Milliseconds. */
const changesMs = 1_000;
const lookMs = 10;
/** Whether a new tab shows its first document. */
const hasDocumentFunction = `function () { return location.href !== "about:blank" && document.readyState !== "loading"; }`;
/** Longest wait for the first document of a new tab, in milliseconds: some tabs stay empty. */
const firstDocumentMs = 500;

/** The browser shows the part that `interestfor` names half a second after the pointer has come. Milliseconds. */
const interestMs = 600;

/** `timer`: if the input starts one. `unchanged`: if it also changes nothing at once. */
type Lateness = "always" | "interest" | "timer" | "unchanged" | "never";

const interestFunction = `function () { return this.closest("[interestfor]") !== null; }`;

const latenessFunction = `function () {
  if (this.matches("[role=combobox], [role=searchbox], [type=search], [aria-autocomplete]:not([aria-autocomplete=none])")) return "always";
  const isText = this.localName === "input" && /^(text|email|tel|url|number|password)$/.test(this.type);
  return isText || this.localName === "textarea" ? "timer" : "never";
}`;

/** Whether pages answer this input with a delay, or if it starts a timer: many fields and filters search a moment later. */
async function latenessOf({ type }: Act, element: ElementHandle | undefined): Promise<Lateness> {
  if (type === "hover") return (await element?.call<boolean>(interestFunction)) === true ? "interest" : "always";
  if (type === "check" || type === "select") return "timer";
  if (type === "click") return "unchanged";
  if (type !== "fill" && type !== "press") return "never";
  return (await element?.call<Lateness>(latenessFunction)) ?? "never";
}

const promptTypes: ReadonlySet<ActType> = new Set([
  ...(["click", "fill", "check", "select", "press", "hover", "scroll", "upload"] as const),
]);

/**
 * Reads the files of a field after the page, which reads them in its handlers: their end starts what follows. Returns
 * whether it could; large files take the page longer than one reading.
 */
const readChosenFunction = `async function (most) {
  if (this.localName !== "input" || this.type !== "file") return false;
  const files = [...this.files];
  if (files.reduce((sum, { size }) => sum + size, 0) > most) return false;
  try { for (const file of files) await file.arrayBuffer(); } catch { return false; }
  return true;
}`;
const mostRead = 1_000_000;

/**
 * Whether all effects are over when the page has started nothing: after input to the main document of a page in one
 * process. A click that changes nothing at once may wait for a worker or a database, which nothing here tells.
 */
function isPrompt({ type }: Act, run: ActRun, element: ElementHandle | undefined): "always" | "changed" | "never" {
  const { mainFrameId, targets } = run.page;
  if (!promptTypes.has(type) || element?.address.frameId !== mainFrameId || targets.length > 1) return "never";
  return type === "click" ? "changed" : "always";
}

export interface Settling {
  /** Begun before the input. */
  readonly page?: ChangingPage;
  readonly act?: Act;
  readonly element?: ElementHandle | undefined;
}

/**
 * Waits until the page is quiet: no navigation, no request that may change it, and no change of its document. Returns
 * false if it was still changing at the time limit.
 */
export async function settlePage(
  run: ActRun,
  log: EffectLog,
  { act, element, page = new ChangingPage(run) }: Settling = {},
): Promise<boolean> {
  const { session } = run.page;
  const asked = act === undefined ? "never" : isPrompt(act, run, element);
  log.endInput();
  const isReading = asked !== "never" && act?.type === "upload";
  const prompt = isReading && (await element?.call<boolean>(readChosenFunction, mostRead)) !== true ? "never" : asked;
  // What only a frame brings, such as a part that a scroll loads, matters to a report of the changes.
  const awaitsFrame = prompt === "never" || act?.observe !== undefined || act?.type === "scroll";
  const [first, lateness] = await Promise.all([
    page.look(awaitsFrame),
    act === undefined ? "never" : latenessOf(act, element),
  ]);
  const isShownLater = lateness === "interest";
  const hasTimer = typeof first === "object" && first.hasTimer;
  const hasOnlyTimer = hasTimer && !first.hasChanged && !log.hasSent;
  const isLate =
    lateness === "always" ||
    isShownLater ||
    (lateness === "timer" && hasTimer) ||
    (lateness === "unchanged" && hasOnlyTimer);
  // A busy page sends its requests later.
  if (isLate) log.awaitLate(2 * delayedMs);
  if (first === "unanswered") return false;
  let seen = first === "gone" ? first : first.count;
  const isOver =
    !isShownLater && first !== "gone" && !first.hasStarted && first.count !== -1 && !log.hasSent && !log.hasChanged;
  if (isOver && (prompt === "always" || (prompt === "changed" && first.hasChanged)) && !log.isBusy()) return true;
  // Also after other activity, such as the end of the page's load. A short limit leaves time to see that the page rests.
  const startsMore = first !== "gone" && first.hasStarted;
  const laterMs = isLate ? Math.min(isShownLater ? interestMs : delayedMs, run.leftMs / 2) : startsMore ? idleMs : 0;
  if (laterMs > 0 && !(await page.untilTimers(laterMs))) return false;
  if (!isLate) log.endPrompt();
  for (;;) {
    if (session.ended || session.dialog !== undefined) return true;
    const missingMs = (log.hasChanged ? quietMs : idleMs) - log.quietMs;
    const isBusy = log.isBusy();
    if (!isBusy && missingMs <= 0) {
      const looked = await page.look(true);
      if (looked === "unanswered") return false;
      const changes = looked === "gone" ? looked : looked.count;
      if (changes === seen && changes !== -1 && !log.isBusy()) return true;
      if (log.quietMs > changesMs) return false;
      seen = changes;
    }
    if (run.leftMs <= 0) return false;
    await run.pause(isBusy || missingMs <= 0 ? lookMs : Math.min(lookMs, Math.ceil(missingMs)));
  }
}

/** Waits for the first document of a new tab, and until it is quiet. */
export async function settleNewTab(run: ActRun, log: EffectLog): Promise<boolean> {
  const endMs = performance.now() + firstDocumentMs;
  while (performance.now() < endMs && run.leftMs > 0 && run.page.session.dialog === undefined) {
    if ((await callInPage<boolean>(run, hasDocumentFunction)) === true) break;
    await run.pause(lookMs);
  }
  return settlePage(run, log);
}
