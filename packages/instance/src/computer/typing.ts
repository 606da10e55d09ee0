import { setTimeout as wait } from "node:timers/promises";
import { invalidInput } from "../fs/errors.ts";
import { parseChord } from "./chord.ts";
import { isTyped, keyOfName } from "./key-names.ts";
import type { Keyboard } from "./keyboard.ts";
import { keyOfCharacter, type CharacterKey } from "./us-layout.ts";

/** As X11 repeats a key that is held, in milliseconds. */
const repeatAfterMs = 660;
const repeatEveryMs = 40;

/** The keys of a text, one for each character. @throws {ServiceError} 400 for a character that no keyboard types. */
export function keysOfText(text: string, field: string): readonly CharacterKey[] {
  return Array.from(text.replaceAll("\r\n", "\n"), (character, place) => {
    const name = { "\n": "Return", "\r": "Return", "\t": "Tab" }[character];
    const key = name === undefined ? undefined : keyOfName(name);
    if (key !== undefined) return key;
    if (isTyped(character)) return keyOfCharacter(character);
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    throw invalidInput(
      field,
      `character ${String(place)} is U+${code}, which no key types. Only line ends and tabs are typed of the control characters; press others with press_key.`,
    );
  });
}

const shift = keyOfName("Shift_L")?.key;

/** Types one character. */
export async function typeCharacter(keyboard: Keyboard, { key, shift: isShifted }: CharacterKey): Promise<void> {
  const keys = isShifted && shift !== undefined ? [shift, key] : [key];
  // Not one after another's answer: a browser takes them in order, and a text has many.
  await Promise.all([...keys.map((one) => keyboard.down(one)), ...keys.toReversed().map((one) => keyboard.up(one))]);
}

/** A chord that is to be pressed. */
export interface ChordPress {
  readonly chord: string;
  /** Names it in an error: `body.keys[0]`. */
  readonly field: string;
  /** Milliseconds that it is held. */
  readonly durationMs: number;
  readonly signal: AbortSignal;
}

/** Presses a chord; a key that is held for long repeats itself. @throws {ServiceError} 400 for a key that does not exist. */
export async function pressChord(keyboard: Keyboard, { chord, field, durationMs, signal }: ChordPress): Promise<void> {
  const keys = parseChord(chord, keyboard.held, field);
  const last = keys.at(-1);
  try {
    for (const key of keys) await keyboard.down(key);
    const endMs = performance.now() + durationMs;
    for (let pauseMs = repeatAfterMs; ; pauseMs = repeatEveryMs) {
      const restMs = endMs - performance.now();
      if (restMs <= 0) break;
      await wait(Math.min(restMs, pauseMs), undefined, { signal });
      if (last !== undefined && restMs > pauseMs) await keyboard.repeat(last);
    }
  } finally {
    for (const key of keys.toReversed()) await keyboard.up(key);
  }
}
