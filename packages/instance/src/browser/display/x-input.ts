import pLimit from "p-limit";
import type { Extensions } from "x11";
import type { Key } from "../input/us-layout.ts";
import type { Point } from "../input/pointer-path.ts";
import { keycodeOf, keysymOf, needsNumLock } from "./keycodes.ts";
import type { XConnection } from "./x-connection.ts";
import type { XWindows } from "./x-windows.ts";

/**
 * After these, a browser's toolkit, which has a separate connection, has read a changed mapping. One was enough in
 * tests.
 */
const readRounds = 2;

/** Calls resolve when the program in front has processed the input or is too busy. */
export interface XInput {
  move(point: Point): Promise<void>;
  /** @param button - 1 left, 2 middle, 3 right, 4 to 7 wheel up, down, left and right, 8 back, 9 forward. */
  button(button: number, down: boolean): Promise<void>;
  key(key: Key, down: boolean): Promise<void>;
}

export async function createXInput(x: XConnection, windows: Pick<XWindows, "settled">): Promise<XInput> {
  const { client, display, root } = x;
  const [xtest, xkb] = await Promise.all([
    x.ask<Extensions["xtest"]>((reply) => {
      client.require("xtest", reply);
    }),
    x.ask<Extensions["xkb"]>((reply) => {
      client.require("xkb", reply);
    }),
  ]);
  const mapping = await x.ask<readonly (readonly number[])[]>((reply) => {
    client.GetKeyboardMapping(display.min_keycode, display.max_keycode - display.min_keycode + 1, reply);
  });
  /** Unused keycodes for characters that the keyboard does not have, least recently used first. */
  const spare = mapping.flatMap((keysyms, offset) =>
    keysyms.every((keysym) => keysym === 0) && isKnownPlace(display.min_keycode + offset)
      ? [display.min_keycode + offset]
      : [],
  );
  const given = new Map<string, number>();
  // Keys go down and up in call order, though one call may wait for a keycode.
  const oneKeyAtATime = pLimit(1);

  /** Programs look a keycode up when they process the key event, so the mapping must be set before and stay. */
  async function keycodeOfCharacter(character: string): Promise<number> {
    const known = given.get(character);
    if (known !== undefined) {
      spare.push(...spare.splice(spare.indexOf(known), 1));
      return known;
    }
    const [keycode] = spare;
    if (keycode === undefined) throw new Error("The X server has no unused keycode.");
    for (const [other, taken] of given) if (taken === keycode) given.delete(other);
    given.set(character, keycode);
    spare.push(...spare.splice(0, 1));
    const keysym = keysymOf(character);
    client.ChangeKeyboardMapping(keycode, 2, [keysym, keysym]);
    for (let round = 0; round < readRounds; round++) await windows.settled();
    return keycode;
  }

  function lockNumbers(on: boolean): void {
    const { Mod2 } = xkb.ModMask;
    xkb.LatchLockState(xkb.UseCoreKbd, Mod2, on ? Mod2 : 0, false, 0, 0, 0, false, 0);
  }

  async function send(key: Key, down: boolean): Promise<void> {
    const keycode = keycodeOf(key) ?? (await keycodeOfCharacter(key.key));
    if (needsNumLock(key)) lockNumbers(true);
    xtest.FakeInput(down ? xtest.KeyPress : xtest.KeyRelease, keycode, 0, 0, 0, 0);
    if (needsNumLock(key)) lockNumbers(false);
  }

  return {
    async move({ x: left, y: top }) {
      xtest.FakeInput(xtest.MotionNotify, 0, 0, root, left, top);
      await windows.settled();
    },
    async button(button, down) {
      xtest.FakeInput(down ? xtest.ButtonPress : xtest.ButtonRelease, button, 0, 0, 0, 0);
      await windows.settled();
    },
    async key(key, down) {
      await oneKeyAtATime(() => send(key, down));
      await windows.settled();
    },
  };
}

/** Browsers ignore the first keycodes, which no keyboard has. */
function isKnownPlace(keycode: number): boolean {
  return keycode > 8;
}
