import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { listOf } from "./lists.mjs";

const member = /^export const \w+ = defineEndpoint\(/m;
const operation = "export const get = defineEndpoint({});\n";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "shoal-lists-"));
  return () => {
    rmSync(folder, { recursive: true });
  };
});

function write(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

function updated(...lines: readonly string[]): string[] {
  const path = join(folder, "operations.ts");
  writeFileSync(path, `${lines.join("\n")}\n`);
  return listOf(path, member).trimEnd().split("\n");
}

const line = (file: string): string => `export * from "./${file}";`;

it("adds a new file below the last line of its folder, and a new folder at the end", () => {
  write({ "b/first.ts": operation, "b/added.ts": operation, "a/first.ts": operation, "new/first.ts": operation });
  expect(updated(line("b/first.ts"), line("a/first.ts"))).toEqual([
    line("b/first.ts"),
    line("b/added.ts"),
    line("a/first.ts"),
    line("new/first.ts"),
  ]);
});

it("removes the lines of removed files", () => {
  write({ "a/kept.ts": operation });
  expect(updated(line("a/removed.ts"), line("a/kept.ts"))).toEqual([line("a/kept.ts")]);
});

it("keeps the order of other lines, comments, and lines that name their exports", () => {
  write({ "b/first.ts": operation, "a/first.ts": operation, "c/named.ts": operation });
  const lines = [
    "// In this order.",
    line("b/first.ts"),
    'export { get as other } from "./c/named.ts";',
    line("a/first.ts"),
  ];
  expect(updated(...lines)).toEqual(lines);
});

it("leaves out tests and files without a member", () => {
  write({
    "a/first.ts": operation,
    "a/first.test.ts": operation,
    "a/first.slow.ts": operation,
    "a/helper.ts": "export const get = 1;",
  });
  expect(updated("")).toEqual(["", line("a/first.ts")]);
});
