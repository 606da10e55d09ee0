import { decode, encode } from "@jridgewell/sourcemap-codec";

/**
 * Edits a generated file and its source map.
 * @param {string} text
 * @param {readonly { at: number, remove?: number, text?: string }[]} edits - must not overlap; each removes `remove`
 * characters and inserts `text`.
 * @param {{ mappings: string }} map
 */
export function applyEdits(text, edits, map) {
  const ordered = edits.toSorted((a, b) => a.at - b.at);
  let out = "";
  let from = 0;
  for (const { at, remove = 0, text: inserted = "" } of ordered) {
    out += text.slice(from, at) + inserted;
    from = at + remove;
  }
  out += text.slice(from);

  const before = lineStarts(text);
  const after = lineStarts(out);
  const lines = after.map(() => []);
  let passed = 0;
  let shift = 0;
  let gone = 0;
  let line = 0;
  for (const [index, segments] of decode(map.mappings).entries()) {
    for (const [column, ...source] of segments) {
      const offset = (before[index] ?? text.length) + column;
      while (passed < ordered.length && ordered[passed].at <= offset) {
        const { at, remove = 0, text: inserted = "" } = ordered[passed++];
        shift += inserted.length - remove;
        gone = at + remove;
      }
      if (offset < gone) continue;
      const moved = offset + shift;
      while (line + 1 < after.length && after[line + 1] <= moved) line += 1;
      lines[line].push([moved - after[line], ...source]);
    }
  }
  return { text: out, map: { ...map, mappings: encode(lines) } };
}

function lineStarts(text) {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}
