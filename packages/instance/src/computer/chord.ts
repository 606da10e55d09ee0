import { invalidInput } from "../fs/errors.ts";
import { keyOfName } from "./key-names.ts";
import type { Key } from "./us-layout.ts";

/** Bits of CDP's `modifiers`. */
export const modifierBits: Readonly<Record<string, number>> = { Alt: 1, Control: 2, Meta: 4, Shift: 8 };

const shift = keyOfName("Shift_L");

/**
 * The keys of `Return`, `Ctrl+Shift+Tab` or `A`, in the order in which they go down. Shift is added where the character asks for it. A
 * letter in a chord with Ctrl, Alt or Super is the key that it stands on, so that `Ctrl+A` is what people mean by it.
 *
 * @param held - keys that are down already.
 * @param field - names the chord in the error: `body.keys[0]`.
 * @throws {ServiceError} 400 for a key that does not exist.
 */
export function parseChord(chord: string, held: readonly Key[], field: string): readonly Key[] {
  const keys: Key[] = [];
  for (const name of splitChord(chord)) {
    const found = keyOfName(name);
    if (found === undefined) {
      throw invalidInput(
        field,
        `there is no key ${JSON.stringify(name.slice(0, 64))}. Name keys as X11 does (Return, Escape, Left, F5, adiaeresis, U20AC) or give one character; join a chord by plus signs (Ctrl+Shift+Tab).`,
      );
    }
    const down = [...held, ...keys];
    const hasModifier = (...wanted: readonly string[]) => down.some(({ key }) => wanted.includes(key));
    const isShortcut = /^[A-Z]$/.test(name) && hasModifier("Alt", "Control", "Meta");
    if (found.shift && shift !== undefined && !isShortcut && !hasModifier("Shift")) keys.push(shift.key);
    keys.push(found.key);
  }
  return keys;
}

/** A plus sign is itself a key where nothing stands before it: `+`, `Ctrl++`. */
function splitChord(chord: string): readonly string[] {
  const names = chord.split("+");
  if (names.length > 1 && names.at(-1) === "") {
    names.splice(-1);
    if (names.at(-1) === "") names.splice(-1, 1, "plus");
    else names.push("");
  }
  return names.map((name) => (name.length > 1 ? name.trim() : name));
}
