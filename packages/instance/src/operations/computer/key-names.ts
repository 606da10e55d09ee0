import { keyOfCharacter, type CharacterKey, type Key } from "../../browser/input/us-layout.ts";

const named = new Map<string, Key>();

function add(names: string, key: Key): void {
  for (const name of names.split(" ")) named.set(name, key);
}

// X11 keysyms first, then other common names. A modifier without a side is the left one.
add("Shift_L Shift ShiftLeft", { key: "Shift", code: "ShiftLeft", keyCode: 16, location: 1 });
add("Shift_R ShiftRight", { key: "Shift", code: "ShiftRight", keyCode: 16, location: 2 });
add("Control_L Control Ctrl ControlLeft ControlOrMeta", {
  key: "Control",
  code: "ControlLeft",
  keyCode: 17,
  location: 1,
});
add("Control_R ControlRight", { key: "Control", code: "ControlRight", keyCode: 17, location: 2 });
add("Alt_L Alt Option AltLeft", { key: "Alt", code: "AltLeft", keyCode: 18, location: 1 });
add("Alt_R AltRight", { key: "Alt", code: "AltRight", keyCode: 18, location: 2 });
add("ISO_Level3_Shift Mode_switch AltGr AltGraph", { key: "AltGraph", code: "AltRight", keyCode: 225, location: 2 });
add("Super_L Meta_L MetaLeft Super Meta Hyper_L Win Windows Cmd Command", {
  key: "Meta",
  code: "MetaLeft",
  keyCode: 91,
  location: 1,
});
add("Super_R Meta_R MetaRight Hyper_R", { key: "Meta", code: "MetaRight", keyCode: 92, location: 2 });
add("Return Linefeed Enter", { key: "Enter", code: "Enter", keyCode: 13, text: "\r" });
add("Tab ISO_Left_Tab", { key: "Tab", code: "Tab", keyCode: 9 });
add("BackSpace", { key: "Backspace", code: "Backspace", keyCode: 8 });
add("Delete Del", { key: "Delete", code: "Delete", keyCode: 46 });
add("Insert Ins", { key: "Insert", code: "Insert", keyCode: 45 });
add("Escape Esc", { key: "Escape", code: "Escape", keyCode: 27 });
add("Home", { key: "Home", code: "Home", keyCode: 36 });
add("End", { key: "End", code: "End", keyCode: 35 });
add("Prior Page_Up PageUp PgUp", { key: "PageUp", code: "PageUp", keyCode: 33 });
add("Next Page_Down PageDown PgDn", { key: "PageDown", code: "PageDown", keyCode: 34 });
add("Left ArrowLeft", { key: "ArrowLeft", code: "ArrowLeft", keyCode: 37 });
add("Up ArrowUp", { key: "ArrowUp", code: "ArrowUp", keyCode: 38 });
add("Right ArrowRight", { key: "ArrowRight", code: "ArrowRight", keyCode: 39 });
add("Down ArrowDown", { key: "ArrowDown", code: "ArrowDown", keyCode: 40 });
add("Caps_Lock CapsLock", { key: "CapsLock", code: "CapsLock", keyCode: 20 });
add("Num_Lock NumLock", { key: "NumLock", code: "NumLock", keyCode: 144 });
add("Scroll_Lock ScrollLock", { key: "ScrollLock", code: "ScrollLock", keyCode: 145 });
add("Print Sys_Req PrintScreen", { key: "PrintScreen", code: "PrintScreen", keyCode: 44 });
add("Pause Break", { key: "Pause", code: "Pause", keyCode: 19 });
add("Menu ContextMenu", { key: "ContextMenu", code: "ContextMenu", keyCode: 93 });
add("Help", { key: "Help", code: "Help", keyCode: 47 });
for (let number = 1; number <= 24; number++)
  add(`F${String(number)}`, { key: `F${String(number)}`, code: `F${String(number)}`, keyCode: 111 + number });
for (let digit = 0; digit <= 9; digit++)
  add(`KP_${String(digit)}`, {
    key: String(digit),
    code: `Numpad${String(digit)}`,
    keyCode: 96 + digit,
    text: String(digit),
    location: 3,
  });
add("KP_Multiply", { key: "*", code: "NumpadMultiply", keyCode: 106, text: "*", location: 3 });
add("KP_Add", { key: "+", code: "NumpadAdd", keyCode: 107, text: "+", location: 3 });
add("KP_Subtract", { key: "-", code: "NumpadSubtract", keyCode: 109, text: "-", location: 3 });
add("KP_Decimal KP_Separator", { key: ".", code: "NumpadDecimal", keyCode: 110, text: ".", location: 3 });
add("KP_Divide", { key: "/", code: "NumpadDivide", keyCode: 111, text: "/", location: 3 });
add("KP_Equal", { key: "=", code: "NumpadEqual", keyCode: 187, text: "=", location: 3 });
add("KP_Enter", { key: "Enter", code: "NumpadEnter", keyCode: 13, text: "\r", location: 3 });
add("KP_Insert", { key: "Insert", code: "Numpad0", keyCode: 45, location: 3 });
add("KP_End", { key: "End", code: "Numpad1", keyCode: 35, location: 3 });
add("KP_Down", { key: "ArrowDown", code: "Numpad2", keyCode: 40, location: 3 });
add("KP_Next KP_Page_Down", { key: "PageDown", code: "Numpad3", keyCode: 34, location: 3 });
add("KP_Left", { key: "ArrowLeft", code: "Numpad4", keyCode: 37, location: 3 });
add("KP_Begin", { key: "Clear", code: "Numpad5", keyCode: 12, location: 3 });
add("KP_Right", { key: "ArrowRight", code: "Numpad6", keyCode: 39, location: 3 });
add("KP_Home", { key: "Home", code: "Numpad7", keyCode: 36, location: 3 });
add("KP_Up", { key: "ArrowUp", code: "Numpad8", keyCode: 38, location: 3 });
add("KP_Prior KP_Page_Up", { key: "PageUp", code: "Numpad9", keyCode: 33, location: 3 });
add("KP_Delete", { key: "Delete", code: "NumpadDecimal", keyCode: 46, location: 3 });
add("XF86AudioMute", { key: "AudioVolumeMute", code: "AudioVolumeMute", keyCode: 173 });
add("XF86AudioLowerVolume", { key: "AudioVolumeDown", code: "AudioVolumeDown", keyCode: 174 });
add("XF86AudioRaiseVolume", { key: "AudioVolumeUp", code: "AudioVolumeUp", keyCode: 175 });
add("XF86AudioNext", { key: "MediaTrackNext", code: "MediaTrackNext", keyCode: 176 });
add("XF86AudioPrev", { key: "MediaTrackPrevious", code: "MediaTrackPrevious", keyCode: 177 });
add("XF86AudioStop", { key: "MediaStop", code: "MediaStop", keyCode: 178 });
add("XF86AudioPlay", { key: "MediaPlayPause", code: "MediaPlayPause", keyCode: 179 });
add("XF86Back", { key: "BrowserBack", code: "BrowserBack", keyCode: 166 });
add("XF86Forward", { key: "BrowserForward", code: "BrowserForward", keyCode: 167 });
add("XF86Reload", { key: "BrowserRefresh", code: "BrowserRefresh", keyCode: 168 });

const namedInAnyCase = new Map([...named].map(([name, key]) => [name.toLowerCase(), key]));

const keysyms = new Map<string, string>();
function addCharacters(first: number, names: string): void {
  for (const [offset, name] of names.split(" ").entries()) keysyms.set(name, String.fromCodePoint(first + offset));
}
addCharacters(
  0x20,
  "space exclam quotedbl numbersign dollar percent ampersand apostrophe parenleft parenright asterisk plus comma minus period slash",
);
addCharacters(0x3a, "colon semicolon less equal greater question at");
addCharacters(0x5b, "bracketleft backslash bracketright asciicircum underscore grave");
addCharacters(0x7b, "braceleft bar braceright asciitilde");
addCharacters(
  0xa0,
  "nobreakspace exclamdown cent sterling currency yen brokenbar section diaeresis copyright ordfeminine guillemotleft notsign hyphen registered macron degree plusminus twosuperior threesuperior acute mu paragraph periodcentered cedilla onesuperior masculine guillemotright onequarter onehalf threequarters questiondown",
);
addCharacters(
  0xc0,
  "Agrave Aacute Acircumflex Atilde Adiaeresis Aring AE Ccedilla Egrave Eacute Ecircumflex Ediaeresis Igrave Iacute Icircumflex Idiaeresis ETH Ntilde Ograve Oacute Ocircumflex Otilde Odiaeresis multiply Oslash Ugrave Uacute Ucircumflex Udiaeresis Yacute THORN ssharp",
);
addCharacters(
  0xe0,
  "agrave aacute acircumflex atilde adiaeresis aring ae ccedilla egrave eacute ecircumflex ediaeresis igrave iacute icircumflex idiaeresis eth ntilde ograve oacute ocircumflex otilde odiaeresis division oslash ugrave uacute ucircumflex udiaeresis yacute thorn ydiaeresis",
);
addCharacters(0x20ac, "EuroSign");
addCharacters(0x2013, "endash emdash");
addCharacters(0x2018, "leftsinglequotemark rightsinglequotemark");
addCharacters(0x201c, "leftdoublequotemark rightdoublequotemark");
addCharacters(0x2026, "ellipsis");
addCharacters(0x27, "quoteright");
addCharacters(0x60, "quoteleft");

/** Takes an X11 keysym (`Return`, `U20AC`), another common name in any case (`Enter`), a code (`KeyA`), or a character. */
export function keyOfName(name: string): CharacterKey | undefined {
  if (isOneCharacter(name)) return keyOfCharacter(name);
  const exact = named.get(name);
  if (exact !== undefined) return { key: exact, shift: name === "ISO_Left_Tab" };
  const character = keysyms.get(name) ?? characterOfCode(name) ?? unicodeKeysym(name);
  if (character !== undefined) return keyOfCharacter(character);
  const key = namedInAnyCase.get(name.toLowerCase());
  return key && { key, shift: false };
}

/** Reads `KeyA`, `Digit7` and `Space`, as in `KeyboardEvent.code`. */
function characterOfCode(name: string): string | undefined {
  if (name === "Space") return " ";
  return /^(?:Key([A-Z])|Digit([0-9]))$/.exec(name)?.slice(1).join("").toLowerCase();
}

function isOneCharacter(name: string): boolean {
  return name.length === ((name.codePointAt(0) ?? 0) > 0xff_ff ? 2 : 1) && isTyped(name);
}

/** False for control characters and lone surrogates. */
export function isTyped(character: string): boolean {
  return character.isWellFormed() && !/\p{Cc}/u.test(character);
}

/** Reads `U20AC`, X11's notation for a character without a name. */
function unicodeKeysym(name: string): string | undefined {
  const digits = /^U\+?([0-9a-fA-F]{4,6})$/.exec(name)?.[1];
  if (digits === undefined) return undefined;
  const codePoint = Number.parseInt(digits, 16);
  if (codePoint > 0x10_ff_ff) return undefined;
  const character = String.fromCodePoint(codePoint);
  return isTyped(character) ? character : undefined;
}
