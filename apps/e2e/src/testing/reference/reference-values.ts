import fc from "fast-check";
import { named, type ReferenceSchema, resolved } from "./reference-document.ts";

/** Makes the choices that a schema leaves open. */
export interface Choices {
  /** Whether an optional field is present. */
  readonly isPresent: () => boolean;
  /** Whether a nullable value is `null`. */
  readonly isNull: () => boolean;
  /** A whole number from `low` to `high`, both included. */
  readonly integer: (low: number, high: number) => number;
}

/** The smallest answers: no optional field, `null` where allowed, empty lists, lowest numbers. */
export const least: Choices = { isPresent: () => false, isNull: () => true, integer: (low) => low };
/** The fullest answers: every optional field, no `null`, one item in each list. */
export const fullest: Choices = {
  isPresent: () => true,
  isNull: () => false,
  integer: (low, high) => Math.min(high, low + 1),
};

/** Random choices from numbers between 0 and 1. */
export function randomly(next: () => number): Choices {
  return {
    isPresent: () => next() < 0.6,
    isNull: () => next() < 0.3,
    integer: (low, high) => low + Math.floor(next() * (high - low + 1)),
  };
}

const maxDepth = 8;
const anyValues: readonly unknown[] = [null, 0, -1.5, "", "text", true, [], [1, "a", null], {}, { key: { deep: [1] } }];
const texts = [
  "",
  "a",
  "some text",
  "/home/shoal/a b.txt",
  "ä € \u{1F600}",
  "line\nbreak",
  '"quoted"',
  "x".repeat(200),
];
const formats: Readonly<Record<string, readonly string[]>> = {
  "date-time": [
    "2026-01-31T12:00:00Z",
    "2026-01-31T12:00:00.123Z",
    "2026-01-31T12:00:00.123456789Z",
    "2026-01-31T12:00:00+02:00",
    "1985-04-12T23:20:50.52-08:00",
  ],
  uri: ["https://example.com/a?b=c#d", "wss://example.com:8443/x", "http://127.0.0.1/"],
  uuid: ["123e4567-e89b-12d3-a456-426614174000", "00000000-0000-4000-8000-000000000000"],
  email: ["a@example.com", "first.last+tag@sub.example.org"],
};

export function valueOf(given: ReferenceSchema, choices: Choices, depth = 0): unknown {
  const schema = resolved(given);
  if (schema.nullable === true && choices.isNull()) return null;
  if ("const" in schema) return schema.const;
  if (schema.enum !== undefined) return pick(schema.enum, choices);
  if (schema.properties !== undefined) return objectOf(schema, choices, depth);
  if (schema.oneOf !== undefined) return valueOf(pick(schema.oneOf, choices), choices, depth + 1);
  switch (schema.type) {
    case "object":
      return mapOf(schema, choices, depth);
    case "array":
      return listOf(schema, choices, depth);
    case "integer":
      return numberOf(schema, choices);
    case "number":
      return numberOf(schema, choices) + (schema.maximum === undefined ? choices.integer(0, 3) / 4 : 0);
    case "boolean":
      return choices.integer(0, 1) === 1;
    case "string":
      return textOf(schema, choices);
    default:
      return pick(anyValues, choices);
  }
}

/** Returns one value for each variant of a union, and one value of other schemas. */
export function everyVariantOf(given: ReferenceSchema, choices: Choices): unknown[] {
  const schema = resolved(given);
  if (schema.oneOf === undefined || schema.properties !== undefined) return [valueOf(schema, choices)];
  return schema.oneOf.map((variant) => valueOf(variant, choices));
}

function pick<Item>(items: readonly Item[], choices: Choices): Item {
  return items[choices.integer(0, items.length - 1)] as Item;
}

function objectOf(schema: ReferenceSchema, choices: Choices, depth: number): Record<string, unknown> {
  const { discriminator, oneOf, properties = {}, required = [] } = schema;
  // Variants next to fields say which of these are required; each excludes the fields of the others.
  const chosen = oneOf === undefined ? undefined : pick(oneOf, choices).required;
  const excluded = new Set(
    chosen === undefined
      ? []
      : (oneOf ?? []).flatMap((variant) => variant.required ?? []).filter((name) => !chosen.includes(name)),
  );
  const isNeeded = (name: string) => required.includes(name) || chosen?.includes(name) === true;
  const made: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(properties)) {
    if (excluded.has(name)) continue;
    if (isNeeded(name) || (depth < maxDepth && choices.isPresent())) made[name] = valueOf(field, choices, depth + 1);
  }
  // A union in the field next to the discriminator takes the form that the discriminator names.
  if (discriminator !== undefined && oneOf === undefined) {
    const form = discriminator.mapping[String(made[discriminator.propertyName])];
    for (const [name, field] of Object.entries(properties))
      if (form !== undefined && name in made && resolved(field).oneOf !== undefined)
        made[name] = valueOf(named(form), choices, depth + 1);
  }
  return made;
}

function mapOf({ additionalProperties, maxProperties = 2 }: ReferenceSchema, choices: Choices, depth: number): object {
  if (additionalProperties === false || depth >= maxDepth) return {};
  const value = typeof additionalProperties === "object" ? additionalProperties : {};
  const names = ["key", "other key"].slice(0, choices.integer(0, Math.min(2, maxProperties)));
  return Object.fromEntries(names.map((name) => [name, valueOf(value, choices, depth + 1)]));
}

function listOf(
  { items = {}, maxItems = 3, minItems = 0 }: ReferenceSchema,
  choices: Choices,
  depth: number,
): unknown[] {
  const length = depth >= maxDepth ? minItems : choices.integer(minItems, Math.min(maxItems, minItems + 3));
  return Array.from({ length }, () => valueOf(items, choices, depth + 1));
}

function numberOf({ format, maximum, minimum }: ReferenceSchema, choices: Choices): number {
  // Beyond 2 ** 53 JSON.parse rounds; timestamps in microseconds are below it.
  const low = minimum ?? -1;
  const high = maximum ?? (format === "int64" ? Number.MAX_SAFE_INTEGER : 2 ** 31 - 1);
  return choices.integer(Math.min(low, high), choices.integer(0, 1) === 0 ? Math.min(high, low + 10) : high);
}

function textOf({ format, maxLength = 255, minLength = 0, pattern }: ReferenceSchema, choices: Choices): string {
  if (pattern !== undefined) {
    const [text] = fc.sample(
      fc.stringMatching(new RegExp(pattern)).filter(({ length }) => length >= minLength && length <= maxLength),
      { seed: choices.integer(0, 1000), numRuns: 1 },
    );
    return text ?? "";
  }
  const known = format === undefined ? undefined : formats[format];
  const text = pick(known ?? texts, choices);
  return known === undefined ? text.slice(0, maxLength).padEnd(minLength, "x") : text;
}
