import pLimit from "p-limit";
import type { browserComputer, CheckedRequestOf } from "@shoal/contract";
import { ServiceError } from "@shoal/router";
import { setTimeout as wait } from "node:timers/promises";
import { invalidInput } from "../fs/errors.ts";
import { createKeyboard, type Keyboard } from "./keyboard.ts";
import {
  distanceBetween,
  handCurve,
  moveIntervalMs,
  naturalDurationMs,
  type Point,
} from "../../browser/input/pointer-path.ts";
import type { MouseButton, Screen, View } from "../../browser/input/screen.ts";
import { keysOfText, pressChord, typeCharacter } from "./typing.ts";
import { answerDialogByKeys, dialogIsOpen } from "./dialog-keys.ts";

type Endpoints = typeof browserComputer;
type Body<Name extends keyof Endpoints> = CheckedRequestOf<Endpoints[Name]>["body"];

export interface ActionCall {
  /** Path of the action's fields: `body`, `body.actions[2].click_mouse`. */
  readonly field: string;
  readonly signal: AbortSignal;
}

/** As in `MouseEvent.buttons`. */
const buttonBits: Readonly<Record<MouseButton, number>> = { left: 1, right: 2, middle: 4, back: 8, forward: 16 };
/** CSS pixels per wheel notch, as in Chromium on Linux. */
const notchPixels = 120;
/** Maximum number of events per scroll; more notches make each event larger. */
const maxWheelEvents = 20;
const maxSmoothDragMs = 10_000;

type Action = Body<"batchComputerActions">["actions"][number];

interface RequestedPoint extends Point {
  readonly field: string;
  readonly fieldX?: string;
  readonly fieldY?: string;
}

/** Mouse and keyboard of a session. Actions run one at a time, because they share one pointer. */
export class Computer {
  readonly screen: Screen;
  #position: Point = { x: 0, y: 0 };
  #hidden = false;
  #buttons = 0;
  #lastButton: MouseButton | undefined;
  #promptText: string | undefined;
  #seen: View | undefined;
  readonly #oneAtATime = pLimit(1);
  readonly #smoothSteps = (durationMs: number) => Math.max(4, Math.round(durationMs / moveIntervalMs));
  /** Runs one action of a batch; the schema guarantees the field of its type. */
  readonly #kinds: Readonly<Record<Action["type"], (action: Action, call: ActionCall) => Promise<void> | undefined>>;

  constructor(screen: Screen) {
    this.screen = screen;
    this.#kinds = {
      click_mouse: ({ click_mouse: body }, call) => body && this.#clickNow(body, call),
      move_mouse: ({ move_mouse: body }, call) => body && this.#moveNow(body, call),
      type_text: ({ type_text: body }, call) => body && this.#typeNow(body, call),
      press_key: ({ press_key: body }, call) => body && this.#pressNow(body, call),
      scroll: ({ scroll: body }, call) => body && this.#scrollNow(body, call),
      drag_mouse: ({ drag_mouse: body }, call) => body && this.#dragNow(body, call),
      set_cursor: async ({ set_cursor: body }) => {
        if (body !== undefined) this.showPointer(body);
      },
      sleep: async ({ sleep: body }, { signal }) => {
        await wait(body?.duration_ms, undefined, { signal });
      },
    };
  }

  #next<T>(signal: AbortSignal, action: () => Promise<T>): Promise<T> {
    return this.#oneAtATime(() => {
      signal.throwIfAborted();
      return action();
    });
  }

  async #lookAtFront(): Promise<View> {
    const view = await this.screen.look();
    // A button pressed on another page, or in a crashed browser, is not down here.
    if (view !== this.#seen) this.#buttons = 0;
    this.#seen = view;
    return view;
  }

  async #lookBehindDialogs(): Promise<View> {
    const view = await this.#lookAtFront();
    const dialog = await view.dialog();
    if (dialog !== undefined) throw dialogIsOpen(dialog);
    this.#promptText = undefined;
    return view;
  }

  async #checkPoints(view: View, points: readonly RequestedPoint[]): Promise<void> {
    const size = await view.size();
    // A page that does not respond cannot report its size; it receives the input when it resumes.
    if (size === undefined) return;
    const shown = `the ${view.name}, which is ${String(size.width)} × ${String(size.height)} pixels`;
    for (const { x, y, field, fieldX = `${field}.x`, fieldY = `${field}.y` } of points) {
      if (x < 0 || x >= size.width)
        throw invalidInput(
          fieldX,
          `${String(x)} is outside of ${shown}. Use 0 to ${String(size.width - 1)}, in pixels of a screenshot.`,
        );
      if (y < 0 || y >= size.height)
        throw invalidInput(
          fieldY,
          `${String(y)} is outside of ${shown}. Use 0 to ${String(size.height - 1)}, in pixels of a screenshot.`,
        );
    }
  }

  async #moveTo(view: View, keyboard: Keyboard, to: Point): Promise<void> {
    this.#position = { x: to.x, y: to.y };
    await view.mouse({
      type: "move",
      ...this.#position,
      button: this.#buttons === 0 ? undefined : this.#lastButton,
      buttons: this.#buttons,
      modifiers: keyboard.modifiers,
    });
  }

  async #button(
    type: "down" | "up",
    view: View,
    keyboard: Keyboard,
    { name, count = 1 }: { readonly name: MouseButton; readonly count?: number },
  ): Promise<void> {
    this.#buttons = type === "down" ? this.#buttons | buttonBits[name] : this.#buttons & ~buttonBits[name];
    this.#lastButton = name;
    await view.mouse({
      type,
      ...this.#position,
      button: name,
      buttons: this.#buttons,
      clickCount: count,
      modifiers: keyboard.modifiers,
    });
  }

  /** Calls `emit` with points of a path, including the last, evenly spread over the duration. */
  async #along(
    way: (share: number) => Point,
    pace: { readonly steps: number; readonly durationMs: number; readonly signal: AbortSignal },
    emit: (point: Point) => Promise<void>,
  ): Promise<void> {
    const startMs = performance.now();
    for (let step = 1; step <= pace.steps; step++) {
      const restMs = startMs + (pace.durationMs * step) / pace.steps - performance.now();
      if (restMs > 0) await wait(restMs, undefined, { signal: pace.signal });
      else pace.signal.throwIfAborted();
      await emit(way(step / pace.steps));
    }
  }

  async #withMouse(
    { hold_keys }: { readonly hold_keys?: readonly string[] | undefined },
    { field }: ActionCall,
    points: readonly RequestedPoint[],
    work: (view: View, keyboard: Keyboard) => Promise<void>,
  ): Promise<void> {
    const view = await this.#lookBehindDialogs();
    await this.#checkPoints(view, points);
    const keyboard = createKeyboard(view);
    await keyboard.holding(hold_keys, `${field}.hold_keys`, () => work(view, keyboard));
  }

  async #clickNow(body: Body<"clickMouse">, call: ActionCall): Promise<void> {
    await this.#withMouse(body, call, [{ x: body.x, y: body.y, field: call.field }], async (view, keyboard) => {
      await this.#moveTo(view, keyboard, body);
      if (body.click_type !== "click") {
        await this.#button(body.click_type, view, keyboard, { name: body.button });
        return;
      }
      for (let count = 1; count <= body.num_clicks; count++) {
        call.signal.throwIfAborted();
        await this.#button("down", view, keyboard, { name: body.button, count });
        await this.#button("up", view, keyboard, { name: body.button, count });
      }
    });
  }

  async #moveNow(body: Body<"moveMouse">, call: ActionCall): Promise<void> {
    await this.#withMouse(body, call, [{ x: body.x, y: body.y, field: call.field }], async (view, keyboard) => {
      const distance = distanceBetween(this.#position, body);
      if (!body.smooth || distance === 0) {
        await this.#moveTo(view, keyboard, body);
        return;
      }
      const durationMs = body.duration_ms ?? naturalDurationMs(distance);
      await this.#along(
        handCurve(this.#position, { x: body.x, y: body.y }),
        { steps: this.#smoothSteps(durationMs), durationMs, signal: call.signal },
        (point) => this.#moveTo(view, keyboard, point),
      );
    });
  }

  async #typeNow({ text, delay }: Body<"typeText">, { field, signal }: ActionCall): Promise<void> {
    const keys = keysOfText(text, `${field}.text`);
    const view = await this.#lookAtFront();
    const dialog = await view.dialog();
    if (dialog?.type === "prompt") {
      this.#promptText = (this.#promptText ?? "") + text;
      return;
    }
    if (dialog !== undefined) throw dialogIsOpen(dialog);
    const keyboard = createKeyboard(view);
    try {
      for (const [place, key] of keys.entries()) {
        if (place > 0 && delay > 0) await wait(delay, undefined, { signal });
        else signal.throwIfAborted();
        const opened = await view.dialog();
        if (opened !== undefined)
          throw dialogIsOpen(opened, `${String(place)} of ${String(keys.length)} characters were typed.`);
        await typeCharacter(keyboard, key);
      }
    } finally {
      await keyboard.release();
    }
  }

  async #pressNow(body: Body<"pressKey">, { field, signal }: ActionCall): Promise<void> {
    const view = await this.#lookAtFront();
    const keyboard = createKeyboard(view);
    for (const [place, chord] of body.keys.entries()) {
      signal.throwIfAborted();
      const dialog = await view.dialog();
      if (dialog !== undefined) {
        await answerDialogByKeys(dialog, chord, this.#promptText);
        this.#promptText = undefined;
        continue;
      }
      await keyboard.holding(body.hold_keys, `${field}.hold_keys`, () =>
        pressChord(keyboard, { chord, field: `${field}.keys[${String(place)}]`, durationMs: body.duration, signal }),
      );
    }
  }

  async #scrollNow(body: Body<"scroll">, call: ActionCall): Promise<void> {
    await this.#withMouse(body, call, [{ x: body.x, y: body.y, field: call.field }], async (view, keyboard) => {
      await this.#moveTo(view, keyboard, body);
      for (const [axis, notches] of [["deltaY", body.delta_y] as const, ["deltaX", body.delta_x] as const]) {
        const events = Math.min(Math.abs(notches), maxWheelEvents);
        for (let event = 0; event < events; event++) {
          call.signal.throwIfAborted();
          const turned = Math.trunc((notches * (event + 1)) / events) - Math.trunc((notches * event) / events);
          await view.wheel({
            ...this.#position,
            deltaX: 0,
            deltaY: 0,
            [axis]: turned * notchPixels,
            buttons: this.#buttons,
            modifiers: keyboard.modifiers,
          });
        }
      }
    });
  }

  async #dragNow(body: Body<"dragMouse">, call: ActionCall): Promise<void> {
    const points = body.path.map(([x = 0, y = 0], place) => {
      const field = `${call.field}.path[${String(place)}]`;
      return { x, y, field, fieldX: `${field}[0]`, fieldY: `${field}[1]` };
    });
    const [first, ...rest] = points;
    if (first === undefined) return;
    const length = points.reduce((sum, point, place) => sum + distanceBetween(points[place - 1] ?? point, point), 0);
    const totalMs = body.duration_ms ?? naturalDurationMs(length, maxSmoothDragMs);
    await this.#withMouse(body, call, points, async (view, keyboard) => {
      await this.#moveTo(view, keyboard, first);
      await this.#button("down", view, keyboard, { name: body.button });
      try {
        if (body.delay > 0) await wait(body.delay, undefined, { signal: call.signal });
        for (const point of rest) {
          const to: Point = { x: point.x, y: point.y };
          const from = this.#position;
          const durationMs = body.smooth
            ? length === 0
              ? 0
              : (totalMs * distanceBetween(from, to)) / length
            : body.step_delay_ms * body.steps_per_segment;
          const steps = body.smooth ? this.#smoothSteps(durationMs) : body.steps_per_segment;
          const straight = (share: number): Point => ({
            x: Math.round(from.x + (to.x - from.x) * share),
            y: Math.round(from.y + (to.y - from.y) * share),
          });
          await this.#along(
            body.smooth ? handCurve(from, to) : straight,
            { steps, durationMs, signal: call.signal },
            (place) => this.#moveTo(view, keyboard, place),
          );
        }
      } finally {
        await this.#button("up", view, keyboard, { name: body.button });
      }
    });
  }

  showPointer(body: Body<"setCursorVisibility">): void {
    ({ hidden: this.#hidden } = body);
    this.screen.showPointer(!this.#hidden);
  }

  get pointer(): Point & { readonly hidden: boolean } {
    return { ...this.#position, hidden: this.#hidden };
  }

  readClipboard(signal: AbortSignal): Promise<string> {
    return this.#next(signal, async () => (await this.#lookBehindDialogs()).readClipboard());
  }

  writeClipboard(text: string, signal: AbortSignal): Promise<void> {
    return this.#next(signal, async () => (await this.#lookBehindDialogs()).writeClipboard(text));
  }

  click(body: Body<"clickMouse">, call: ActionCall): Promise<void> {
    return this.#next(call.signal, () => this.#clickNow(body, call));
  }

  move(body: Body<"moveMouse">, call: ActionCall): Promise<void> {
    return this.#next(call.signal, () => this.#moveNow(body, call));
  }

  type(body: Body<"typeText">, call: ActionCall): Promise<void> {
    return this.#next(call.signal, () => this.#typeNow(body, call));
  }

  press(body: Body<"pressKey">, call: ActionCall): Promise<void> {
    return this.#next(call.signal, () => this.#pressNow(body, call));
  }

  scroll(body: Body<"scroll">, call: ActionCall): Promise<void> {
    return this.#next(call.signal, () => this.#scrollNow(body, call));
  }

  drag(body: Body<"dragMouse">, call: ActionCall): Promise<void> {
    return this.#next(call.signal, () => this.#dragNow(body, call));
  }

  batch({ actions }: Body<"batchComputerActions">, signal: AbortSignal): Promise<void> {
    return this.#next(signal, async () => {
      for (const [place, action] of actions.entries()) {
        try {
          await this.#kinds[action.type](action, { field: `body.actions[${String(place)}].${action.type}`, signal });
        } catch (error) {
          throw failedAction(error, place, action.type);
        }
      }
    });
  }
}

function failedAction(error: unknown, place: number, type: string): ServiceError {
  const known = ServiceError.isInstance(error)
    ? error
    : new ServiceError(500, "internal_error", "unexpected error; the service's log has the details.", {
        cause: error,
      });
  return new ServiceError(
    known.status,
    known.code,
    `Action ${String(place)} (${type}) failed; the actions before it are done: ${known.message}`,
    {
      cause: error,
      limit: known.limit,
      hint: known.hint,
      fields: { ...known.fields, failed_action: place },
      ...(known.details !== undefined && { details: known.details }),
    },
  );
}
