/** Inclusive, from 0. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * `whole` for a missing, invalid or multi-part header, as the RFC allows; `beyond` = outside the file.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-14.2 | RFC 9110, 14.2}
 */
export function byteRange(header: string | undefined, sizeBytes: number): ByteRange | "whole" | "beyond" {
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? "") ?? [];
  if (first === "" && last === "") return "whole";
  if (first === "")
    return last === "0" || sizeBytes === 0
      ? "beyond"
      : { start: Math.max(0, sizeBytes - Number(last)), end: sizeBytes - 1 };
  const start = Number(first);
  const end = last === "" ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1);
  if (last !== "" && Number(last) < start) return "whole";
  return start >= sizeBytes ? "beyond" : { start, end };
}
