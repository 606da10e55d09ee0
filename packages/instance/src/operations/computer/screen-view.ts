import pLimit from "p-limit";
import { badInput, ServiceError } from "@shoal/router";
import type { SessionDisplay } from "../../browser/display/session-display.ts";
import { keycodeOf } from "../../browser/display/keycodes.ts";
import type { KeyInput, MouseButton, Region, Screen, View, WheelInput } from "../../browser/input/screen.ts";
import type { Key } from "../../browser/input/us-layout.ts";

export interface ScreenViewOptions {
  readonly display: SessionDisplay;
  /** The page in front, through which the clipboard is read and written. */
  readonly page: Screen;
  readonly pointerVisible: () => boolean;
}

/** X button numbers; 4 to 7 are wheel notches. */
const buttons: Readonly<Record<MouseButton, number>> = { left: 1, middle: 2, right: 3, back: 8, forward: 9 };
/** CSS pixels per wheel notch, as in Chromium on Linux. */
const notchPixels = 120;

export function createScreenView({ display, page, pointerVisible }: ScreenViewOptions): View {
  const { input } = display;
  // Keys stay in order, though they take two routes.
  const oneKeyAtATime = pLimit(1);
  /** Keys that went down in the page over CDP. */
  const inPage = new Set<Key>();

  async function attempt<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!display.ended) throw error;
      throw new ServiceError(503, "browser_not_running", "The screen of this session and its browser have ended.", {
        hint: "Inspect the session with browsers.get and include_deleted.",
        cause: error,
      });
    }
  }

  async function turn(notches: number, [back, on]: readonly [number, number]): Promise<void> {
    for (let notch = 0; notch < Math.abs(notches); notch++) {
      await input.button(notches < 0 ? back : on, true);
      await input.button(notches < 0 ? back : on, false);
    }
  }

  async function type(event: KeyInput): Promise<void> {
    const { key } = event;
    // For a keycode that was mapped at runtime, Chromium types the character but does not report it in key events.
    if (keycodeOf(key) !== undefined) {
      // The X server repeats a held key automatically.
      if (event.repeated !== true) await input.key(key, event.type === "down");
      return;
    }
    const front = await page.look().catch(() => undefined);
    if (front !== undefined && (inPage.has(key) || (event.type === "down" && (await front.hasKeyboard())))) {
      if (event.type === "down") inPage.add(key);
      else inPage.delete(key);
      await front.key(event);
    } else if (event.repeated !== true) await input.key(key, event.type === "down");
  }

  return {
    name: "screen",
    size: async () => display.mode,
    hasKeyboard: async () => true,
    // On this screen, dialogs are windows that receive mouse and keys.
    dialog: async () => undefined,
    mouse: ({ type, x, y, button }) =>
      attempt(() =>
        type === "move" || button === undefined ? input.move({ x, y }) : input.button(buttons[button], type === "down"),
      ),
    wheel: ({ deltaX, deltaY }: WheelInput) =>
      attempt(async () => {
        await turn(Math.round(deltaY / notchPixels), [4, 5]);
        await turn(Math.round(deltaX / notchPixels), [6, 7]);
      }),
    key(event) {
      return oneKeyAtATime(() => attempt(() => type(event)));
    },
    screenshot: (region) => attempt(() => display.picture.take(within(region, display.mode), pointerVisible())),
    readClipboard: async () => (await page.look()).readClipboard(),
    writeClipboard: async (text) => (await page.look()).writeClipboard(text),
  };
}

function within(region: Region | undefined, { width, height }: SessionDisplay["mode"]): Region {
  const shown = region ?? { x: 0, y: 0, width, height };
  if (shown.x + shown.width <= width && shown.y + shown.height <= height) return shown;
  throw badInput("body.region", `reaches beyond the screen, which is ${String(width)} × ${String(height)} pixels`);
}
