import { isUtf8 } from "node:buffer";

/** A name or path as the API gives it. */
export interface ReadableName {
  readonly text: string;
  /** Present where a name of the path is not UTF-8. */
  readonly is_escaped?: true;
}

/**
 * Decodes the bytes of a name, or of a path. A name that is not UTF-8 gets `\xNN` for each invalid byte and `\\` for each backslash; other names of the path
 * stay as they are. So one file has one text, which begins with the text of its directory.
 */
export function readableName(bytes: Buffer): ReadableName {
  if (isUtf8(bytes)) return { text: bytes.toString() };
  const names: string[] = [];
  for (let start = 0; start <= bytes.length;) {
    const slash = bytes.indexOf("/", start);
    const end = slash === -1 ? bytes.length : slash;
    const name = bytes.subarray(start, end);
    names.push(isUtf8(name) ? name.toString() : escaped(name));
    start = end + 1;
  }
  return { text: names.join("/"), is_escaped: true };
}

function escaped(name: Buffer): string {
  let text = "";
  for (let at = 0; at < name.length;) {
    const byte = name[at] ?? 0;
    const sequence = name.subarray(at, at + sequenceLength(byte));
    if (!isUtf8(sequence)) {
      text += `\\x${byte.toString(16).padStart(2, "0")}`;
      at++;
      continue;
    }
    const character = sequence.toString();
    text += character === "\\" ? "\\\\" : character;
    at += sequence.length;
  }
  return text;
}

/** Bytes of the UTF-8 sequence that begins with a byte; 1 where none does. */
function sequenceLength(first: number): number {
  if (first < 0xc0) return 1;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}
