import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";

const document: unknown = JSON.parse(readFileSync(join(import.meta.dirname, "../openapi.json"), "utf8"));

function patternsIn(node: unknown, found = new Set<string>()): Set<string> {
  if (typeof node !== "object" || node === null) return found;
  if ("pattern" in node && typeof node.pattern === "string") found.add(node.pattern);
  for (const inner of Object.values(node)) patternsIn(inner, found);
  return found;
}
const patterns = [...patternsIn(document)];

/** Notations that the regular expressions of ECMAScript, Python, Go or Rust lack, or read in another way. */
const uncommon: readonly (readonly [what: string, notation: RegExp])[] = [
  ["a group other than (?:…)", /\(\?(?!:)/],
  ["a Unicode property", /\\[pP]/],
  ["a back reference, or an octal number", /\\[0-9k]/],
  ["an escape that is not common", /\\(?![dDsSwWbnrt.*+?^$()[\]{}|/\\-]|x[0-9a-fA-F]{2})/],
  ["a possessive or lazy quantifier", /[*+?}][+?]/],
  ["a set inside of a set", /(?<!\\)\[[^\]\\]*\[/],
  ["set operators of Rust", /\[[^\]]*(?:&&|--|~~)/],
  ["a quantifier above 1000", /\{(?:\d+,)?(?:1\d{3}\d*|[2-9]\d{3,})\}/],
];

function uncommonIn(pattern: string): string[] {
  // In a set, quantifiers are characters.
  const withoutSets = pattern.replaceAll(/\[(?:\\.|[^\]\\])*\]/g, "s");
  return uncommon
    .filter(([what, notation]) => notation.test(what.includes("quantifier") ? withoutSets : pattern))
    .map(([what]) => what);
}

it("has patterns in the document to check", () => {
  expect(patterns.length).toBeGreaterThan(20);
});

it.each(patterns)("writes the pattern %s in the notation that all languages share", (pattern) => {
  expect(() => new RegExp(pattern, "u")).not.toThrow();
  expect(uncommonIn(pattern)).toEqual([]);
});

it.each([
  [String.raw`^(?!\.)a$`, "a group other than (?:…)"],
  [String.raw`^\P{Cc}*$`, "a Unicode property"],
  [String.raw`^[^=\0]+$`, "a back reference, or an octal number"],
  [String.raw`^(a)\1$`, "a back reference, or an octal number"],
  [String.raw`^\u0041$`, "an escape that is not common"],
  ["^a+?b$", "a possessive or lazy quantifier"],
  ["^[a[b]]$", "a set inside of a set"],
  ["^[a--b]$", "set operators of Rust"],
  ["^a{0,4096}$", "a quantifier above 1000"],
])("finds the uncommon notation in %s", (pattern, expected) => {
  expect(uncommonIn(pattern)).toContain(expected);
});

const python = `import json, re, sys
for pattern in json.load(sys.stdin): re.compile(pattern)`;
const go = `package main

import ("encoding/json"; "os"; "regexp")

func main() {
	var patterns []string
	if err := json.NewDecoder(os.Stdin).Decode(&patterns); err != nil { panic(err) }
	for _, pattern := range patterns { regexp.MustCompile(pattern) }
}
`;
const isMissing = (program: string, argument: string) => spawnSync(program, [argument]).status !== 0;
const withoutPython = isMissing("python3", "--version");
const withoutGo = isMissing("go", "version");
const input = JSON.stringify(patterns);

it.skipIf(withoutPython)(`compiles in Python${withoutPython ? " (skipped, needs python3)" : ""}`, () => {
  const { status, stderr } = spawnSync("python3", ["-c", python], { input, encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
});

it.skipIf(withoutGo)(`compiles in Go${withoutGo ? " (skipped, needs go)" : ""}`, () => {
  const folder = mkdtempSync(join(tmpdir(), "shoal-patterns-"));
  try {
    writeFileSync(join(folder, "main.go"), go);
    const { status, stderr } = spawnSync("go", ["run", join(folder, "main.go")], { input, encoding: "utf8" });
    expect([status, stderr]).toEqual([0, ""]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
