import { badInput, ServiceError } from "@shoal/router";
import type { SessionDisplay } from "../display/session-display.ts";
import { keycodeOf } from "../display/keycodes.ts";
import type { KeyInput, MouseButton, Region, Screen, View, WheelInput } from "./screen.ts";
import type { Key } from "./us-layout.ts";

export interface ScreenViewOptions {
  readonly display: SessionDisplay;
  /** The page in front, by whose means the clipboard is read and written. */
  readonly page: Screen;
  readonly pointerVisible: () => boolean;
}

/** As X servers number them; 4 to 7 are notches of the wheel. */
const buttons: Readonly<Record<MouseButton, number>> = { left: 1, middle: 2, right: 3, back: 8, forward: 9 };
/** CSS pixels of a notch of the wheel, as Chromium counts it on Linux. */
const notchPixels = 120;

/** Sees and works the whole screen, with the browser's own buttons, menus and dialogs: as a person does. */
export function createScreenView({ display, page, pointerVisible }: ScreenViewOptions): View {
  const { input } = display;
  let typing: Promise<void> = Promise.resolve();
  /** Keys that went down in the page itself. */
  const inPage = new Set<Key>();

  async function attempt<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!display.ended) throw error;
      throw new ServiceError(
        503,
        "browser_not_running",
        "The screen of this session is gone, and its browser with it. Look at the session with browsers.get, include_deleted=true.",
        { cause: error },
      );
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
    // Chromium tells pages of no character for a key that was given one while it runs, though it types it.
    if (keycodeOf(key) !== undefined) {
      // The X server repeats a key that is held by itself.
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
    // Here they are windows like others, and take mouse and keys.
    dialog: async () => undefined,
    mouse: ({ type, x, y, button }) =>
      attempt(() => (type === "move" || button === undefined ? input.move({ x, y }) : input.button(buttons[button], type === "down"))),
    wheel: ({ deltaX, deltaY }: WheelInput) =>
      attempt(async () => {
        await turn(Math.round(deltaY / notchPixels), [4, 5]);
        await turn(Math.round(deltaX / notchPixels), [6, 7]);
      }),
    key(event) {
      // One after another, though they go different ways.
      const typed = typing.then(() => attempt(() => type(event)));
      typing = typed.catch(() => undefined);
      return typed;
    },
    screenshot: (region) => attempt(() => display.picture.take(within(region, display.mode), pointerVisible())),
    readClipboard: async () => (await page.look()).readClipboard(),
    writeClipboard: async (text) => (await page.look()).writeClipboard(text),
  };
}

function within(region: Region | undefined, { width, height }: SessionDisplay["mode"]): Region {
  const shown = region ?? { x: 0, y: 0, width, height };
  if (shown.x + shown.width <= width && shown.y + shown.height <= height) return shown;
  throw badInput(`body.region: reaches beyond the screen, which is ${String(width)} × ${String(height)} pixels`);
}
