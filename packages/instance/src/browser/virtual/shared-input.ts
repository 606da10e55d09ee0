type Params = Readonly<Record<string, unknown>>;

const pasteKeys: ReadonlySet<unknown> = new Set(["v", "V", "KeyV", 86]);
const insertKeys: ReadonlySet<unknown> = new Set(["Insert", 45]);
const modifier = { control: 2, meta: 4, shift: 8 };

/** Editing commands that read no clipboard. */
const editing =
  /^(?:(?:delete|move|scroll|select)[a-z]*|copy|cut|undo|redo|unselect|insert(?:backtab|linebreak|newline|paragraph|tab|text))$/i;

/** `KeyboardEvent.key` of keys that type nothing. `Paste` and keys that are not listed might read the clipboard. */
const namedKeys: ReadonlySet<unknown> = new Set(
  "Alt AltGraph CapsLock Control Fn FnLock Hyper Meta NumLock OS ScrollLock Shift Super Symbol SymbolLock Enter Tab ArrowDown ArrowLeft ArrowRight ArrowUp End Home PageDown PageUp Backspace Clear Copy CrSel Cut Delete Insert Redo Undo Cancel ContextMenu Escape Help Pause Select ZoomIn ZoomOut PrintScreen Compose Convert Dead NonConvert Process Unidentified HangulMode HanjaMode KanaMode KanjiMode Eisu Hankaku Hiragana Katakana Romaji Zenkaku AudioVolumeDown AudioVolumeMute AudioVolumeUp MediaPlayPause MediaStop MediaTrackNext MediaTrackPrevious".split(
    " ",
  ),
);
const functionKey = /^F(?:[1-9]|1\d|2[0-4])$/;
const oneCharacter = /^.$/su;

/** `KeyboardEvent.code` of the keys of keyboards, without those for the clipboard alone. */
const codes =
  /^(?:|(?:Key[A-Z]|Digit\d|F\d{1,2}|Numpad[A-Za-z0-9]+|Arrow[A-Z][a-z]+|(?:Alt|Bracket|Control|Meta|OS|Shift)(?:Left|Right)|Intl[A-Z][A-Za-z]+|Lang\d|(?:Audio|Media)[A-Z][A-Za-z]+)|Backquote|Backslash|Backspace|CapsLock|Comma|ContextMenu|Convert|Delete|End|Enter|Equal|Escape|Fn|Help|Home|Insert|KanaMode|Minus|NonConvert|NumLock|PageDown|PageUp|Pause|Period|PrintScreen|Quote|ScrollLock|Semicolon|Slash|Space|Tab|Unidentified)$/;

/** Whether `Input.dispatchKeyEvent` may read the clipboard: true for every key that is not known to leave it alone. */
export function keyMayPaste({ code = "", commands = [], key = "", modifiers, windowsVirtualKeyCode }: Params): boolean {
  if (!Array.isArray(commands) || !commands.every((name) => typeof name === "string" && editing.test(name)))
    return true;
  if (typeof key !== "string" || typeof code !== "string" || !codes.test(code)) return true;
  if (key.length > 1 && !oneCharacter.test(key) && !namedKeys.has(key) && !functionKey.test(key)) return true;
  const held = typeof modifiers === "number" ? modifiers : 0;
  const named = [key, code, windowsVirtualKeyCode];
  if ((held & (modifier.control | modifier.meta)) !== 0 && named.some((name) => pasteKeys.has(name))) return true;
  return (held & modifier.shift) !== 0 && named.some((name) => insertKeys.has(name));
}

/** Whether a mouse event may paste: the middle button pastes the selection of the session that selected last. */
export function buttonMayPaste({ button }: Params): boolean {
  return button === "middle";
}
