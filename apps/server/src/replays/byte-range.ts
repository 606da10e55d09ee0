/** A part of a file: its first and last byte, from 0. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Reads a `Range` header.
 *
 * @returns `whole` for none, for several parts at once and for what is not understood, which all may be answered so; `beyond` where nothing of the file is asked for.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-14.2 | RFC 9110, 14.2}
 */
export function byteRange(header: string | undefined, sizeBytes: number): ByteRange | "whole" | "beyond" {
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? "") ?? [];
  if (first === "" && last === "") return "whole";
  if (first === "") return last === "0" || sizeBytes === 0 ? "beyond" : { start: Math.max(0, sizeBytes - Number(last)), end: sizeBytes - 1 };
  const start = Number(first);
  const end = last === "" ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1);
  if (last !== "" && Number(last) < start) return "whole";
  return start >= sizeBytes ? "beyond" : { start, end };
}
