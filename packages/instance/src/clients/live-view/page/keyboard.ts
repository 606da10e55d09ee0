import type { ViewerMessage } from "../messages.ts";
import { modifiersOf } from "./pointer.ts";

export interface KeyboardTarget {
  /** Has the focus while keys go to the session; an input method writes into it. */
  readonly field: HTMLTextAreaElement;
  readonly send: (message: ViewerMessage) => void;
  /** Called after a copy or cut shortcut: the session's clipboard has new text. */
  readonly copied: () => void;
  /** Called for the key that moves the focus out of the session's page. */
  readonly leave: () => void;
}

type KeyMessage = Extract<ViewerMessage, { type: "key" }>;

export function followKeyboard(target: KeyboardTarget, isMac: boolean): void {
  new Keyboard(target, isMac).follow();
}

class Keyboard {
  readonly #target: KeyboardTarget;
  readonly #isMac: boolean;
  readonly #held = new Map<string, KeyMessage>();

  constructor(target: KeyboardTarget, isMac: boolean) {
    this.#target = target;
    this.#isMac = isMac;
  }

  follow(): void {
    const { field } = this.#target;
    field.addEventListener("keydown", this.#onDown);
    field.addEventListener("keyup", this.#onUp);
    field.addEventListener("blur", this.#onBlur);
    followText(this.#target);
  }

  readonly #onDown = (event: KeyboardEvent): void => {
    // An input method is active; other events report its text.
    if (event.isComposing || ["Process", "Dead", "Unidentified"].includes(event.key)) return;
    if (event.key === "F6") {
      event.preventDefault();
      this.#target.leave();
      return;
    }
    const message = keyMessage(event, "down", this.#isMac);
    const isShortcut = (message.modifiers & 2) !== 0;
    // The browser pastes into the field, and the paste event has the text.
    if ((isShortcut && event.code === "KeyV") || (event.shiftKey && event.key === "Insert")) return;
    event.preventDefault();
    this.#held.set(event.code, message);
    this.#target.send(message);
    if (isShortcut && (event.code === "KeyC" || event.code === "KeyX" || event.key === "Insert")) this.#target.copied();
    // A Mac does not report keys that are released while Command is down.
    if (this.#isMac && event.metaKey && event.key !== "Meta") this.#release(event.code);
  };

  readonly #onUp = (event: KeyboardEvent): void => {
    if (!this.#held.delete(event.code)) return;
    event.preventDefault();
    this.#target.send(keyMessage(event, "up", this.#isMac));
  };

  readonly #onBlur = (): void => {
    for (const code of [...this.#held.keys()]) this.#release(code);
    this.#target.field.value = "";
  };

  #release(code: string): void {
    const down = this.#held.get(code);
    if (down === undefined) return;
    this.#held.delete(code);
    const { text: _text, ...key } = down;
    this.#target.send({ ...key, action: "up", repeat: false });
  }
}

/** Sends text that arrives without keys: from input methods, touch keyboards and the clipboard. */
function followText({ field, send }: KeyboardTarget): void {
  field.addEventListener("compositionupdate", ({ data }) => {
    send({ type: "compose", text: data.slice(0, 2000) });
  });
  field.addEventListener("compositionend", ({ data }) => {
    send(data === "" ? { type: "compose", text: "" } : { type: "text", text: data });
    field.value = "";
  });
  field.addEventListener("input", (event) => {
    if (event instanceof InputEvent && event.isComposing) return;
    if (field.value !== "") send({ type: "text", text: field.value });
    field.value = "";
  });
  field.addEventListener("paste", (event) => {
    event.preventDefault();
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (text !== "") send({ type: "paste", text });
  });
}

function keyMessage(event: KeyboardEvent, action: "down" | "up", isMac: boolean): KeyMessage {
  const isCommand = isMac && event.key === "Meta";
  const modifiers = keyModifiers(event, isMac);
  const text = (modifiers & 7) === 0 ? textOf(event.key) : undefined;
  return {
    type: "key",
    action,
    key: isCommand ? "Control" : event.key.slice(0, 64),
    code: isCommand ? event.code.replace("Meta", "Control") : event.code.slice(0, 64),
    // The session's browser needs `keyCode`, and no other field has this value.
    // oxlint-disable-next-line typescript/no-deprecated -- see above
    key_code: isCommand ? 17 : event.keyCode,
    location: event.location,
    modifiers,
    repeat: action === "down" && event.repeat,
    ...(action === "down" && text !== undefined && { text }),
  };
}

/** AltGr, which some systems report as Ctrl+Alt, and Option on a Mac select the character; they are not modifiers. */
function keyModifiers(event: KeyboardEvent, isMac: boolean): number {
  const modifiers = modifiersOf(event, isMac);
  if (event.getModifierState("AltGraph")) return modifiers & ~3;
  const isOptionCharacter = isMac && event.key.length === 1 && !event.metaKey && !event.ctrlKey;
  return isOptionCharacter ? modifiers & ~1 : modifiers;
}

function textOf(key: string): string | undefined {
  if (key === "Enter") return "\r";
  return Array.from(key).length === 1 ? key : undefined;
}
