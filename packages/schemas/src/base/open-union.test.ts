import * as fc from "fast-check";
import { expect, expectTypeOf, it } from "vitest";
import * as z from "zod/mini";
import { lazyObject, openUnion } from "./schema.ts";

const Started = lazyObject(() => ({ type: z.literal("started"), at: z.number() }));
const Moved = lazyObject(() => ({ type: z.enum(["up", "down"]), by: z.optional(z.number()) }));
const Step = openUnion("type", { started: Started, up: Moved, down: Moved });
type Step = z.output<typeof Step>;

it("checks values of a known type, and reports their own path", () => {
  expect(z.safeParse(Step, { type: "started", at: 1 }).success).toBe(true);
  expect(z.safeParse(Step, { type: "down" }).success).toBe(true);
  const broken = z.safeParse(z.object({ steps: z.array(Step) }), {
    steps: [{ type: "up" }, { type: "started", at: "now" }],
  });
  expect(broken.error?.issues).toMatchObject([{ code: "invalid_type", expected: "number", path: ["steps", 1, "at"] }]);
});

it("accepts values of an unknown type unchanged, also inside other schemas", () => {
  fc.assert(
    fc.property(fc.string(), fc.dictionary(fc.string(), fc.jsonValue()), (type, rest) => {
      fc.pre(!["started", "up", "down"].includes(type) && !Object.hasOwn(rest, "__proto__"));
      const value = { ...rest, type };
      for (const schema of [Step, z.optional(Step), z.nullable(Step)]) expect(z.parse(schema, value)).toBe(value);
    }),
  );
});

it.each([[{}], [{ type: 7 }], [{ type: null }], [null], ["started"], [undefined]])(
  "rejects %j, which has no type",
  (value) => {
    expect(z.safeParse(Step, value).success).toBe(false);
  },
);

it("has only the known types in its TypeScript type", () => {
  expectTypeOf<Step["type"]>().toEqualTypeOf<"started" | "up" | "down">();
  expectTypeOf<Extract<Step, { type: "started" }>["at"]>().toEqualTypeOf<number>();
});
