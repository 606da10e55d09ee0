import { describe, expect, it } from "vitest";
import { withImports } from "./imports.ts";

describe("imports of REPL code", () => {
  it.each([
    ["await import('a')", "await $mport('a')"],
    ["const [a, b] = [import('a'), () => import(name)]", "const [a, b] = [$mport('a'), () => $mport(name)]"],
    ["import ( 'a' )", "$mport ( 'a' )"],
  ])("are calls in %j", (code, written) => {
    expect(withImports(code)).toBe(written);
  });

  it.each([
    '"import(1)"',
    "`import(1)`",
    "// import(1)",
    "/import(1)/.test(x)",
    "thing.import(1)",
    "import x from 'x'",
    "import.meta.url",
    "let important = 1",
    "import( unclosed",
    "a b import(",
  ])("leave %j alone", (code) => {
    expect(withImports(code)).toBe(code);
  });
});
