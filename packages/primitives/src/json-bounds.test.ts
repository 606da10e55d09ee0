import fc from "fast-check";
import { expect, it } from "vitest";
import { exceededJsonBound, JsonScan } from "./json-bounds.ts";

/** Counts like the bounds: each value, and one more for the first place in an array or object. */
function measure(value: unknown): { values: number; depth: number } {
  if (typeof value !== "object" || value === null) return { values: 1, depth: 0 };
  const inner = Object.values(value).map(measure);
  return {
    values: 1 + Math.max(1, inner.length) + inner.reduce((sum, { values }) => sum + values - 1, 0),
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)),
  };
}

const bytesOf = (value: unknown, indent?: number) => Buffer.from(JSON.stringify(value, undefined, indent));

it("counts values and depth of any JSON with any strings and spaces", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 0, max: 3 }), (value, indent) => {
      const { values, depth } = measure(value);
      const bytes = bytesOf(value, indent);
      expect(exceededJsonBound(bytes, { values, depth })).toBeUndefined();
      if (values > 1) expect(exceededJsonBound(bytes, { values: values - 1, depth })).toBe("values");
      if (depth > 0) expect(exceededJsonBound(bytes, { values, depth: depth - 1 })).toBe("depth");
    }),
    { numRuns: 500 },
  );
});

it("reads brackets, commas and quotes in strings as text", () => {
  expect(exceededJsonBound(bytesOf(['[{,"\\"', "\\", '"']), { values: 4, depth: 1 })).toBeUndefined();
});

it("stops at the end of a truncated text", () => {
  for (const text of ["", '"', '"\\', '{"a', "[[", "}}}}"])
    expect(exceededJsonBound(Buffer.from(text), { values: 10, depth: 5 })).toBeUndefined();
});

it("counts the same in parts of any length", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.integer({ min: 1, max: 5 }), (value, length) => {
      const { values, depth } = measure(value);
      const bytes = bytesOf(value);
      const exceeded = (bounds: { values: number; depth: number }) => {
        const scan = new JsonScan(bounds);
        for (let at = 0; at < bytes.length; at += length) {
          const found = scan.add(bytes.subarray(at, at + length));
          if (found !== undefined) return found;
        }
        return undefined;
      };
      expect(exceeded({ values, depth })).toBeUndefined();
      if (values > 1) expect(exceeded({ values: values - 1, depth })).toBe("values");
    }),
    { numRuns: 300 },
  );
});
