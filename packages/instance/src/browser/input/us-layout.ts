export interface Key {
  /** `KeyboardEvent.key` without Shift. */
  readonly key: string;
  /** `KeyboardEvent.code`; empty for a character that is not on the US keyboard. */
  readonly code: string;
  /** The legacy `KeyboardEvent.keyCode`; 0 if none. */
  readonly keyCode: number;
  /** Text typed without Shift; absent for a key that types nothing. */
  readonly text?: string;
  /** Text typed with Shift, also its `key` then; same as without Shift when absent. */
  readonly shifted?: string;
  /** `KeyboardEvent.location`: 1 left, 2 right, 3 the number pad; 0 when absent. */
  readonly location?: 1 | 2 | 3;
}

export interface CharacterKey {
  readonly key: Key;
  readonly shift: boolean;
}

const punctuation: readonly (readonly [code: string, keyCode: number, plain: string, shifted: string])[] = [
  ["Space", 32, " ", " "],
  ["Backquote", 192, "`", "~"],
  ["Minus", 189, "-", "_"],
  ["Equal", 187, "=", "+"],
  ["BracketLeft", 219, "[", "{"],
  ["BracketRight", 221, "]", "}"],
  ["Backslash", 220, "\\", "|"],
  ["Semicolon", 186, ";", ":"],
  ["Quote", 222, "'", '"'],
  ["Comma", 188, ",", "<"],
  ["Period", 190, ".", ">"],
  ["Slash", 191, "/", "?"],
];

const characters = new Map<string, CharacterKey>();

function add(code: string, keyCode: number, plain: string, shifted: string): void {
  const key: Key = { key: plain, code, keyCode, text: plain, shifted };
  characters.set(plain, { key, shift: false });
  if (shifted !== plain) characters.set(shifted, { key, shift: true });
}

for (const [code, keyCode, plain, shifted] of punctuation) add(code, keyCode, plain, shifted);
for (const [digit, shifted] of Array.from(")!@#$%^&*(").entries())
  add(`Digit${String(digit)}`, 48 + digit, String(digit), shifted);
for (const letter of "abcdefghijklmnopqrstuvwxyz")
  add(`Key${letter.toUpperCase()}`, letter.toUpperCase().charCodeAt(0), letter, letter.toUpperCase());

/** Returns the key that types a character on the US keyboard. Other characters get a key without a `code`. */
export function keyOfCharacter(character: string): CharacterKey {
  return characters.get(character) ?? { key: { key: character, code: "", keyCode: 0, text: character }, shift: false };
}
