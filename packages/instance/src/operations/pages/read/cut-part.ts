export interface TextPart {
  readonly text: string;
  /** Where the next part begins; absent at the end. */
  readonly nextOffset: number | undefined;
}

/** Parts end at the last border in this share of their room. */
const borderShare = 0.5;

/**
 * Returns the part of a Markdown text from `offset` (UTF-16 units) with at most `maxTokens`. It ends before a block, or a
 * line, or a word. The parts of a text, joined, are the text.
 */
export function cutPart(
  markdown: string,
  {
    offset,
    maxTokens,
    estimate,
  }: {
    readonly offset: number;
    readonly maxTokens: number;
    readonly estimate: (text: string) => number;
  },
): TextPart {
  const room = longestPrefix(markdown, { offset, maxTokens, estimate });
  if (offset + room >= markdown.length) return { text: markdown.slice(offset), nextOffset: undefined };
  const end = offset + room;
  const least = offset + Math.ceil(room * borderShare);
  const next =
    lastBlockBorder(markdown, { offset, least, end }) ??
    lastAfter(markdown, "\n", { least, end }) ??
    lastAfter(markdown, " ", { least, end }) ??
    wholeCharacter(markdown, offset, end);
  return { text: markdown.slice(offset, next), nextOffset: next };
}

const mostCharactersPerToken = 16;

function longestPrefix(
  markdown: string,
  { offset, maxTokens, estimate }: { offset: number; maxTokens: number; estimate: (text: string) => number },
): number {
  let fits = 1;
  let tooLong = Math.min(markdown.length - offset, maxTokens * mostCharactersPerToken) + 1;
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2);
    if (estimate(markdown.slice(offset, offset + middle)) <= maxTokens) fits = middle;
    else tooLong = middle;
  }
  return fits;
}

/** The start of the last block that is not inside fenced code. */
function lastBlockBorder(
  markdown: string,
  { offset, least, end }: { offset: number; least: number; end: number },
): number | undefined {
  let fence = openFence(markdown, offset);
  let found: number | undefined;
  let lineStart = offset;
  while (lineStart < end) {
    const lineEnd = markdown.indexOf("\n", lineStart);
    if (lineEnd === -1 || lineEnd >= end) break;
    const line = markdown.slice(lineStart, lineEnd);
    fence = fenceAfter(line, fence);
    lineStart = lineEnd + 1;
    if (line === "" && fence === undefined && lineStart >= least && lineStart <= end) found = lineStart;
  }
  return found;
}

/** The fence of the code block around an offset: an earlier part may have ended inside of it. */
function openFence(markdown: string, offset: number): string | undefined {
  let fence: string | undefined;
  for (let start = 0; start < offset;) {
    const end = markdown.indexOf("\n", start);
    if (end === -1 || end >= offset) break;
    fence = fenceAfter(markdown.slice(start, Math.min(end, start + 200)), fence);
    start = end + 1;
  }
  return fence;
}

function fenceAfter(line: string, open: string | undefined): string | undefined {
  const mark = /^\s*(?:[-*>]\s+|\d+\.\s+)*(`{3,}|~{3,})/.exec(line.slice(0, 200))?.[1];
  if (mark === undefined) return open;
  if (open === undefined) return mark;
  return mark.startsWith(open) ? undefined : open;
}

function lastAfter(markdown: string, mark: string, { least, end }: { least: number; end: number }): number | undefined {
  const found = markdown.lastIndexOf(mark, end - 1);
  return found + 1 < least || found === -1 ? undefined : found + 1;
}

/** Does not cut a surrogate pair. */
function wholeCharacter(markdown: string, offset: number, end: number): number {
  const code = markdown.charCodeAt(end - 1);
  const isFirstHalf = code >= 0xd800 && code <= 0xdbff;
  if (!isFirstHalf) return end;
  return end - 1 > offset ? end - 1 : end + 1;
}
