import type { browserComputer, CheckedRequestOf } from "@shoal/contract";
import { ServiceError } from "@shoal/router";
import { setTimeout as wait } from "node:timers/promises";
import { invalidInput } from "../fs/errors.ts";
import { createKeyboard, type Keyboard } from "./keyboard.ts";
import { distanceBetween, handCurve, moveIntervalMs, naturalDurationMs, type Point } from "./pointer-path.ts";
import type { MouseButton, Screen, View } from "./screen.ts";
import { keysOfText, pressChord, typeCharacter } from "./typing.ts";
import { answerDialogByKeys, dialogIsOpen } from "./dialog-keys.ts";

type Endpoints = typeof browserComputer;
type Body<Name extends keyof Endpoints> = CheckedRequestOf<Endpoints[Name]>["body"];

/** Says where in a request an action stands, and when to stop. */
export interface ActionCall {
  /** Path of the action's fields: `body`, `body.actions[2].click_mouse`. */
  readonly field: string;
  readonly signal: AbortSignal;
}

/** Mouse and keyboard of a session. One action after another: two at once would move one pointer. */
export interface Computer {
  /** Where the pointer is, and whether it is to be seen where one is drawn. */
  readonly pointer: Point & { readonly hidden: boolean };
  readonly screen: Screen;
  readClipboard(signal: AbortSignal): Promise<string>;
  writeClipboard(text: string, signal: AbortSignal): Promise<void>;
  click(body: Body<"clickMouse">, call: ActionCall): Promise<void>;
  move(body: Body<"moveMouse">, call: ActionCall): Promise<void>;
  type(body: Body<"typeText">, call: ActionCall): Promise<void>;
  press(body: Body<"pressKey">, call: ActionCall): Promise<void>;
  scroll(body: Body<"scroll">, call: ActionCall): Promise<void>;
  drag(body: Body<"dragMouse">, call: ActionCall): Promise<void>;
  showPointer(body: Body<"setCursorVisibility">): void;
  batch(body: Body<"batchComputerActions">, signal: AbortSignal): Promise<void>;
}

/** As `MouseEvent.buttons` counts them. */
const buttonBits: Readonly<Record<MouseButton, number>> = { left: 1, right: 2, middle: 4, back: 8, forward: 16 };
/** CSS pixels of a notch of the wheel, as Chromium counts it on Linux. */
const notchPixels = 120;
/** Events that a turn of the wheel is told in at most; more notches make each larger. */
const maxWheelEvents = 20;
const maxSmoothDragMs = 10_000;

export function createComputer(screen: Screen): Computer {
  let position: Point = { x: 0, y: 0 };
  let hidden = false;
  let buttons = 0;
  let lastButton: MouseButton | undefined;
  /** What was typed into the prompt that is open. */
  let promptText: string | undefined;
  let seen: View | undefined;
  let queue: Promise<unknown> = Promise.resolve();

  function next<T>(signal: AbortSignal, action: () => Promise<T>): Promise<T> {
    const done = queue.then(() => {
      signal.throwIfAborted();
      return action();
    });
    queue = done.catch(() => undefined);
    return done;
  }

  async function lookAtFront(): Promise<View> {
    const view = await screen.look();
    // What went down on another page, or in a browser that crashed, is not down here.
    if (view !== seen) buttons = 0;
    seen = view;
    return view;
  }

  async function lookBehindDialogs(): Promise<View> {
    const view = await lookAtFront();
    const dialog = await view.dialog();
    if (dialog !== undefined) throw dialogIsOpen(dialog);
    promptText = undefined;
    return view;
  }

  async function checkPoints(
    view: View,
    points: readonly (Point & { readonly field: string; readonly fieldX?: string; readonly fieldY?: string })[],
  ): Promise<void> {
    const size = await view.size();
    // A page that does not answer cannot be asked; it gets the input when it goes on.
    if (size === undefined) return;
    const shown = `the ${view.name}, which is ${String(size.width)} × ${String(size.height)} pixels`;
    for (const { x, y, field, fieldX = `${field}.x`, fieldY = `${field}.y` } of points) {
      if (x < 0 || x >= size.width)
        throw invalidInput(fieldX, `${String(x)} is outside of ${shown}. Give 0 to ${String(size.width - 1)}, as a screenshot shows it.`);
      if (y < 0 || y >= size.height)
        throw invalidInput(fieldY, `${String(y)} is outside of ${shown}. Give 0 to ${String(size.height - 1)}, as a screenshot shows it.`);
    }
  }

  async function moveTo(view: View, keyboard: Keyboard, to: Point): Promise<void> {
    position = { x: to.x, y: to.y };
    await view.mouse({ type: "move", ...position, button: buttons === 0 ? undefined : lastButton, buttons, modifiers: keyboard.modifiers });
  }

  async function button(
    type: "down" | "up",
    view: View,
    keyboard: Keyboard,
    { name, count = 1 }: { readonly name: MouseButton; readonly count?: number },
  ): Promise<void> {
    buttons = type === "down" ? buttons | buttonBits[name] : buttons & ~buttonBits[name];
    lastButton = name;
    await view.mouse({ type, ...position, button: name, buttons, clickCount: count, modifiers: keyboard.modifiers });
  }

  /** Calls `emit` with places on a way, the last one included, spread over a time. */
  async function along(
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

  const smoothSteps = (durationMs: number) => Math.max(4, Math.round(durationMs / moveIntervalMs));

  /** An action with the mouse: at places that the page has, with keys held. */
  async function withMouse(
    { hold_keys }: { readonly hold_keys?: readonly string[] | undefined },
    { field }: ActionCall,
    points: Parameters<typeof checkPoints>[1],
    work: (view: View, keyboard: Keyboard) => Promise<void>,
  ): Promise<void> {
    const view = await lookBehindDialogs();
    await checkPoints(view, points);
    const keyboard = createKeyboard(view);
    await keyboard.holding(hold_keys, `${field}.hold_keys`, () => work(view, keyboard));
  }

  async function clickNow(body: Body<"clickMouse">, call: ActionCall): Promise<void> {
    await withMouse(body, call, [{ x: body.x, y: body.y, field: call.field }], async (view, keyboard) => {
      await moveTo(view, keyboard, body);
      if (body.click_type !== "click") {
        await button(body.click_type, view, keyboard, { name: body.button });
        return;
      }
      for (let count = 1; count <= body.num_clicks; count++) {
        call.signal.throwIfAborted();
        await button("down", view, keyboard, { name: body.button, count });
        await button("up", view, keyboard, { name: body.button, count });
      }
    });
  }

  async function moveNow(body: Body<"moveMouse">, call: ActionCall): Promise<void> {
    await withMouse(body, call, [{ x: body.x, y: body.y, field: call.field }], async (view, keyboard) => {
      const distance = distanceBetween(position, body);
      if (!body.smooth || distance === 0) {
        await moveTo(view, keyboard, body);
        return;
      }
      const durationMs = body.duration_ms ?? naturalDurationMs(distance);
      await along(handCurve(position, { x: body.x, y: body.y }), { steps: smoothSteps(durationMs), durationMs, signal: call.signal }, (point) =>
        moveTo(view, keyboard, point),
      );
    });
  }

  async function typeNow({ text, delay }: Body<"typeText">, { field, signal }: ActionCall): Promise<void> {
    const keys = keysOfText(text, `${field}.text`);
    const view = await lookAtFront();
    const dialog = await view.dialog();
    if (dialog?.type === "prompt") {
      promptText = (promptText ?? "") + text;
      return;
    }
    if (dialog !== undefined) throw dialogIsOpen(dialog);
    const keyboard = createKeyboard(view);
    try {
      for (const [place, key] of keys.entries()) {
        if (place > 0 && delay > 0) await wait(delay, undefined, { signal });
        else signal.throwIfAborted();
        const opened = await view.dialog();
        if (opened !== undefined) throw dialogIsOpen(opened, `${String(place)} of ${String(keys.length)} characters were typed.`);
        await typeCharacter(keyboard, key);
      }
    } finally {
      await keyboard.release();
    }
  }

  async function pressNow(body: Body<"pressKey">, { field, signal }: ActionCall): Promise<void> {
    const view = await lookAtFront();
    const keyboard = createKeyboard(view);
    for (const [place, chord] of body.keys.entries()) {
      signal.throwIfAborted();
      const dialog = await view.dialog();
      if (dialog !== undefined) {
        await answerDialogByKeys(dialog, chord, promptText);
        promptText = undefined;
        continue;
      }
      await keyboard.holding(body.hold_keys, `${field}.hold_keys`, () =>
        pressChord(keyboard, { chord, field: `${field}.keys[${String(place)}]`, durationMs: body.duration, signal }),
      );
    }
  }

  async function scrollNow(body: Body<"scroll">, call: ActionCall): Promise<void> {
    await withMouse(body, call, [{ x: body.x, y: body.y, field: call.field }], async (view, keyboard) => {
      await moveTo(view, keyboard, body);
      for (const [axis, notches] of [["deltaY", body.delta_y] as const, ["deltaX", body.delta_x] as const]) {
        const events = Math.min(Math.abs(notches), maxWheelEvents);
        for (let event = 0; event < events; event++) {
          call.signal.throwIfAborted();
          const turned = Math.trunc((notches * (event + 1)) / events) - Math.trunc((notches * event) / events);
          await view.wheel({ ...position, deltaX: 0, deltaY: 0, [axis]: turned * notchPixels, buttons, modifiers: keyboard.modifiers });
        }
      }
    });
  }

  async function dragNow(body: Body<"dragMouse">, call: ActionCall): Promise<void> {
    const points = body.path.map(([x = 0, y = 0], place) => {
      const field = `${call.field}.path[${String(place)}]`;
      return { x, y, field, fieldX: `${field}[0]`, fieldY: `${field}[1]` };
    });
    const [first, ...rest] = points;
    if (first === undefined) return;
    const length = points.reduce((sum, point, place) => sum + distanceBetween(points[place - 1] ?? point, point), 0);
    const totalMs = body.duration_ms ?? naturalDurationMs(length, maxSmoothDragMs);
    await withMouse(body, call, points, async (view, keyboard) => {
      await moveTo(view, keyboard, first);
      await button("down", view, keyboard, { name: body.button });
      try {
        if (body.delay > 0) await wait(body.delay, undefined, { signal: call.signal });
        for (const point of rest) {
          const to: Point = { x: point.x, y: point.y };
          const from = position;
          const durationMs = body.smooth
            ? length === 0
              ? 0
              : (totalMs * distanceBetween(from, to)) / length
            : body.step_delay_ms * body.steps_per_segment;
          const steps = body.smooth ? smoothSteps(durationMs) : body.steps_per_segment;
          const straight = (share: number): Point => ({
            x: Math.round(from.x + (to.x - from.x) * share),
            y: Math.round(from.y + (to.y - from.y) * share),
          });
          await along(body.smooth ? handCurve(from, to) : straight, { steps, durationMs, signal: call.signal }, (place) =>
            moveTo(view, keyboard, place),
          );
        }
      } finally {
        await button("up", view, keyboard, { name: body.button });
      }
    });
  }

  function showPointer(body: Body<"setCursorVisibility">): void {
    ({ hidden } = body);
    screen.showPointer(!hidden);
  }

  type Action = Body<"batchComputerActions">["actions"][number];
  /** What each kind of action of a batch does; the schema holds that the field of its type is there. */
  const kinds: Readonly<Record<Action["type"], (action: Action, call: ActionCall) => Promise<void> | undefined>> = {
    click_mouse: ({ click_mouse: body }, call) => body && clickNow(body, call),
    move_mouse: ({ move_mouse: body }, call) => body && moveNow(body, call),
    type_text: ({ type_text: body }, call) => body && typeNow(body, call),
    press_key: ({ press_key: body }, call) => body && pressNow(body, call),
    scroll: ({ scroll: body }, call) => body && scrollNow(body, call),
    drag_mouse: ({ drag_mouse: body }, call) => body && dragNow(body, call),
    set_cursor: async ({ set_cursor: body }) => {
      if (body !== undefined) showPointer(body);
    },
    sleep: async ({ sleep: body }, { signal }) => {
      await wait(body?.duration_ms, undefined, { signal });
    },
  };

  return {
    get pointer() {
      return { ...position, hidden };
    },
    screen,
    readClipboard: (signal) => next(signal, async () => (await lookBehindDialogs()).readClipboard()),
    writeClipboard: (text, signal) => next(signal, async () => (await lookBehindDialogs()).writeClipboard(text)),
    click: (body, call) => next(call.signal, () => clickNow(body, call)),
    move: (body, call) => next(call.signal, () => moveNow(body, call)),
    type: (body, call) => next(call.signal, () => typeNow(body, call)),
    press: (body, call) => next(call.signal, () => pressNow(body, call)),
    scroll: (body, call) => next(call.signal, () => scrollNow(body, call)),
    drag: (body, call) => next(call.signal, () => dragNow(body, call)),
    showPointer,
    batch: ({ actions }, signal) =>
      next(signal, async () => {
        for (const [place, action] of actions.entries()) {
          try {
            await kinds[action.type](action, { field: `body.actions[${String(place)}].${action.type}`, signal });
          } catch (error) {
            throw failedAction(error, place, action.type);
          }
        }
      }),
  };
}

function failedAction(error: unknown, place: number, type: string): ServiceError {
  const known = ServiceError.isInstance(error)
    ? error
    : new ServiceError(500, "internal_error", "it ended with an error that the service's operator finds in its log.", { cause: error });
  return new ServiceError(known.status, known.code, `Action ${String(place)} (${type}) failed, those before it are done: ${known.message}`, {
    cause: error,
    fields: { ...known.fields, failed_action: place },
    ...(known.details !== undefined && { details: known.details }),
  });
}
