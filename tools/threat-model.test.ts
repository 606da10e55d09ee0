import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const docs = join(import.meta.dirname, "../docs");
const page = readFileSync(join(docs, "threat-model.md"), "utf8");
const promises =
  /^## Promises$(.*?)^## /ms
    .exec(page)?.[1]
    ?.split("\n")
    .filter((line) => line.startsWith("- ")) ?? [];
/** Links to tests: the text is the title of a test in the file's source. */
const links = [...page.matchAll(/\[([^\]]+)\]\((\.\.\/[^)]+\.(?:test|slow)\.ts)\)/g)].map(
  ([, title = "", path = ""]) => ({ title, path }),
);

it("links every promise of the threat model to a test", () => {
  expect(promises.length).toBeGreaterThan(30);
  expect(promises.filter((line) => !/\]\(\.\.\/[^)]+\.(?:test|slow)\.ts\)/.test(line))).toEqual([]);
});

it.each(links)("finds the test “$title” in $path", ({ title, path }) => {
  const source = readFileSync(join(docs, path), "utf8").replaceAll('\\"', '"');
  expect(source).toContain(title);
});
