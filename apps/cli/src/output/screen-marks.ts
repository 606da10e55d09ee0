/** Control characters above ASCII, and marks of text direction, which could make one text look like another. */
export const hiddenMarks = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const each = new RegExp(hiddenMarks, "g");

/** Escapes them like JSON and YAML, so that the value stays the same. */
export function withoutMarks(text: string): string {
  return text.replace(each, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** For a terminal. Texts of every format may come from a page; other programs get them unchanged. */
export function escapeMarks<Stream extends NodeJS.WritableStream>(stream: Stream): Stream {
  const write = stream.write.bind(stream) as (chunk: unknown, ...rest: unknown[]) => boolean;
  stream.write = (chunk: unknown, ...rest: unknown[]) =>
    write(typeof chunk === "string" ? withoutMarks(chunk) : chunk, ...rest);
  return stream;
}
