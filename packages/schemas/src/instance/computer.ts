import * as z from "zod/mini";
import { errorFields } from "../base/error.ts";
import { checkedLater } from "../base/rules.ts";
import { checked, lazyObject } from "../base/schema.ts";

const keyName = () => checked(z.string(), z.minLength(1), z.maxLength(255));

const holdKeys = () => z.optional(checked(z.array(keyName()), z.maxLength(16)));

const milliseconds = (minimum: number, maximum: number) => checked(z.int(), z.minimum(minimum), z.maximum(maximum));

/** A position on the screen. The service also refuses positions outside of the page, and names its size. */
const pixels = () => checked(z.int(), checkedLater({ keywords: { minimum: 0, maximum: 16_384 } }));

/** A click of the mouse. */
export interface ClickMouse extends z.input<typeof ClickMouse> {}
export const ClickMouse = lazyObject(() => ({
  /** Pixels from the left edge of a screenshot. */
  x: pixels(),
  /** Pixels from the top edge of a screenshot. */
  y: pixels(),
  /** The mouse button; `left` when absent. */
  button: z._default(z.enum(["left", "right", "middle", "back", "forward"]), "left"),
  /** Press and release, or one of the two alone; `click` when absent. */
  click_type: z._default(z.enum(["down", "up", "click"]), "click"),
  /** Keys that are held down meanwhile, named as in `press_key`; at most 16. */
  hold_keys: holdKeys(),
  /** 0 to 100; 2 is a double click, 0 moves the pointer without a click. Counts for `click` only. */
  num_clicks: z._default(checked(z.int(), z.minimum(0), z.maximum(100)), 1),
}));

/** A move of the mouse. */
export interface MoveMouse extends z.input<typeof MoveMouse> {}
export const MoveMouse = lazyObject(() => ({
  /** Pixels from the left edge. */
  x: pixels(),
  /** Pixels from the top edge. */
  y: pixels(),
  /** Keys that are held down meanwhile, named as in `press_key`; at most 16. */
  hold_keys: holdKeys(),
  /** Move along a curve, as a hand would; `false` jumps. */
  smooth: z._default(z.boolean(), true),
  /** Milliseconds that a smooth move takes, 50 to 5000; from the distance when absent. */
  duration_ms: z.optional(milliseconds(50, 5000)),
}));

/** Text that is typed. */
export interface TypeText extends z.input<typeof TypeText> {}
export const TypeText = lazyObject(() => ({
  /** Text to type into the focused element, at most 100,000 characters of any script. */
  text: checked(
    z.string(),
    z.maxLength(100_000),
    checkedLater({ keywords: { pattern: "^[^\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f]*$" } }),
  ),
  /** Milliseconds between two characters, at most 10,000. */
  delay: z._default(milliseconds(0, 10_000), 0),
}));

/** Keys that are pressed. */
export interface PressKey extends z.input<typeof PressKey> {}
export const PressKey = lazyObject(() => ({
  /** Keys one after another, each by its X11 keysym name (`Return`, `F5`, `a`) or as a chord (`Ctrl+Shift+Tab`); 1 to 100. */
  keys: checked(z.array(keyName()), z.minLength(1), z.maxLength(100)),
  /** Milliseconds that each is held, at most 60,000; 0 is a tap. */
  duration: z._default(milliseconds(0, 60_000), 0),
  /** Keys to hold down during the action, such as `Shift`; at most 16. */
  hold_keys: holdKeys(),
}));

/** A turn of the mouse wheel. */
export interface Scroll extends z.input<typeof Scroll> {}
export const Scroll = lazyObject(() => ({
  /** Pixels from the left edge: where the pointer is meanwhile. */
  x: pixels(),
  /** Pixels from the top edge: where the pointer is meanwhile. */
  y: pixels(),
  /** Notches of a mouse wheel to the right, negative ones to the left; −10,000 to 10,000. */
  delta_x: z._default(checked(z.int(), z.minimum(-10_000), z.maximum(10_000)), 0),
  /** Notches of a mouse wheel down, negative ones up; −10,000 to 10,000. They are turned before those of `delta_x`. */
  delta_y: z._default(checked(z.int(), z.minimum(-10_000), z.maximum(10_000)), 0),
  /** Keys that are held down meanwhile, named as in `press_key`; at most 16. */
  hold_keys: holdKeys(),
}));

/** A drag with the mouse. */
export interface DragMouse extends z.input<typeof DragMouse> {}
export const DragMouse = lazyObject(() => ({
  /** Points `[x, y]` in pixels, 2 to 1000: the button goes down at the first and up at the last. */
  path: checked(z.array(checked(z.array(pixels()), z.minLength(2), z.maxLength(2))), z.minLength(2), z.maxLength(1000)),
  /** The mouse button; `left` when absent. */
  button: z._default(z.enum(["left", "middle", "right"]), "left"),
  /** Milliseconds between the button's going down and the first move, at most 10,000. */
  delay: z._default(milliseconds(0, 10_000), 0),
  /** Moves between two points of the path, 1 to 1000; without effect on a smooth drag. */
  steps_per_segment: z._default(checked(z.int(), z.minimum(1), z.maximum(1000)), 10),
  /** Milliseconds between two moves, at most 10,000; without effect on a smooth drag. */
  step_delay_ms: z._default(milliseconds(0, 10_000), 50),
  /** Keys that are held down meanwhile, named as in `press_key`; at most 16. */
  hold_keys: holdKeys(),
  /** Move along curves, as a hand would; `false` moves in straight, even steps. */
  smooth: z._default(z.boolean(), true),
  /** Milliseconds that a smooth drag takes in all, 50 to 10,000; from the path's length when absent. */
  duration_ms: z.optional(milliseconds(50, 10_000)),
}));

/** Whether the pointer is seen. */
export interface SetCursor extends z.input<typeof SetCursor> {}
export const SetCursor = lazyObject(() => ({
  /** Whether the pointer is left out of the screen, of screenshots and of recordings. */
  hidden: z.boolean(),
}));

/** A pause between two actions. */
export interface Sleep extends z.input<typeof Sleep> {}
export const Sleep = lazyObject(() => ({
  /** Milliseconds, at most 30,000. */
  duration_ms: milliseconds(0, 30_000),
}));

/** The actions of a batch; each is also the name of the field with its details. */
export const computerActionTypes = [
  "click_mouse",
  "move_mouse",
  "type_text",
  "press_key",
  "scroll",
  "drag_mouse",
  "set_cursor",
  "sleep",
] as const;

/** One action of a batch: `type`, and the field of that name. */
export interface ComputerAction extends z.input<typeof ComputerAction> {}
export const ComputerAction = z.lazy(() =>
  checked(
    z.object({
      /** Kind of action: the name of the field with its details. */
      type: z.enum(computerActionTypes),
      /** With `type: "click_mouse"`. */
      click_mouse: z.optional(ClickMouse),
      /** With `type: "move_mouse"`. */
      move_mouse: z.optional(MoveMouse),
      /** With `type: "type_text"`. */
      type_text: z.optional(TypeText),
      /** With `type: "press_key"`. */
      press_key: z.optional(PressKey),
      /** With `type: "scroll"`. */
      scroll: z.optional(Scroll),
      /** With `type: "drag_mouse"`. */
      drag_mouse: z.optional(DragMouse),
      /** With `type: "set_cursor"`. */
      set_cursor: z.optional(SetCursor),
      /** With `type: "sleep"`. */
      sleep: z.optional(Sleep),
    }),
    z.refine(
      (action) => computerActionTypes.every((type) => (action[type] !== undefined) === (type === action.type)),
      "give exactly the one field that type names",
    ),
  ),
);

/** Input of `browsers.computer.batch`. */
export interface ComputerBatch extends z.input<typeof ComputerBatch> {}
export const ComputerBatch = lazyObject(() => ({
  /** 1 to 100 actions, done in order up to the first that fails. */
  actions: checked(z.array(ComputerAction), z.minLength(1), z.maxLength(100)),
}));

/** Why a batch stopped, and where. */
export interface ComputerBatchError extends z.output<typeof ComputerBatchError> {}
export const ComputerBatchError = lazyObject(() => ({
  ...errorFields(),
  /** Place of the action that failed among `actions`, from 0; those before it are done, those after it are not. Absent when nothing was begun. */
  failed_action: z.optional(z.int()),
}));

/** A part of the screen. */
export interface ScreenshotRegion extends z.input<typeof ScreenshotRegion> {}
export const ScreenshotRegion = lazyObject(() => ({
  /** Pixels from the left edge, 0 or more. */
  x: checked(z.int(), z.minimum(0), checkedLater({ keywords: { maximum: 16_384 } })),
  /** Pixels from the top edge, 0 or more. */
  y: checked(z.int(), z.minimum(0), checkedLater({ keywords: { maximum: 16_384 } })),
  /** Pixels, at least 1. */
  width: checked(z.int(), z.minimum(1), checkedLater({ keywords: { maximum: 16_384 } })),
  /** Pixels, at least 1. */
  height: checked(z.int(), z.minimum(1), checkedLater({ keywords: { maximum: 16_384 } })),
}));

/** Input of `browsers.computer.captureScreenshot`. */
export interface CaptureScreenshot extends z.input<typeof CaptureScreenshot> {}
export const CaptureScreenshot = lazyObject(() => ({
  /** The part to show; all of it when absent. */
  region: z.optional(ScreenshotRegion),
}));

/** Where the pointer is. */
export interface MousePosition extends z.output<typeof MousePosition> {}
export const MousePosition = lazyObject(() => ({
  /** Pixels from the left edge. */
  x: z.int(),
  /** Pixels from the top edge. */
  y: z.int(),
}));

/** Content of the clipboard. */
export interface ClipboardText extends z.output<typeof ClipboardText> {}
export const ClipboardText = lazyObject(() => ({
  /** The text; empty if the clipboard has no text. */
  text: z.string(),
}));

/** Input of `browsers.computer.writeClipboard`. */
export interface WriteClipboard extends z.input<typeof WriteClipboard> {}
export const WriteClipboard = lazyObject(() => ({
  /** The text, at most 300,000 characters; an empty one clears the clipboard. */
  text: checked(z.string(), z.maxLength(300_000)),
}));
