import { Interrupted, type ActRun } from "../act-run.ts";
import type { Act } from "../act-fields.ts";
import { type ElementHandle, mainDocument } from "../../follow/element-handle.ts";
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
/** Longer animations do not count as an effect of an action. Milliseconds. */
const movesMs = 600;

/**
 * Counts changes of the document, after the next frame and the timers that are due: a busy machine delays them. Texts that
 * tick, such as a countdown, do not count. Returns -1 for a document that loads, or in which a control, or something with
 * controls, appears, moves or leaves: menus, dialogs.
 */
const changesFunction = `async function () {
  const moves = /^(transform|translate|scale|opacity|left|right|top|bottom|width|height|maxHeight|gridTemplateRows|clipPath)$/;
  const controls = "a, button, input, select, textarea, [role], [tabindex]";
  const isMoving = (animation) => {
    const { effect } = animation, timing = effect?.getComputedTiming();
    if (animation.playState !== "running" || !timing || !(timing.endTime - (timing.localTime ?? 0) <= ${String(movesMs)})) return false;
    if (!effect.target?.matches(controls) && !effect.target?.querySelector(controls)) return false;
    return effect.getKeyframes().some((frame) => Object.keys(frame).some((property) => moves.test(property)));
  };
  if (globalThis.shoalActs === undefined) {
    globalThis.shoalActs = 0;
    const isText = (node) => node.nodeType === Node.TEXT_NODE;
    const isTick = ({ addedNodes, removedNodes, type }) => type === "childList" && [...addedNodes, ...removedNodes].every(isText);
    new MutationObserver((records) => { globalThis.shoalActs += records.filter((one) => !isTick(one)).length; }).observe(document, {
      childList: true, subtree: true, attributes: true,
      attributeFilter: ["hidden", "disabled", "aria-hidden", "aria-invalid", "aria-busy", "aria-expanded", "open"],
    });
  }
  const frame = new Promise((done) => { requestAnimationFrame(done); setTimeout(done, 50); });
  await Promise.all([frame, new Promise((done) => { setTimeout(done); })]);
  return document.readyState === "loading" || document.getAnimations().slice(0, 100).some(isMoving) ? -1 : globalThis.shoalActs;
}`;

/** Whether a new tab shows its first document. */
const hasDocumentFunction = `function () { return location.href !== "about:blank" && document.readyState !== "loading"; }`;
/** Longest wait for the first document of a new tab, in milliseconds: some tabs stay empty. */
const firstDocumentMs = 500;

const suggestsFunction = `function () {
  return this.matches("[role=combobox], [role=searchbox], [type=search], [aria-autocomplete]:not([aria-autocomplete=none])");
}`;

/** Whether pages answer this input with a delay. */
export async function isAnsweredLate({ type }: Act, element: ElementHandle | undefined): Promise<boolean> {
  if (type === "hover") return true;
  return (type === "fill" || type === "press") && (await element?.call<boolean>(suggestsFunction)) === true;
}

/**
 * Waits until the page is quiet: no navigation, no request that may change it, and no change of its document. Returns
 * false if it was still changing at the time limit.
 */
export async function settlePage(run: ActRun, log: EffectLog, isLate = false): Promise<boolean> {
  const { session } = run.page;
  // Also after other activity, such as the end of the page's load. A short limit leaves time to see that the page rests.
  const lateAtMs = performance.now() + (isLate ? Math.min(delayedMs, run.leftMs / 2) : 0);
  // A busy page sends its requests later.
  log.endInput(isLate ? 2 * delayedMs : undefined);
  const page = new ChangingPage(run);
  let seen = await page.countChanges();
  if (seen === "unanswered") return false;
  for (;;) {
    if (session.ended || session.dialog !== undefined) return true;
    const missingMs = Math.max((log.hasChanged ? quietMs : idleMs) - log.quietMs, lateAtMs - performance.now());
    const isBusy = log.isBusy();
    if (!isBusy && missingMs <= 0) {
      const changes = await page.countChanges();
      if (changes === "unanswered") return false;
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
    if ((await (await mainDocument(run))?.call<boolean>(hasDocumentFunction)) === true) break;
    await run.pause(lookMs);
  }
  return settlePage(run, log);
}

class ChangingPage {
  readonly #run: ActRun;
  #document: ElementHandle | undefined;

  constructor(run: ActRun) {
    this.#run = run;
  }

  async countChanges(): Promise<number | "gone" | "unanswered"> {
    try {
      const known = await this.#document?.call<number>(changesFunction);
      if (known !== undefined) return known;
      // The first call, or a new document.
      this.#document = await mainDocument(this.#run);
      return (await this.#document?.call<number>(changesFunction)) ?? "gone";
    } catch (error) {
      if (error instanceof Interrupted) return error.kind === "silent" ? "unanswered" : "gone";
      throw error;
    }
  }
}
