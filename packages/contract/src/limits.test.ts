import { expect, it } from "vitest";
import * as z from "zod/mini";
import { contract } from "./contract.ts";
import type { Endpoint } from "./endpoint.ts";

type Leaf = readonly [path: string, schema: z.core.$ZodType];
type Json = Readonly<Record<string, unknown>>;

/** Every schema inside a schema, with the path of the value that it describes. */
function* inside(schema: z.core.$ZodType, path: string): Generator<Leaf> {
  // `$ZodTypes` is the union of all schemas; each of them is one.
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "lazy":
      yield* inside(def.getter(), path);
      return;
    case "optional":
    case "nullable":
    case "default":
      yield* inside(def.innerType, path);
      return;
    case "pipe":
      yield* inside(def.in, path);
      return;
    case "union":
      for (const option of def.options) yield* inside(option, path);
      return;
    case "object":
      for (const [name, field] of Object.entries(def.shape)) yield* inside(field, `${path}.${name}`);
      return;
    case "record":
      yield* inside(def.valueType, `${path}.*`);
      return;
    case "array":
      yield [path, schema];
      yield* inside(def.element, `${path}[]`);
      return;
    default:
      yield [path, schema];
  }
}

/** Texts of a length of which one fits most rules that texts have: names, paths, addresses, host names, base64, country codes. */
function textsOf(length: number): string[] {
  const texts = ["a".repeat(length), "A".repeat(length), "1".repeat(length)];
  for (const head of ["/", "https://", "https://a/", "http://a.b/", "a.", "arn:aws:iam::123456789012:role/", "arn:aws:kms:eu-central-1:123456789012:key/"]) if (head.length < length) texts.push(head + "a".repeat(length - head.length));
  for (const tail of [".example.com", ".com", "a/", "=="]) if (tail.length < length) texts.push("a".repeat(length - tail.length) + tail);
  // Moments and spans of time.
  for (const moment of [["2026-01-31T12:00:00.", "Z"], ["", "s"]] as const) if (length > moment.join("").length) texts.push(moment[0] + "0".repeat(length - moment.join("").length) + moment[1]);
  // Host names, whose labels are short.
  if (length > 4) texts.push(`${"abcdefghi.".repeat(Math.ceil(length / 10)).slice(0, length - 4).replace(/\.$/, "a")}.com`);
  return texts;
}

/** Items of lists whose fields depend on one another, by the list's path. */
const items: Readonly<Record<string, unknown>> = { "body.actions": { type: "sleep", sleep: { duration_ms: 1 } }, "body.extensions": { name: "ad-filter" } };

/** Some value that a schema takes. */
function sample(schema: z.core.$ZodType): unknown {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "lazy":
      return sample(def.getter());
    case "optional":
    case "nullable":
    case "default":
      return sample(def.innerType);
    case "object":
      return Object.fromEntries(
        Object.entries(def.shape)
          .filter(([, field]) => !z.safeParse(field, undefined).success)
          .map(([name, field]) => [name, sample(field)]),
      );
    case "array": {
      const { minItems = 0 } = jsonOf(schema) as { minItems?: number };
      return Array.from({ length: minItems }, () => sample(def.element));
    }
    default: {
      const { const: only, enum: values, minimum = 1 } = jsonOf(schema) as { const?: unknown; enum?: unknown[]; minimum?: number };
      const fitting = [only, values?.[0], minimum, true, ...[1, 2, 3, 8, 16, 24, 40, 64].flatMap(textsOf), "2026-01-01T00:00:00Z", new File(["x"], "x.zip")].find((value) => value !== undefined && z.safeParse(schema, value).success);
      return fitting;
    }
  }
}

function jsonOf(schema: z.core.$ZodType): Json {
  return z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
}

interface Limit {
  readonly operationId: string;
  readonly path: string;
  readonly keyword: string;
  readonly limit: number;
  readonly schema: z.core.$ZodType;
}

/** What a limit allows at most or least, and the first thing beyond it. Several where any may be the one that fits the schema's other rules. */
function candidates({ keyword, limit, path, schema }: Limit): { readonly allowed: unknown[]; readonly beyond: unknown[] } {
  const step = keyword.startsWith("max") || keyword === "exclusiveMaximum" ? 1 : -1;
  const of = (value: number): unknown[] => {
    if (keyword === "minLength" || keyword === "maxLength") return value < 0 ? [] : textsOf(value);
    if (keyword === "minItems" || keyword === "maxItems") {
      const { element } = (schema as z.core.$ZodArray)._zod.def;
      const item = z.safeParse(element, items[path]).success ? items[path] : sample(element);
      return value < 0 ? [] : [Array.from({ length: value }, () => item)];
    }
    return [value];
  };
  const inclusive = keyword.startsWith("exclusive") ? limit - step : limit;
  return { allowed: of(inclusive), beyond: of(inclusive + step) };
}

const keywords = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "minItems", "maxItems"];

/** Every limit of every request. */
function* limitsOf({ body, operationId, params, query }: Endpoint): Generator<Limit> {
  const parts = { params, query, body: body === undefined || body.kind === "bytes" ? undefined : body.schema };
  for (const [name, part] of Object.entries(parts)) {
    if (part === undefined) continue;
    for (const [path, schema] of inside(part, name)) {
      const json = jsonOf(schema);
      for (const keyword of keywords) {
        const limit = json[keyword];
        // zod's own bounds of integers are no limits of ours.
        if (typeof limit === "number" && Math.abs(limit) !== Number.MAX_SAFE_INTEGER) yield { operationId, path, keyword, limit, schema };
      }
    }
  }
}

const table = Object.values(contract).flatMap((endpoint) => [...limitsOf(endpoint)]);

it("knows the limits of requests", () => {
  expect(table.length).toBeGreaterThan(100);
});

it.each(table.map((limit) => [`${limit.operationId} ${limit.path} ${limit.keyword} ${String(limit.limit)}`, limit] as const))("%s holds, and not one step more", (_name, limit) => {
  const { allowed, beyond } = candidates(limit);
  const takes = (value: unknown) => z.safeParse(limit.schema, value).success;
  expect(allowed.some(takes)).toBe(true);
  expect(beyond.filter(takes)).toEqual([]);
});
