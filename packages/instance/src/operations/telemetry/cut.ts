export interface CutText {
  readonly text: string;
  readonly cut: boolean;
}

/** @param maxBytes - of UTF-8; never splits a character. */
export function cutText(text: string, maxBytes: number): CutText {
  // A UTF-16 unit needs at most three bytes of UTF-8.
  if (text.length * 3 <= maxBytes) return { text, cut: false };
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return { text, cut: false };
  let end = maxBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return { text: bytes.toString("utf8", 0, end), cut: true };
}

/** Shortens the texts of one event and remembers whether any was too long. */
export class Cutter {
  cut = false;

  text<T extends string | undefined>(text: T, maxBytes: number): T | string {
    if (text === undefined) return text;
    const shortened = cutText(text, maxBytes);
    this.cut ||= shortened.cut;
    return shortened.text;
  }

  list<T>(items: readonly T[], max: number): T[] {
    if (items.length <= max) return [...items];
    this.cut = true;
    return items.slice(0, max);
  }

  /** The event's `truncated` field, if something was cut. */
  get mark(): { truncated?: true } {
    return this.cut ? { truncated: true } : {};
  }
}

/** Longest URL in an event, in bytes; `data:` URLs may have megabytes. */
export const maxUrlBytes = 8192;
