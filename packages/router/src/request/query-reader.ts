import type * as z from "zod/mini";
import type { Problem } from "./issues.ts";
import { pathText } from "./issues.ts";
import { isTransform } from "./strict-schema.ts";

type Scalar = "string" | "number" | "boolean";
type Field =
  { readonly kind: Scalar; readonly nullable: boolean } | { readonly kind: "array" | "record"; readonly item: Scalar };

interface QueryReading {
  /** Without a prototype, so that a key such as `__proto__` is harmless. */
  readonly value: Record<string, unknown>;
  readonly problems: Problem[];
  readonly unknown: readonly string[];
  readonly known: readonly string[];
}

/** Reads the text after the `?` of a request. */
export type QueryReader = (queryString: string) => QueryReading;

/**
 * Converts numbers and booleans; invalid ones stay strings, for the schema to report. Arrays are `k=a,b`, `k=a&k=b` or
 * both; records are `k[key]=value`. `k=` is `null` for a nullable field. A repeated scalar and broken percent-encoding
 * are problems; unknown keys are listed separately.
 */
export function createQueryReader(schema: z.core.$ZodType): QueryReader {
  const object = unwrap(schema).schema as z.core.$ZodTypes;
  const { def } = object._zod;
  if (def.type !== "object") throw new TypeError("The query of an endpoint must be an object schema.");
  const fields = new Map(Object.entries(def.shape).map(([name, field]) => [name, fieldOf(field)]));
  const known = [...fields.keys()];
  return (queryString) => ({ ...readQuery(queryString, fields), known });
}

export function unknownParameter(key: string, known: readonly string[]): Problem {
  return { path: pathText("query", [key]), message: `unknown parameter; known are ${known.join(", ")}` };
}

function readQuery(queryString: string, fields: ReadonlyMap<string, Field>): Omit<QueryReading, "known"> {
  const value = emptyRecord();
  const problems: Problem[] = [];
  if (queryString === "") return { value, problems, unknown: [] };
  const unknown = new Set<string>();
  for (const pair of queryString.split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const key = decode(equals === -1 ? pair : pair.slice(0, equals));
    const text = equals === -1 ? "" : decode(pair.slice(equals + 1));
    if (key === undefined || text === undefined) {
      problems.push({
        path: key === undefined ? "query" : pathText("query", [key]),
        message: "malformed percent-encoding",
      });
      continue;
    }
    const problem = readPair(value, fields, key, text);
    if (problem === "unknown") unknown.add(key);
    else if (problem !== undefined) problems.push({ path: pathText("query", [key]), message: problem });
  }
  return { value, problems, unknown: [...unknown] };
}

/** @returns the problem of the pair, if any. */
function readPair(
  value: Record<string, unknown>,
  fields: ReadonlyMap<string, Field>,
  key: string,
  text: string,
): string | undefined {
  const field = fields.get(key);
  if (field !== undefined) {
    switch (field.kind) {
      case "array": {
        const items = text === "" ? [] : text.split(",").map((item) => convert(item, field.item));
        const before = value[key];
        value[key] = Array.isArray(before) ? [...(before as unknown[]), ...items] : items;
        return undefined;
      }
      case "record":
        return `expected ${key}[name]=value`;
      case "string":
      case "number":
      case "boolean":
        if (key in value) return "given more than once";
        value[key] = field.nullable && text === "" ? null : convert(text, field.kind);
        return undefined;
    }
  }
  const bracket = key.indexOf("[");
  const name = bracket > 0 && key.endsWith("]") ? key.slice(0, bracket) : undefined;
  const record = name === undefined ? undefined : fields.get(name);
  if (name === undefined || record?.kind !== "record") return "unknown";
  const entry = key.slice(bracket + 1, -1);
  const entries = (value[name] ??= emptyRecord()) as Record<string, unknown>;
  if (entry in entries) return "given more than once";
  entries[entry] = convert(text, record.item);
  return undefined;
}

function emptyRecord(): Record<string, unknown> {
  // `Object.create` is typed `any`.
  return Object.create(null) as Record<string, unknown>;
}

function convert(text: string, kind: Scalar): unknown {
  if (kind === "number") return /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text) ? Number(text) : text;
  if (kind === "boolean") return text === "true" ? true : text === "false" ? false : text;
  return text;
}

function decode(text: string): string | undefined {
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
  if (!spaced.includes("%")) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return undefined;
  }
}

function fieldOf(schema: z.core.$ZodType): Field {
  const { schema: inner, nullable } = unwrap(schema);
  const { def } = (inner as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "array":
      return { kind: "array", item: scalarOf(def.element) };
    case "record":
      return { kind: "record", item: scalarOf(def.valueType) };
    default:
      return { kind: scalarOf(inner), nullable };
  }
}

function scalarOf(schema: z.core.$ZodType): Scalar {
  const { def } = (unwrap(schema).schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "number":
    case "boolean":
      return def.type;
    case "literal":
      return def.values.every((value) => typeof value === "number")
        ? "number"
        : def.values.every((value) => typeof value === "boolean")
          ? "boolean"
          : "string";
    default:
      return "string";
  }
}

/** Unwraps `lazy`, `optional`, `nullable` and defaults. */
export function unwrap(schema: z.core.$ZodType): { schema: z.core.$ZodType; nullable: boolean } {
  let inner = schema as z.core.$ZodTypes;
  let nullable = false;
  for (;;) {
    const { def } = inner._zod;
    switch (def.type) {
      case "lazy":
        inner = def.getter() as z.core.$ZodTypes;
        break;
      case "nullable":
        nullable = true;
        inner = def.innerType as z.core.$ZodTypes;
        break;
      case "optional":
      case "default":
      case "prefault":
      case "nonoptional":
      case "readonly":
      case "catch":
        inner = def.innerType as z.core.$ZodTypes;
        break;
      case "pipe":
        inner = (isTransform(def.in) ? def.out : def.in) as z.core.$ZodTypes;
        break;
      default:
        return { schema: inner, nullable };
    }
  }
}
