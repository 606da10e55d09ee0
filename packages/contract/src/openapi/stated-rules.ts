import type { StatedRule } from "@shoal/schemas";
import type * as z from "zod/mini";
import type { JsonSchema } from "./json-schema.ts";

/** Adds the keywords of a schema's stated rules, such as "exactly one of id and name". */
export function addStatedRules(schema: z.core.$ZodTypes, json: JsonSchema): void {
  for (const check of schema._zod.def.checks ?? []) {
    const { params } = check._zod.def as { readonly params?: StatedRule };
    if (params !== undefined) for (const keywords of keywordsOf(params)) addKeywords(json, keywords);
  }
}

/** The keywords of a rule. Without `oneOf` and `anyOf`: generators of clients would make a class of each part. */
export function keywordsOf({ atLeastOne, atMostOne, exactlyOne, keywords, needs }: StatedRule): JsonSchema[] {
  const found: (JsonSchema | undefined)[] = [
    exactlyOne && exactlyOneOf(exactlyOne),
    atMostOne && atMostOneOf(atMostOne),
    atLeastOne && atLeastOneOf(atLeastOne),
    needs && { if: { required: needs.slice(0, 1) }, then: { required: needs.slice(1) } },
    keywords,
  ];
  return found.filter((part) => part !== undefined);
}

function exactlyOneOf([first = "", ...others]: readonly string[]): JsonSchema {
  if (others.length === 0) return { required: [first] };
  return { if: { required: [first] }, then: { not: anyOf(others) }, else: exactlyOneOf(others) };
}

function atMostOneOf([first = "", ...others]: readonly string[]): JsonSchema {
  if (others.length === 1) return { not: { required: [first, ...others] } };
  return { if: { required: [first] }, then: { not: anyOf(others) }, else: atMostOneOf(others) };
}

function atLeastOneOf([first = "", ...others]: readonly string[]): JsonSchema {
  if (others.length === 0) return { required: [first] };
  return { if: { not: { required: [first] } }, then: atLeastOneOf(others) };
}

function anyOf(fields: readonly string[]): JsonSchema {
  const [only] = fields;
  return fields.length === 1 ? { required: [only] } : { anyOf: fields.map((field) => ({ required: [field] })) };
}

const structure = ["if", "not", "required", "properties", "allOf"];

/** Conditions next to others go into `allOf`. Other keywords are replaced: a rule is the stricter one. */
export function addKeywords(json: JsonSchema, keywords: JsonSchema): void {
  const { allOf, ...others } = keywords as { readonly allOf?: readonly JsonSchema[] };
  if (allOf !== undefined && Object.keys(others).length === 0) for (const part of allOf) addKeywords(json, part);
  else if (structure.some((name) => name in keywords && name in json))
    json.allOf = [...((json.allOf as JsonSchema[] | undefined) ?? []), keywords];
  else Object.assign(json, keywords);
}
