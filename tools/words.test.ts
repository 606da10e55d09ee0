import { expect, it } from "vitest";
import { findWords } from "./words.mjs";

const wordsIn = (path: string, text: string) => findWords(path, text).map(({ line, words }) => `${line}: ${words}`);

it("finds words in comments of one line, of several lines, and in doc comments", () => {
  const text = [
    "// The folder beside the",
    "// session; there is",
    "// no other.",
    "/**",
    " * Mends the file, as long",
    " * as it exists.",
    " */",
    "const beside = 1;",
  ].join("\n");
  expect(wordsIn("a.ts", text)).toEqual(["1: beside", "2: there is no", "5: Mends", "5: as long as"]);
});

it("finds words in titles and messages, and ignores names, data and regular expressions", () => {
  const text = [
    'it("starts the session anew", () => {',
    '  const who = ["nobody", /beside/];',
    "  throw new Error(`${who} is no session`);",
    "});",
  ].join("\n");
  expect(wordsIn("a.test.ts", text)).toEqual(["1: anew", "3: is no"]);
});

it("does not match across a comment, a string or code in backticks", () => {
  expect(wordsIn("a.ts", '// there is\nconst a = "no"; // what `is` is\n')).toEqual([]);
});

it("reads Markdown without its code, and the comments of its blocks", () => {
  const text = [
    "The file is beside `beside`, [see](beside.md).",
    "",
    "```ts",
    "const beside = 1; // told of the end",
    "```",
    "",
    "Twice as long as before. Values such as `1`. What is Shoal?",
  ].join("\n");
  expect(wordsIn("a.md", text)).toEqual(["1: beside", "4: told of"]);
});

it("accepts who after the name of a person", () => {
  expect(wordsIn("a.md", "For operators who run it. Who runs it waits.")).toEqual(["1: Who"]);
});

it("skips a part of a Markdown file that turns the check off", () => {
  const text = "<!-- words: off -->\nbeside\n<!-- words: on -->\nanew\n";
  expect(wordsIn("a.md", text)).toEqual(["4: anew"]);
});

it("says what to write instead", () => {
  expect(findWords("a.md", "It is beside the file.")).toEqual([
    { line: 1, words: "beside", advice: 'write "next to", "as well as" or "other than"' },
  ]);
});
