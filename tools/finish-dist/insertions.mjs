import { decode, encode } from "@jridgewell/sourcemap-codec";

/**
 * Inserts texts into a generated file and moves its source map along.
 *
 * @param {string} text
 * @param {readonly { at: number, text: string }[]} insertions
 * @param {{ mappings: string }} map
 */
export function applyInsertions(text, insertions, map) {
  const ordered = insertions.toSorted((a, b) => a.at - b.at);
  let out = "";
  let from = 0;
  for (const insertion of ordered) {
    out += text.slice(from, insertion.at) + insertion.text;
    from = insertion.at;
  }
  out += text.slice(from);

  const before = lineStarts(text);
  const after = lineStarts(out);
  const lines = after.map(() => []);
  let passed = 0;
  let shift = 0;
  let line = 0;
  for (const [index, segments] of decode(map.mappings).entries()) {
    for (const [column, ...source] of segments) {
      const offset = (before[index] ?? text.length) + column;
      while (passed < ordered.length && ordered[passed].at <= offset) shift += ordered[passed++].text.length;
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
