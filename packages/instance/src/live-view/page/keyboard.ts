import type { ViewerMessage } from "../messages.ts";
import { modifiersOf } from "./pointer.ts";

export interface KeyboardTarget {
  /** Has the focus while keys are meant for the session; an input method writes into it. */
  readonly field: HTMLTextAreaElement;
  readonly send: (message: ViewerMessage) => void;
  /** A shortcut has copied or cut in the session: its clipboard is wanted here. */
  readonly copied: () => void;
  /** The key that leaves the session's page. */
  readonly leave: () => void;
}

type KeyMessage = Extract<ViewerMessage, { type: "key" }>;

/** Sends what is typed into the field, and by input methods. */
export function followKeyboard({ field, send, copied, leave }: KeyboardTarget, isMac: boolean): void {
  const held = new Map<string, KeyMessage>();

  function messageOf(event: KeyboardEvent, action: "down" | "up"): KeyMessage {
    const isCommand = isMac && event.key === "Meta";
    const isGraph = event.getModifierState("AltGraph");
    // What AltGr is made of on some systems, and what Option is on a Mac, belongs to the character.
    const modifiers = isGraph
      ? modifiersOf(event, isMac) & ~3
      : isMac && event.key.length === 1 && !event.metaKey && !event.ctrlKey
        ? modifiersOf(event, isMac) & ~1
        : modifiersOf(event, isMac);
    const types = (modifiers & 7) === 0 ? (event.key === "Enter" ? "\r" : Array.from(event.key).length === 1 ? event.key : undefined) : undefined;
    return {
      type: "key",
      action,
      key: isCommand ? "Control" : event.key.slice(0, 64),
      code: isCommand ? event.code.replace("Meta", "Control") : event.code.slice(0, 64),
      // `keyCode` is what the session's browser wants too, and nothing else says it.
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- see above
      key_code: isCommand ? 17 : event.keyCode,
      location: event.location,
      modifiers,
      repeat: action === "down" && event.repeat,
      ...(action === "down" && types !== undefined && { text: types }),
    };
  }

  function release(code: string): void {
    const down = held.get(code);
    if (down === undefined) return;
    held.delete(code);
    const { text: _text, ...key } = down;
    send({ ...key, action: "up", repeat: false });
  }

  field.addEventListener("keydown", (event) => {
    // An input method at work: what comes of it is told by its own events.
    if (event.isComposing || ["Process", "Dead", "Unidentified"].includes(event.key)) return;
    if (event.key === "F6") {
      event.preventDefault();
      leave();
      return;
    }
    const message = messageOf(event, "down");
    const isShortcut = (message.modifiers & 2) !== 0;
    // This browser pastes into the field, which is told with the text.
    if ((isShortcut && event.code === "KeyV") || (event.shiftKey && event.key === "Insert")) return;
    event.preventDefault();
    held.set(event.code, message);
    send(message);
    if (isShortcut && (event.code === "KeyC" || event.code === "KeyX" || event.key === "Insert")) copied();
    // A Mac does not tell of keys that go up while Command is down.
    if (isMac && event.metaKey && event.key !== "Meta") release(event.code);
  });
  field.addEventListener("keyup", (event) => {
    if (!held.has(event.code)) return;
    event.preventDefault();
    held.delete(event.code);
    send(messageOf(event, "up"));
  });
  field.addEventListener("blur", () => {
    for (const code of [...held.keys()]) release(code);
    field.value = "";
  });
  field.addEventListener("compositionupdate", ({ data }) => {
    send({ type: "compose", text: data.slice(0, 2000) });
  });
  field.addEventListener("compositionend", ({ data }) => {
    send(data === "" ? { type: "compose", text: "" } : { type: "text", text: data });
    field.value = "";
  });
  field.addEventListener("input", (event) => {
    if (event instanceof InputEvent && event.isComposing) return;
    // A touch keyboard, or a picker of characters.
    if (field.value !== "") send({ type: "text", text: field.value });
    field.value = "";
  });
  field.addEventListener("paste", (event) => {
    event.preventDefault();
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (text !== "") send({ type: "paste", text });
  });
}
