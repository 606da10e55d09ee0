import { expect, it } from "vitest";
import { namePatterns, type NamePattern, readNamePattern } from "./name-pattern.ts";

function pattern(text: string): NamePattern {
  const read = readNamePattern(text);
  if (read === undefined) throw new Error(`${text} is not a pattern`);
  return read;
}

it("finds the exact name before a wildcard, and the longest wildcard before a shorter one", () => {
  const find = namePatterns(
    ["*.example.com", "a.b.example.com", "*.b.example.com"].map((text) => [pattern(text), text]),
  );
  expect(["a.b.example.com", "c.b.example.com", "b.example.com", "x.y.example.com"].map(find)).toEqual([
    "a.b.example.com",
    "*.b.example.com",
    "*.example.com",
    "*.example.com",
  ]);
  expect(["example.com", "notexample.com", "example.com.evil.example", ""].map(find)).toEqual(Array(4).fill(undefined));
});
