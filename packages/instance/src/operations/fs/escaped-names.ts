import { isUtf8 } from "node:buffer";

export interface ReadableName {
  readonly text: string;
  readonly is_escaped?: true;
}

/** If a name is not UTF-8, escapes invalid bytes as `\xNN` and backslashes as `\\`, so that the text is unique. */
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

/** Length of the UTF-8 sequence that starts with a byte; 1 for an invalid byte. */
function sequenceLength(first: number): number {
  if (first < 0xc0) return 1;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}
