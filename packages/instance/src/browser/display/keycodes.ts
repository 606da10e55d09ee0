import type { Key } from "../input/us-layout.ts";

/** X keycode of each `KeyboardEvent.code` on Linux X servers: the kernel's keycode plus eight. */
const keycodes = new Map<string, number>();

function add(first: number, codes: string): void {
  for (const [offset, code] of codes.split(" ").entries()) keycodes.set(code, first + offset);
}
add(9, "Escape Digit1 Digit2 Digit3 Digit4 Digit5 Digit6 Digit7 Digit8 Digit9 Digit0 Minus Equal Backspace Tab");
add(24, "KeyQ KeyW KeyE KeyR KeyT KeyY KeyU KeyI KeyO KeyP BracketLeft BracketRight Enter ControlLeft");
add(38, "KeyA KeyS KeyD KeyF KeyG KeyH KeyJ KeyK KeyL Semicolon Quote Backquote ShiftLeft Backslash");
add(52, "KeyZ KeyX KeyC KeyV KeyB KeyN KeyM Comma Period Slash ShiftRight NumpadMultiply AltLeft Space CapsLock");
add(67, "F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 NumLock ScrollLock");
add(
  79,
  "Numpad7 Numpad8 Numpad9 NumpadSubtract Numpad4 Numpad5 Numpad6 NumpadAdd Numpad1 Numpad2 Numpad3 Numpad0 NumpadDecimal",
);
add(95, "F11 F12");
add(104, "NumpadEnter ControlRight NumpadDivide PrintScreen AltRight");
add(110, "Home ArrowUp PageUp ArrowLeft ArrowRight End ArrowDown PageDown Insert Delete");
add(121, "AudioVolumeMute AudioVolumeDown AudioVolumeUp");
add(125, "NumpadEqual");
add(127, "Pause");
add(133, "MetaLeft MetaRight ContextMenu");
add(146, "Help");
add(166, "BrowserBack BrowserForward");
add(171, "MediaTrackNext MediaPlayPause MediaTrackPrevious MediaStop");
add(181, "BrowserRefresh");
add(191, "F13 F14 F15 F16 F17 F18 F19 F20 F21 F22 F23 F24");

/** For keyboards with a third level; on the US layout this key is the right Alt. */
const altGraph = 92;

/** Returns a key's X keycode; `undefined` for a character that the US keyboard does not have. */
export function keycodeOf({ key, code }: Key): number | undefined {
  return key === "AltGraph" ? altGraph : keycodes.get(code);
}

export function keysymOf(character: string): number {
  const codePoint = character.codePointAt(0) ?? 0;
  const isLatin1 = (codePoint >= 0x20 && codePoint <= 0x7e) || (codePoint >= 0xa0 && codePoint <= 0xff);
  return isLatin1 ? codePoint : 0x0100_0000 + codePoint;
}

/** X servers require Num Lock for number pad keys that type a digit or the decimal point. */
export function needsNumLock({ key, location }: Key): boolean {
  return location === 3 && /^[0-9.]$/.test(key);
}
