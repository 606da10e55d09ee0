// Applies a page that describes changes of files: a line with the path of a new file, or "In `FILE`, below `LINE`:", and
// then the code.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const step =
  /^(?:In `(?<file>[^`]+)`, (?<where>below|above) `(?<anchor>[^`]+)`|`(?<created>[^`]+)`):\n\n```ts\n(?<code>[^]*?)^```$/gm;

/**
 * @param {string} page - Markdown
 * @param {string} root - of the changed tree
 * @returns {{ created: string[], changed: string[], lines: number }} the paths, and the number of lines in present files
 */
export function applyPage(page, root) {
  const created = [];
  const changed = new Set();
  let lines = 0;
  for (const { groups } of page.matchAll(step)) {
    const { code, file, where, anchor } = groups;
    const path = join(root, groups.created ?? file);
    if (groups.created !== undefined) {
      if (existsSync(path)) throw new Error(`${groups.created} exists already.`);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, code);
      created.push(groups.created);
      continue;
    }
    const present = readFileSync(path, "utf8").split("\n");
    const at = present.findIndex((line) => line.trim() === anchor);
    if (at < 0) throw new Error(`${file} has no line "${anchor}".`);
    const added = code.trimEnd().split("\n");
    present.splice(where === "below" ? at + 1 : at, 0, ...added);
    writeFileSync(path, present.join("\n"));
    changed.add(file);
    lines += added.length;
  }
  return { created, changed: [...changed], lines };
}
