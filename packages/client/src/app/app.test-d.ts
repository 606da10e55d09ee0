import type * as z from "zod";
import { expectTypeOf } from "vitest";
import { app, type ActionContext } from "./index.ts";

declare const payload: z.ZodObject<{ sku: z.ZodNumber; currency: z.ZodDefault<z.ZodString> }>;
declare const output: z.ZodObject<{ price: z.ZodNumber }>;
const shop = app("shop");

const typed = shop.action("typed", async (_context, given: { sku: number }) => Promise.resolve(given.sku));
expectTypeOf(typed).parameters.toEqualTypeOf<[ActionContext, { sku: number }]>();
expectTypeOf(typed).returns.resolves.toEqualTypeOf<number>();

shop.action("untyped", (context, given) => {
  expectTypeOf(context).toEqualTypeOf<ActionContext>();
  expectTypeOf(given).toBeUnknown();
});
shop.action("checked", { payload }, (_context, given) => {
  expectTypeOf(given).toEqualTypeOf<{ sku: number; currency: string }>();
  return given.sku;
});
shop.action("both", { payload, output }, (_context, { sku }) => ({ price: sku }));
shop.action("only output", { output }, async () => Promise.resolve({ price: 1 }));

// @ts-expect-error the schema requires another type
shop.action("wrong", { output }, () => ({ price: "1" }));
// @ts-expect-error unknown field of the payload
shop.action("field", { payload }, (_context, { name }) => name as unknown);
// @ts-expect-error names are strings
app(1);
