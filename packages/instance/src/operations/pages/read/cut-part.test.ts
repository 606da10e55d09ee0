import fc from "fast-check";
import { expect, it } from "vitest";
import { estimateTokens } from "../outline/estimate.ts";
import { cutPart } from "./cut-part.ts";

function partsOf(markdown: string, maxTokens: number): string[] {
  const parts: string[] = [];
  let offset: number | undefined = 0;
  while (offset !== undefined) {
    const { nextOffset, text } = cutPart(markdown, { offset, maxTokens, estimate: estimateTokens });
    parts.push(text);
    offset = nextOffset;
  }
  return parts;
}

const block = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 300 }),
  fc.constantFrom(
    "# Heading",
    "- one\n- two\n  - three",
    "```js\na\n\nb\n```",
    "| a | b |\n| - | - |\n| 1 | 2 |",
    "日本語".repeat(80),
  ),
);

it("parts of a text, joined, are the text, and fit into their limit", () => {
  fc.assert(
    fc.property(fc.array(block, { maxLength: 40 }), fc.integer({ min: 2, max: 200 }), (blocks, maxTokens) => {
      const markdown = blocks.join("\n\n");
      const parts = partsOf(markdown, maxTokens);
      expect(parts.join("")).toBe(markdown);
      for (const part of parts) expect(estimateTokens(part)).toBeLessThanOrEqual(maxTokens);
    }),
  );
});

it("ends parts before a block, but not inside of code", () => {
  const code = "```\nfirst\n\nsecond\n\nthird\n```";
  const text = `${"word ".repeat(30)}\n\n${code}\n\nend`;
  expect(partsOf(text, 42)[0]).toBe(`${"word ".repeat(30)}\n\n`);
});

it("ends parts of a long list before an item, and of a long line before a word", () => {
  const list = Array.from({ length: 50 }, (_, place) => `- item ${String(place)}`).join("\n");
  expect(partsOf(list, 20).every((part) => part.startsWith("- item"))).toBe(true);
  expect(partsOf("word ".repeat(100), 10).every((part) => part.startsWith("word"))).toBe(true);
});

it("does not cut a character in half", () => {
  for (const part of partsOf("😀".repeat(100), 7)) expect(part.isWellFormed()).toBe(true);
});
