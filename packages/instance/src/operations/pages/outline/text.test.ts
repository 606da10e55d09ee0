import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { outlineRoles } from "../reading/roles.ts";
import { plainText, quote, shortTarget } from "./text.ts";

const hostile = fc.oneof(
  fc.string({ unit: "binary", maxLength: 300 }),
  fc
    .array(
      fc.constantFrom(
        '"',
        "\\",
        "[e1]",
        "\n",
        "\u2028",
        "\u202e",
        "|",
        "* ",
        "+ ",
        "button",
        " ",
        "main",
        "\ud800",
        "é",
      ),
    )
    .map((parts) => parts.join("")),
);
/** A quoted text, and nothing else. */
const quoted = /^"(?:[^"\\]|\\["\\])*"$/u;

describe("text of a page in an outline", () => {
  it("stays within its quotes and its line", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const written = quote(text);
        expect(written).toMatch(quoted);
        expect(written).not.toMatch(/[\p{Cc}\p{Cs}\u2028\u2029\u202e]/u);
      }),
    );
  });

  it("without quotes contains no reference, column or role", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const written = plainText(text);
        if (quoted.test(written)) return;
        expect(written).not.toMatch(/["|[\]\n]/);
        expect(written).toMatch(/^[^-+~*|]/);
        expect(outlineRoles.has(written.split(/[ :]/)[0] ?? "")).toBe(false);
      }),
    );
  });

  it("is cut, also when it has megabytes of spaces", () => {
    expect(quote(" ".repeat(10_000_000)).length).toBeLessThan(10);
    expect(quote("word ".repeat(1_000_000)).length).toBeLessThan(220);
  });

  it("shortens targets, and escapes them", () => {
    const base = "https://shop.example/a/b?c=1";
    expect(shortTarget("/x?y=1", base)).toBe("/x?y=1");
    expect(shortTarget("#top", base)).toBe("#top");
    expect(shortTarget("https://other.example/", base)).toBe("other.example");
    expect(shortTarget("javascript:go()", base)).toBe("");
    expect(shortTarget("/%E5%95%86%E5%93%81", base)).toBe("/商品");
    fc.assert(
      fc.property(hostile, (href) => {
        expect(shortTarget(href, base)).not.toMatch(/[\s"[\]|]/);
        expect(shortTarget(href, base).length).toBeLessThanOrEqual(60);
      }),
    );
  });
});
