import * as z from "zod/mini";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createQueryReader } from "./query-reader.ts";

const read = createQueryReader(
  z.lazy(() =>
    z.object({
      text: z.optional(z.string()),
      count: z._default(
        z.lazy(() => z.int()),
        1,
      ),
      share: z.optional(z.number()),
      deep: z.optional(z.nullable(z.boolean())),
      words: z.optional(z.array(z.string())),
      counts: z.optional(z.array(z.int())),
      labels: z.optional(z.record(z.string(), z.string())),
      sizes: z.optional(z.record(z.string(), z.number())),
      level: z.optional(z.literal([1, 2])),
    }),
  ),
);

const text = fc.string({ unit: "grapheme" });
const word = text.filter((value) => !value.includes(",") && value !== "");
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
const labels = fc
  .dictionary(text, text)
  .map((entries) => Object.assign(Object.create(null) as Record<string, string>, entries));

function write(query: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(query).flatMap(([key, value]) => {
    if (value === undefined) return [];
    if (Array.isArray(value)) return [[key, value.join(",")]];
    if (typeof value === "object" && value !== null)
      return Object.entries(value as Record<string, unknown>).map(([inner, entry]) => [
        `${key}[${inner}]`,
        String(entry),
      ]);
    return [[key, value === null ? "" : `${value as string | number | boolean}`]];
  });
  return pairs.map(([key = "", value = ""]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`).join("&");
}

const query = fc.record(
  {
    text,
    count: fc.integer(),
    share: number,
    deep: fc.option(fc.boolean()),
    words: fc.array(word),
    counts: fc.array(fc.integer()),
    labels: labels.filter((entries) => Object.keys(entries).length > 0),
    level: fc.constantFrom(1, 2),
  },
  { requiredKeys: [] },
);

describe("createQueryReader", () => {
  it("reads back every written query", () => {
    fc.assert(
      fc.property(query, (given) => {
        expect(read(write(given))).toMatchObject({ value: given, problems: [], unknown: [] });
      }),
    );
  });

  it("reads arrays that repeat their key, in order, like arrays joined by commas", () => {
    fc.assert(
      fc.property(fc.array(fc.array(word, { minLength: 1 }), { minLength: 1 }), (groups) => {
        expect(read(groups.map((words) => write({ words })).join("&")).value).toEqual({ words: groups.flat() });
      }),
    );
  });

  it("never throws, and never makes a value of an unknown key", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          fc.webQueryParameters(),
          fc.stringMatching(/^(?:(?:text|count|labels\[a\]|words|x)?[=&%[\]a0+,]{0,3}){0,8}$/),
        ),
        (queryString) => {
          const { problems, value } = read(queryString);
          for (const key of Object.keys(value))
            expect(["text", "count", "share", "deep", "words", "counts", "labels", "sizes", "level"]).toContain(key);
          for (const { message, path } of problems)
            expect([path.startsWith("query"), message.length > 0]).toEqual([true, true]);
        },
      ),
      { numRuns: 500 },
    );
  });

  it("leaves invalid numbers and booleans as text, for the schema to report", () => {
    for (const odd of ["", " 1", "1 ", "0x10", "1_000", "--1", "+1", "1.", ".5", "Infinity", "NaN", "1e", "true"])
      expect(read(`count=${encodeURIComponent(odd)}`).value).toEqual({ count: odd });
    for (const odd of ["True", "1", "yes", "0"]) expect(read(`deep=${odd}`).value).toEqual({ deep: odd });
    for (const [good, value] of [
      ["-0", -0],
      ["007", 7],
      ["1e3", 1000],
      ["-2.5E-1", -0.25],
    ] as const)
      expect(read(`share=${good}`).value).toEqual({ share: value });
  });

  it("refuses a repeated key, also inside a record", () => {
    expect(read("text=a&text=a").problems).toEqual([{ path: "query.text", message: "given more than once" }]);
    expect(read("labels[a]=1&labels[a]=1").problems).toEqual([
      { path: 'query["labels[a]"]', message: "given more than once" },
    ]);
    expect(read("deep=&deep=true").problems).toHaveLength(1);
  });

  it("makes records without a prototype", () => {
    const { value } = read("labels[__proto__]=x&labels[constructor]=y&labels[]=z");
    expect(Object.getPrototypeOf(value.labels)).toBeNull();
    expect(Object.entries(value.labels as object)).toEqual([
      ["__proto__", "x"],
      ["constructor", "y"],
      ["", "z"],
    ]);
  });

  it("reads a key without a value as empty, and ignores empty pairs", () => {
    expect(read("&&text&&words=&")).toMatchObject({ value: { text: "", words: [] }, problems: [], unknown: [] });
  });

  it("reports whether a parameter is malformed, and which", () => {
    expect(read("text=%E2&%zz=1").problems).toEqual([
      { path: "query.text", message: "malformed percent-encoding" },
      { path: "query", message: "malformed percent-encoding" },
    ]);
  });
});
