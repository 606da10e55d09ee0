import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareLines } from "./compare-lines.ts";
import type { OutlineLine } from "./lines.ts";

const line = (key: string, text: string): OutlineLine => ({
  key,
  text,
  depth: 0,
  parent: undefined,
  element: undefined,
  elements: [],
  count: 1,
  isVisible: true,
  tokens: 1,
});
const keep = ({ key, text }: OutlineLine) => ({ key, text, parentKey: undefined });
const outlines = fc
  .uniqueArray(fc.tuple(fc.constantFrom("a", "b", "c", "d", "e", "f"), fc.constantFrom("one", "two", "three")), {
    selector: ([key]) => key,
  })
  .map((pairs) => pairs.map(([key, text]) => line(key, text)));

describe("the changes between two outlines", () => {
  it("turn the texts of the first into those of the second", () => {
    fc.assert(
      fc.property(outlines, outlines, (before, after) => {
        const texts = before.map(({ text }) => text);
        const changes = compareLines(before.map(keep), after);
        const changed = changes.filter(({ sign }) => sign === "~").length;
        const removed = changes.filter(({ sign }) => sign === "-");
        for (const { text } of removed) expect(texts).toContain(text.replace(/ and \d+ parts$/, ""));
        const left = texts.length - removed.reduce((sum, { count }) => sum + count, 0);
        const added = changes.filter(({ sign }) => sign === "+").length;
        expect(left + added).toBe(after.length);
        expect(changed).toBeLessThanOrEqual(Math.min(before.length, after.length));
      }),
    );
  });

  it("are empty for equal outlines, also of replaced nodes", () => {
    fc.assert(
      fc.property(outlines, (before) => {
        expect(compareLines(before.map(keep), before)).toEqual([]);
        expect(
          compareLines(
            before.map(keep),
            before.map((one) => ({ ...one, key: `new ${one.key}` })),
          ),
        ).toEqual([]);
      }),
    );
  });

  it.each([
    ["abc", "bca", "~ A (moved below C)"],
    ["abc", "cab", "~ C (moved to the top)"],
    ["abcdef", "abdefc", "~ C (moved below F)"],
    ["abc", "xbca", "~ A (moved below C)\n+ X"],
  ])("name the line that moved from %s to %s", (before, after, expected) => {
    const written = (keys: string, prefix = ""): OutlineLine[] =>
      Array.from(keys, (key) => line(prefix + key, key.toUpperCase()));
    const told = (lines: readonly OutlineLine[]): string =>
      compareLines(written(before).map(keep), lines)
        .map(({ sign, text }) => `${sign} ${text}`)
        .toSorted()
        .toReversed()
        .join("\n");
    expect(told(written(after))).toBe(expected);
    expect(told(written(after, "new "))).toBe(expected);
  });

  it("name a line that moved into another one, and not its content", () => {
    const within = (one: OutlineLine, parent: OutlineLine): OutlineLine => ({
      ...one,
      parent,
      depth: parent.depth + 1,
    });
    const [todo, done] = [line("t", "Todo"), line("d", "Done")];
    const card = within(line("c", "Card"), todo);
    const before = [todo, card, within(line("x", "Text"), card), done];
    const moved = within(line("c", "Card"), done);
    const earlier = before.map(({ key, parent, text }) => ({ key, text, parentKey: parent?.key }));
    expect(compareLines(earlier, [todo, done, moved, within(line("x", "Text"), moved)])).toMatchObject([
      { sign: "~", text: "Card (moved to the top)" },
    ]);
  });

  it.each([
    ["with a role", "a [bcdefghi] x", ["- A and 8 parts"]],
    ["without one", "abcdefghi x", ["- A and 8 parts"]],
    ["with parts inside", "a [bc] d [ef] g h i [jk] l x", ["- A and 11 parts"]],
    ["of few parts", "ab [cde] x", ["- A", "- B"]],
    ["around a line that stays", "abc x def", ["- A", "- B", "- C", "- D", "- E", "- F"]],
  ])("name a removed popup %s by its first line", (_title, drawn, expected) => {
    const earlier: { key: string; text: string; parentKey: string | undefined }[] = [];
    let parentKey: string | undefined;
    for (const key of drawn)
      if (key === "[") parentKey = earlier.at(-1)?.key;
      else if (key === "]") parentKey = undefined;
      else if (key !== " ") earlier.push({ key, text: key.toUpperCase(), parentKey });
    const changes = compareLines(earlier, [line("x", "X")]);
    expect(changes.map(({ sign, text }) => `${sign} ${text}`)).toEqual(expected);
    expect(changes.reduce((sum, { count }) => sum + count, 0)).toBe(earlier.length - 1);
  });
});
