import { setTimeout as wait } from "node:timers/promises";
import { invalidInput } from "../fs/errors.ts";
import { parseChord } from "./chord.ts";
import { isTyped, keyOfName } from "./key-names.ts";
import type { Keyboard } from "./keyboard.ts";
import { keyOfCharacter, type CharacterKey } from "../../browser/input/us-layout.ts";

/** X11's default key repeat, in milliseconds. */
const repeatAfterMs = 660;
const repeatEveryMs = 40;

/** Returns one key per character. @throws {ServiceError} 400 for a character that no key types. */
export function keysOfText(text: string, field: string): readonly CharacterKey[] {
  return Array.from(text.replaceAll("\r\n", "\n"), (character, place) => {
    const name = { "\n": "Return", "\r": "Return", "\t": "Tab" }[character];
    const key = name === undefined ? undefined : keyOfName(name);
    if (key !== undefined) return key;
    if (isTyped(character)) return keyOfCharacter(character);
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    throw invalidInput(
      field,
      `character ${String(place)} is U+${code}, which no key types. The only supported control characters are line ends and tabs; press other keys with press_key.`,
    );
  });
}

const shift = keyOfName("Shift_L")?.key;

export async function typeCharacter(keyboard: Keyboard, { key, shift: isShifted }: CharacterKey): Promise<void> {
  const keys = isShifted && shift !== undefined ? [shift, key] : [key];
  // Concurrent: the browser keeps the order, and waiting for each answer is slow.
  await Promise.all([...keys.map((one) => keyboard.down(one)), ...keys.toReversed().map((one) => keyboard.up(one))]);
}

export interface ChordPress {
  readonly chord: string;
  readonly field: string;
  readonly durationMs: number;
  readonly signal: AbortSignal;
}

/** Presses a chord; a key that is held long repeats. @throws {ServiceError} 400 for an unknown key. */
export async function pressChord(keyboard: Keyboard, { chord, field, durationMs, signal }: ChordPress): Promise<void> {
  const keys = parseChord(chord, keyboard.held, field);
  const last = keys.at(-1);
  if (durationMs === 0) {
    await Promise.all([...keys.map((key) => keyboard.down(key)), ...keys.toReversed().map((key) => keyboard.up(key))]);
    return;
  }
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
