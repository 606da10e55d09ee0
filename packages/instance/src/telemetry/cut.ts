/** Text that was shortened where it was too long. */
export interface CutText {
  readonly text: string;
  readonly cut: boolean;
}

/** @param maxBytes - of UTF-8; a character is never cut in two. */
export function cutText(text: string, maxBytes: number): CutText {
  // No character takes more than three bytes a UTF-16 unit.
  if (text.length * 3 <= maxBytes) return { text, cut: false };
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return { text, cut: false };
  let end = maxBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return { text: bytes.toString("utf8", 0, end), cut: true };
}

/** Shortens the texts of one event, and knows whether any was too long. */
export class Cutter {
  cut = false;

  /** @param maxBytes - of UTF-8. */
  text<T extends string | undefined>(text: T, maxBytes: number): T | string {
    if (text === undefined) return text;
    const shortened = cutText(text, maxBytes);
    this.cut ||= shortened.cut;
    return shortened.text;
  }

  /** The first `max` of them. */
  list<T>(items: readonly T[], max: number): T[] {
    if (items.length <= max) return [...items];
    this.cut = true;
    return items.slice(0, max);
  }

  /** The event's `truncated`, where something was cut. */
  get mark(): { truncated?: true } {
    return this.cut ? { truncated: true } : {};
  }
}

/** Longest address in an event, in bytes; `data:` addresses may be megabytes. */
export const maxUrlBytes = 8192;
