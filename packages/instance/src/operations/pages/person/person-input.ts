import { parseChord } from "../../computer/chord.ts";

/** The input of a person, as live views send it. */
export type PersonInput =
  | {
      readonly type: "mouse";
      readonly action: "move" | "down" | "up";
      readonly x: number;
      readonly y: number;
      readonly button: string;
      readonly clicks: number;
      readonly modifiers: number;
    }
  | { readonly type: "key"; readonly action: "down" | "up"; readonly key: string; readonly modifiers: number }
  | { readonly type: "text" | "compose" | "paste"; readonly text: string }
  | { readonly type: "tab"; readonly action: "show" | "close"; readonly id: string }
  | { readonly type: "navigate"; readonly url: string }
  | { readonly type: "history"; readonly action: "back" | "forward" | "reload" | "stop" }
  | { readonly type: "dialog"; readonly accept: boolean; readonly text?: string | undefined }
  | { readonly type: "open_tab" | "wheel" | "write_clipboard" | "read_clipboard" };

export type MouseInput = Extract<PersonInput, { type: "mouse" }>;
export type KeyInput = Extract<PersonInput, { type: "key" }>;

/** Keys that do nothing alone. */
const silentKeys: ReadonlySet<string> = new Set(
  "Shift Control Alt Meta AltGraph CapsLock NumLock ScrollLock Fn Dead Process Unidentified".split(" "),
);
/** Bits of CDP's `modifiers`. */
const [altBit, controlBit, metaBit, shiftBit] = [1, 2, 4, 8];
const modifiers = [
  [controlBit, "Control"],
  [altBit, "Alt"],
  [metaBit, "Meta"],
  [shiftBit, "Shift"],
] as const;

/** Whether an action may begin or end with it. Scrolling and moving are left out. */
export function isAct(input: PersonInput): boolean {
  switch (input.type) {
    case "mouse":
      return input.action !== "move";
    case "key":
      return input.action === "down" && !silentKeys.has(input.key);
    case "history":
      return input.action !== "stop";
    case "wheel":
    case "read_clipboard":
    case "write_clipboard":
      return false;
    default:
      return true;
  }
}

export function namesOf(bits: number): string[] {
  return modifiers.filter(([bit]) => (bits & bit) !== 0).map(([, name]) => name);
}

/** One code point: other keys have names. */
function isCharacter(key: string): boolean {
  return /^.$/su.test(key);
}

/** Whether a key types a character: alone, with Shift, or with Alt or AltGr (Control and Alt), as many keyboards need. */
export function types({ key, modifiers: bits }: KeyInput): boolean {
  const isShortcut = (bits & metaBit) !== 0 || ((bits & controlBit) !== 0 && (bits & altBit) === 0);
  return isCharacter(key) && !isShortcut;
}

/** The chord of `browsers.act`; `undefined` if it has no name there. */
export function chordOf({ key, modifiers: bits }: KeyInput): string | undefined {
  const held = namesOf(isCharacter(key) && (bits & ~shiftBit) === 0 ? 0 : bits);
  const chord = [...held, key === " " ? "space" : key === "+" ? "plus" : key].join("+");
  try {
    parseChord(chord, [], "key");
    return chord;
  } catch {
    return undefined;
  }
}
