import { callInPage } from "../../follow/element-handle.ts";
import { type ActRun, Interrupted } from "../act-run.ts";

/** Longer animations do not count as an effect of an action. Milliseconds. */
const movesMs = 600;

/**
 * Counts changes of the document from the first call on. Timers and frame requests of all scripts of a document are
 * numbered together, so that two numbers tell whether the page started some between. `untilIdle` resolves when the
 * tasks that the page has posted, and the timers that are due, are over: `begun` is a number from before; it awaits the
 * next frame if the page has started something since then.
 */
const helpers = `
  const state = (globalThis.shoalActs ??= (() => {
    const made = { changes: 0, texts: 0, begun: undefined };
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
    let own = 0;
    // Only functions of this world use these names.
    for (const name of ["setTimeout", "requestAnimationFrame", "requestIdleCallback"]) {
      const plain = globalThis[name];
      globalThis[name] = (...values) => { own++; return plain(...values); };
    }
    made.countStarted = () => {
      const timer = setTimeout(() => {}), frame = requestAnimationFrame(() => {}), idle = requestIdleCallback(() => {});
      clearTimeout(timer);
      cancelAnimationFrame(frame);
      cancelIdleCallback(idle);
      return timer + frame + idle - own;
    };
    const due = () => new Promise((done) => { setTimeout(done); });
    const posted = () => new Promise((done) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => { port1.close(); done(); };
      port2.postMessage(0);
    });
    // A hidden page has no frames; on a busy machine one takes long. A command may be given up after 600 ms.
    made.frame = () => new Promise((done) => {
      const isHidden = document.hidden;
      const timer = setTimeout(done, isHidden ? 50 : 400);
      requestAnimationFrame(() => { clearTimeout(timer); done(); });
    });
    made.untilIdle = async (begun) => {
      // Schedulers of frameworks post their next task when one ends.
      for (let turn = 0; turn < 3; turn++) await posted();
      await due();
      if (begun !== undefined && made.countStarted() <= begun) return false;
      await Promise.all([made.frame(), due()]);
      return true;
    };
    return made;
  })());
`;

const beginFunction = `function () {${helpers}
  state.begun = { started: state.countStarted(), seen: state.changes + state.texts };
  return true;
}`;

/**
 * Looks after the tasks of the page, or after the next frame: a busy machine delays them. Argument: whether the frame
 * counts also if the page has started nothing. Texts that tick, such as a countdown, do not count. The count is -1 for
 * a document that loads, or in which a control, or something with controls, appears, moves or leaves: menus, dialogs.
 */
const lookFunction = `async function (awaitsFrame) {${helpers}
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
  let hasStarted = await state.untilIdle(begun?.started);
  if (awaitsFrame && !hasStarted) {
    await state.frame();
    hasStarted = state.countStarted() > begun.started;
  }
  const isChanging = document.readyState === "loading" || document.getAnimations().slice(0, 100).some(isMoving);
  return {
    count: isChanging ? -1 : state.changes,
    hasStarted,
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

  constructor(run: ActRun) {
    this.#run = run;
  }

  /** To be awaited before the input. */
  async begin(): Promise<void> {
    try {
      await callInPage(this.#run, beginFunction);
    } catch {
      // The action meets the same obstacle.
    }
  }

  /** @param awaitsFrame - also if the page has started nothing. */
  async look(awaitsFrame: boolean): Promise<Looked | "gone" | "unanswered"> {
    try {
      return (await callInPage<Looked>(this.#run, lookFunction, awaitsFrame)) ?? "gone";
    } catch (error) {
      if (error instanceof Interrupted) return error.kind === "silent" ? "unanswered" : "gone";
      throw error;
    }
  }
}
