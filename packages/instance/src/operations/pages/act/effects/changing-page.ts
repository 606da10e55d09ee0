import { type ElementHandle, mainDocument } from "../../follow/element-handle.ts";
import { type ActRun, Interrupted } from "../act-run.ts";

/** Longer animations do not count as an effect of an action. Milliseconds. */
const movesMs = 600;

/**
 * Counts changes of the document from the first call on. Timers and frame requests of all scripts of a document are
 * numbered together, so that two numbers tell whether the page started some between.
 */
const helpers = `
  const state = (globalThis.shoalActs ??= (() => {
    const made = { changes: 0, texts: 0, own: 0, begun: undefined };
    const isText = (node) => node.nodeType === Node.TEXT_NODE;
    const isTick = ({ addedNodes, removedNodes, type }) => type === "childList" && [...addedNodes, ...removedNodes].every(isText);
    new MutationObserver((records) => {
      const ticks = records.filter(isTick).length;
      made.texts += ticks;
      made.changes += records.length - ticks;
    }).observe(document, {
      childList: true, subtree: true, attributes: true,
      attributeFilter: ["hidden", "disabled", "aria-hidden", "aria-invalid", "aria-busy", "aria-expanded", "open"],
    });
    // Only functions of this world use these names.
    for (const name of ["setTimeout", "requestAnimationFrame"]) {
      const plain = globalThis[name];
      globalThis[name] = (...values) => { made.own++; return plain(...values); };
    }
    return made;
  })());
  const countStarted = () => {
    const timer = setTimeout(() => {}), frame = requestAnimationFrame(() => {}), idle = requestIdleCallback(() => {});
    clearTimeout(timer);
    cancelAnimationFrame(frame);
    cancelIdleCallback(idle);
    return timer + frame + idle - state.own;
  };
`;

const beginFunction = `function () {${helpers}
  state.begun = { started: countStarted(), seen: state.changes + state.texts };
}`;

/**
 * Looks after the next frame and the timers that are due: a busy machine delays them. Texts that tick, such as a
 * countdown, do not count. The count is -1 for a document that loads, or in which a control, or something with controls,
 * appears, moves or leaves: menus, dialogs.
 */
const lookFunction = `async function () {${helpers}
  const moves = /^(transform|translate|scale|opacity|left|right|top|bottom|width|height|maxHeight|gridTemplateRows|clipPath)$/;
  const controls = "a, button, input, select, textarea, [role], [tabindex]";
  const isMoving = (animation) => {
    const { effect } = animation, timing = effect?.getComputedTiming();
    if (animation.playState !== "running" || !timing || !(timing.endTime - (timing.localTime ?? 0) <= ${String(movesMs)})) return false;
    if (!effect.target?.matches(controls) && !effect.target?.querySelector(controls)) return false;
    return effect.getKeyframes().some((frame) => Object.keys(frame).some((property) => moves.test(property)));
  };
  const { begun } = state;
  state.begun = undefined;
  const frame = new Promise((done) => { requestAnimationFrame(done); setTimeout(done, 50); });
  await Promise.all([frame, new Promise((done) => { setTimeout(done); })]);
  const isChanging = document.readyState === "loading" || document.getAnimations().slice(0, 100).some(isMoving);
  return {
    count: isChanging ? -1 : state.changes,
    hasStarted: begun === undefined || countStarted() - 1 > begun.started,
    hasChanged: state.changes + state.texts !== begun?.seen,
  };
}`;

export interface Looked {
  /** Changes until now. */
  readonly count: number;
  /** Whether the page has started a timer or a frame request since the action began; true if that is not known. */
  readonly hasStarted: boolean;
  /** Whether its document has changed since then. */
  readonly hasChanged: boolean;
}

/** Watches the main document of an action. */
export class ChangingPage {
  readonly #run: ActRun;
  #document: ElementHandle | undefined;

  constructor(run: ActRun) {
    this.#run = run;
  }

  /** To be awaited before the input. */
  async begin(): Promise<void> {
    try {
      this.#document = await mainDocument(this.#run);
      await this.#document?.call(beginFunction);
    } catch {
      // The action meets the same obstacle.
    }
  }

  async look(): Promise<Looked | "gone" | "unanswered"> {
    try {
      const known = await this.#document?.call<Looked>(lookFunction);
      if (known !== undefined) return known;
      // The first call, or a new document.
      this.#document = await mainDocument(this.#run);
      return (await this.#document?.call<Looked>(lookFunction)) ?? "gone";
    } catch (error) {
      if (error instanceof Interrupted) return error.kind === "silent" ? "unanswered" : "gone";
      throw error;
    }
  }
}
