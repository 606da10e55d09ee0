import { invalidInput } from "../fs/errors.ts";
import { keyOfName } from "./key-names.ts";
import type { Key } from "../../browser/input/us-layout.ts";

/** Bits of CDP's `modifiers`. */
export const modifierBits: Readonly<Record<string, number>> = { Alt: 1, Control: 2, Meta: 4, Shift: 8 };

const shift = keyOfName("Shift_L");

/**
 * `Return`, `Ctrl+Shift+Tab` or `A`, in press order. Adds Shift where the character needs it, but a letter with Ctrl,
 * Alt or Super means its key without Shift, so that `Ctrl+A` works.
 * @param field - path of the chord in errors: `body.keys[0]`. @throws {ServiceError} 400 for an unknown key.
 */
export function parseChord(chord: string, held: readonly Key[], field: string): readonly Key[] {
  const keys: Key[] = [];
  for (const name of splitChord(chord)) {
    const found = keyOfName(name);
    if (found === undefined) {
      throw invalidInput(field, `unknown key ${JSON.stringify(name.slice(0, 64))}`, {
        hint: "Use X11 names (Return, Escape, Left, F5, adiaeresis, U20AC) or a single character; join a chord with plus signs (Ctrl+Shift+Tab).",
      });
    }
    const down = [...held, ...keys];
    const hasModifier = (...wanted: readonly string[]) => down.some(({ key }) => wanted.includes(key));
    const isShortcut = /^[A-Z]$/.test(name) && hasModifier("Alt", "Control", "Meta");
    if (found.shift && shift !== undefined && !isShortcut && !hasModifier("Shift")) keys.push(shift.key);
    keys.push(found.key);
  }
  return keys;
}

/** As {@link parseChord}, for programs that only read a chord. @returns `undefined` for an unknown key. */
export function keysOfChord(chord: string): readonly Key[] | undefined {
  return splitChord(chord).some((name) => keyOfName(name) === undefined) ? undefined : parseChord(chord, [], "chord");
}

/** A plus sign is a key at the start or after another plus sign: `+`, `Ctrl++`. */
function splitChord(chord: string): readonly string[] {
  const names = chord.split("+");
  if (names.length > 1 && names.at(-1) === "") {
    names.splice(-1);
    if (names.at(-1) === "") names.splice(-1, 1, "plus");
    else names.push("");
  }
  return names.map((name) => (name.length > 1 ? name.trim() : name));
}
