/** Replaces a secret in answers and events. */
export const redacted = "***";

/** The head is searched for; the rest is compared behind it. */
const headUnits = 4;
/** Of a secret that is cut off, at least this many characters are replaced. */
const leastCut = 6;
/** A text that was cut off is at least this long, or ends with an ellipsis. */
const leastCutText = 200;
/** Characters compared in one text; the rest of a text that needs more is replaced as a whole. */
const maxSteps = 500_000;
/** More cannot be in a regular expression. */
const maxEncodedBytes = 48;

const escapeRegExp = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, "0");

const entityNames: Readonly<Record<string, string>> = { "&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos" };
const jsonEscapes: Readonly<Record<string, string>> = { "\n": "n", "\r": "r", "\t": "t", "\f": "f", "\b": "b" };

/**
 * A character as it is, in an address, in a form, in JSON and in HTML, each once or several times.
 * @param unit - one character, or a run of backslashes.
 */
function formsOf(unit: string): string {
  if (unit.startsWith("\\"))
    return String.raw`(?:\\{1,8}u005c){1,16}|\\{1,64}|(?:%(?:25){0,6}5c){1,16}|(?:&(?:amp;){0,6}#(?:92|x5c);){1,16}`;
  const bytes = [...Buffer.from(unit)].map((byte) => `%(?:25){0,6}${hex(byte, 2)}`).join("");
  const units = Array.from({ length: unit.length }, (_, place) => hex(unit.charCodeAt(place), 4));
  const code = unit.codePointAt(0) ?? 0;
  const entities = [`#${String(code)}`, `#x${hex(code, 1)}`, entityNames[unit]].filter(Boolean).join("|");
  const escaped = jsonEscapes[unit];
  return [
    bytes,
    units.map((one) => String.raw`\\{1,8}u${one}`).join(""),
    `&(?:amp;){0,6}(?:${entities});`,
    ...(unit === " " ? [String.raw`\+`] : []),
    ...(escaped === undefined ? [] : [String.raw`\\{1,8}${escaped}`]),
    // Last, because `&` and `%` begin the others.
    String.raw`\\{0,8}${escapeRegExp(unit)}`,
  ].join("|");
}

const base64Digits: Readonly<Record<string, string>> = {
  "+": "(?:[+-]|%(?:25){0,6}2b)",
  "/": String.raw`(?:\\{0,8}/|_|%(?:25){0,6}2f)`,
};

/** The characters of Base64 that depend on the secret alone, at every place in an encoded text. */
function base64FormsOf(bytes: Buffer, rest: string): string[] {
  return [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    const [first, end] = [Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6)];
    return encoded.slice(first, end).replaceAll(/[+/]/g, (digit) => base64Digits[digit] ?? digit) + rest;
  });
}

/** Finds one secret in texts, in the forms in which pages and protocols write it. */
export class SecretMatcher {
  /** Matches the beginning of every form of the secret. */
  readonly beginning: string;
  readonly #units: readonly string[];
  readonly #least: number;
  readonly #head: RegExp;
  readonly #encoded: RegExp;
  /** By unit. */
  readonly #compiled = new Map<string, RegExp>();

  constructor(secret: string) {
    this.#units = secret.replaceAll("\r\n", "\n").match(/\\+|[^\\]/gsu) ?? [];
    this.#least = Math.max(leastCut, Math.ceil(this.#units.length / 2));
    const head = this.#units.slice(0, headUnits).map((unit) => `(?:${formsOf(unit)})`);
    const bytes = Buffer.from(secret).subarray(0, maxEncodedBytes);
    const isLonger = Buffer.byteLength(secret) > maxEncodedBytes;
    const encoded = [
      ...base64FormsOf(bytes, isLonger ? "[a-z0-9+/_%=-]*" : ""),
      bytes.toString("hex") + (isLonger ? "[0-9a-f]*" : ""),
    ];
    this.beginning = [head.join(""), ...encoded].join("|");
    this.#head = new RegExp(head.join(""), "giu");
    this.#encoded = new RegExp(encoded.join("|"), "giu");
  }

  replaceIn(text: string): string {
    return this.#replaceWritten(text.replace(this.#encoded, redacted));
  }

  #replaceWritten(text: string): string {
    const head = this.#head;
    let [shown, from, steps] = ["", 0, 0];
    head.lastIndex = 0;
    for (let found = head.exec(text); found !== null; found = head.exec(text)) {
      const { end, compared } = this.#endOf(text, head.lastIndex);
      steps += compared;
      if (steps > maxSteps) return shown + text.slice(from, found.index) + redacted;
      // The next one may begin inside this.
      head.lastIndex = end ?? found.index + 1;
      if (end === undefined) continue;
      shown += text.slice(from, found.index) + redacted;
      from = end;
    }
    return from === 0 && shown === "" ? text : shown + text.slice(from);
  }

  /** Where the secret ends whose head ends here; also at the place where the text was cut off. */
  #endOf(text: string, headEnd: number): { readonly end: number | undefined; readonly compared: number } {
    let end = headEnd;
    let place = headUnits;
    for (; place < this.#units.length; place++) {
      const next = this.#next(place);
      next.lastIndex = end;
      if (!next.test(text)) break;
      end = next.lastIndex;
    }
    const isCut = text[end] === "…" || (end === text.length && end >= leastCutText);
    const isFound = place >= this.#units.length || (isCut && place >= this.#least);
    return { end: isFound ? end : undefined, compared: place };
  }

  #next(place: number): RegExp {
    const unit = this.#units[place] ?? "";
    const known = this.#compiled.get(unit);
    if (known !== undefined) return known;
    const made = new RegExp(`(?:${formsOf(unit)})`, "iuy");
    this.#compiled.set(unit, made);
    return made;
  }
}
