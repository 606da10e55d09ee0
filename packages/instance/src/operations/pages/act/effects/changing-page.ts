import { pageTasks } from "../../node-input/page-tasks.ts";
import { callInPage } from "../../follow/element-handle.ts";
import { type ActRun, Interrupted } from "../act-run.ts";

/** Longer animations do not count as an effect of an action. Milliseconds. */
const movesMs = 600;

const beginFunction = `function () {${pageTasks}
  state.beginMoves();
  state.begun = { started: state.countStarted(), timers: state.countTimers(), seen: state.changes + state.texts };
  return true;
}`;

/**
 * Looks after the tasks of the page, or after the next frame: a busy machine delays them. Argument: whether the frame
 * counts also if the page has started nothing. Texts that tick, such as a countdown, do not count. The count is -1 for
 * a document that loads, or in which a control, or something with controls, appears, moves or leaves: menus, dialogs.
 */
const lookFunction = `async function (awaitsFrame) {${pageTasks}
  const moves = /^(transform|translate|scale|opacity|left|right|top|bottom|width|height|maxHeight|gridTemplateRows|clipPath)$/;
  const controls = "a, button, input, select, textarea, [role], [tabindex]";
  const holdsControls = (element) => element.matches(controls) || element.querySelector(controls) !== null;
  const isMoving = (animation) => {
    const { effect } = animation, timing = effect?.getComputedTiming();
    if (animation.playState !== "running" || !timing || !(timing.endTime - (timing.localTime ?? 0) <= ${String(movesMs)})) return false;
    if (!effect.target || !holdsControls(effect.target)) return false;
    return effect.getKeyframes().some((frame) => Object.keys(frame).some((property) => moves.test(property)));
  };
  const { begun } = state;
  state.begun = undefined;
  let hasStarted = await state.untilIdle(begun?.started);
  if (awaitsFrame && !hasStarted) {
    await state.frame();
    hasStarted = state.countStarted() > begun.started;
  }
  const hasTimer = begun !== undefined && state.countTimers() > begun.timers;
  const isChanging = document.readyState === "loading" || document.getAnimations().slice(0, 100).some(isMoving) ||
    state.isMoving(holdsControls, ${String(movesMs)});
  return {
    count: isChanging ? -1 : state.changes,
    hasStarted,
    hasTimer,
    hasChanged: state.changes + state.texts !== begun?.seen,
  };
}`;

const timersFunction = `function (milliseconds) {${pageTasks} return state.after(milliseconds).then(() => true); }`;

export interface Looked {
  /** Changes until now. */
  readonly count: number;
  /** Whether the page has started a timer or a frame request since the action began; true if that is not known. */
  readonly hasStarted: boolean;
  /** Whether it has started a timer since the action began, or since a text was written. */
  readonly hasTimer: boolean;
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

  /** Waits until the page's timers for the next milliseconds have run. Returns false if the page did not answer. */
  async untilTimers(milliseconds: number): Promise<boolean> {
    try {
      // In the page: the timers of a busy page run later, but before a later one.
      await callInPage(this.#run, timersFunction, Math.max(0, milliseconds));
      return true;
    } catch (error) {
      if (error instanceof Interrupted) return error.kind !== "silent";
      throw error;
    }
  }
}
