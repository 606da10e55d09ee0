import * as z from "zod/mini";
import { describe, expect, it } from "vitest";
import { strict } from "./strict-schema.ts";

const Inner = z.object({ a: z.optional(z.number()) });

/** Every way to nest an object in another schema. */
const wrappers: [name: string, schema: z.ZodMiniType, value: (inner: object) => unknown][] = [
  ["object", z.object({ inner: Inner }), (inner) => ({ inner })],
  ["lazy", z.lazy(() => Inner), (inner) => inner],
  ["lazy with a check", z.lazy(() => Inner).check(z.refine(() => true)), (inner) => inner],
  ["optional", z.object({ inner: z.optional(Inner) }), (inner) => ({ inner })],
  ["nullable", z.nullable(Inner), (inner) => inner],
  ["default", z._default(Inner, {}), (inner) => inner],
  ["prefault", z.prefault(Inner, {}), (inner) => inner],
  ["nonoptional", z.nonoptional(z.optional(Inner)), (inner) => inner],
  ["readonly", z.readonly(Inner), (inner) => inner],
  ["array", z.array(Inner), (inner) => [inner]],
  ["tuple", z.tuple([z.string(), Inner]), (inner) => ["x", inner]],
  ["rest of a tuple", z.tuple([z.string()], Inner), (inner) => ["x", {}, inner]],
  ["union", z.union([z.string(), Inner]), (inner) => inner],
  [
    "discriminated union",
    z.discriminatedUnion("kind", [z.object({ kind: z.literal("k"), a: z.optional(z.number()) })]),
    (inner) => ({ kind: "k", ...inner }),
  ],
  ["record", z.record(z.string(), Inner), (inner) => ({ key: inner })],
  [
    "front of a pipe",
    z.pipe(
      Inner,
      z.transform((value) => value),
    ),
    (inner) => inner,
  ],
  [
    "end of a preprocessing pipe",
    z.pipe(
      z.transform((value: unknown) => value),
      Inner,
    ),
    (inner) => inner,
  ],
];

describe("strict", () => {
  it.each(wrappers)("refuses unknown keys inside: %s", (_name, schema, valueOf) => {
    const copy = strict(schema);
    expect(z.safeParse(copy, valueOf({ a: 1 })).success).toBe(true);
    expect(z.safeParse(copy, valueOf({ a: 1, zzz: 1 })).success).toBe(false);
    // The original schema stays tolerant: it validates answers.
    expect(z.safeParse(schema, valueOf({ a: 1, zzz: 1 })).success).toBe(true);
  });

  it("leaves objects with an explicit rule for unknown keys unchanged", () => {
    for (const schema of [z.looseObject({ a: z.number() }), z.catchall(z.object({}), z.number())])
      expect(z.safeParse(strict(schema), { a: 1, b: 2 })).toEqual({ success: true, data: { a: 1, b: 2 } });
  });

  it("keeps checks and defaults", () => {
    const schema = z
      .object({ a: z._default(z.number(), 5), b: z.optional(z.number()) })
      .check(z.refine(({ a, b }) => a !== b, "differ"));
    expect(z.safeParse(strict(schema), {})).toEqual({ success: true, data: { a: 5 } });
    expect(z.safeParse(strict(schema), { b: 5 }).error?.issues).toMatchObject([{ message: "differ" }]);
  });

  it("terminates on recursive schemas", () => {
    interface Tree {
      name: string;
      children?: Tree[] | undefined;
    }
    const byGetter = z.object({
      name: z.string(),
      get children(): z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniType<Tree>>> {
        return z.optional(z.array(byGetter as z.ZodMiniType<Tree>));
      },
    });
    const byLazy: z.ZodMiniType<Tree> = z.object({
      name: z.string(),
      children: z.optional(z.array(z.lazy(() => byLazy))),
    });
    for (const schema of [byGetter, byLazy]) {
      const copy = strict(schema);
      expect(z.safeParse(copy, { name: "a", children: [{ name: "b", children: [] }] }).success).toBe(true);
      expect(
        z.safeParse(copy, { name: "a", children: [{ name: "b", children: [{ name: "c", zzz: 1 }] }] }).error?.issues[0]
          ?.path,
      ).toEqual(["children", 0, "children", 0]);
    }
  });
});
