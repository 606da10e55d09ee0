import { keysOfChord } from "@shoal/instance";

type Key = NonNullable<ReturnType<typeof keysOfChord>>[number];

/** What Playwright presses for a chord, which may have X11 names. `text`: a character that its keyboard lacks. */
export function playwrightKey(chord: string): { readonly press: string } | { readonly text: string } {
  const keys = keysOfChord(chord) ?? [];
  const [first, second] = keys;
  if (first === undefined) return { press: chord };
  if (second === undefined && first.code === "") return { text: first.key };
  // Playwright holds Shift for `A` and `!` itself.
  if (keys.length === 2 && first.key === "Shift" && second?.shifted !== undefined) return { press: second.shifted };
  return { press: keys.map(nameOf).join("+") };
}

function nameOf({ code, key, location }: Key): string {
  // Codes tell sides apart and are not a blank. `Numpad1` is End: a digit is written as it is.
  return code === "Space" || (location !== undefined && location !== 1 && key.length > 1) ? code : key;
}
