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
/** Links to tests: the text is one literal of the file's source, the title of a test. */
const links = [...page.matchAll(/\[([^\]]+)\]\((\.\.\/[^)]+\.(?:test|slow)\.ts)\)/g)].map(
  ([, title = "", path = ""]) => ({ title, path }),
);

it("links every promise of the threat model to a test", () => {
  expect(promises.length).toBeGreaterThan(30);
  expect(promises.filter((line) => !/\]\(\.\.\/[^)]+\.(?:test|slow)\.ts\)/.test(line))).toEqual([]);
});

it.each(links)("finds the test “$title” in $path", ({ title, path }) => {
  // Titles of tables are values of their rows.
  const literals = [...readFileSync(join(docs, path), "utf8").matchAll(/"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g)];
  const titles = literals.map(([, plain, template = ""]) => (plain ?? template).replaceAll(/\\(["`])/g, "$1"));
  expect(titles).toContain(title);
});
