import type { Schema } from "@shoal/schemas";
import type * as z from "zod/mini";
import type { Mismatch } from "../answers/check.ts";

type Def = z.core.$ZodTypes["_zod"]["def"];
/** Returns the mismatch of a value, with its path below the value. */
type Look = (value: unknown) => Mismatch | undefined;

/** Depth of the check: an event, and the one inside its envelope. */
const maxDepth = 2;

function defOf(schema: z.core.$ZodType): Def {
  // `$ZodTypes` is the union of all schema classes.
  const { def } = (schema as z.core.$ZodTypes)._zod;
  return def.type === "lazy" ? defOf(def.getter()) : def;
}

function typed(type: "string" | "number" | "boolean"): Look {
  const wrong = { path: "", problem: `expected ${type}` };
  return (value) => (typeof value === type ? undefined : wrong);
}

function lookAt(schema: z.core.$ZodType, depth: number): Look | undefined {
  const def = defOf(schema);
  switch (def.type) {
    case "string":
    case "number":
    case "boolean":
      return typed(def.type);
    case "literal": {
      const { values } = def;
      const wrong = { path: "", problem: `expected ${values.map(String).join(" or ")}` };
      return (value) => (values.some((known) => known === value) ? undefined : wrong);
    }
    case "union": {
      // Unknown kinds pass.
      const key: unknown = "discriminator" in def ? def.discriminator : undefined;
      return typeof key === "string" ? objectWith([[key, typed("string")]]) : undefined;
    }
    case "object":
      return depth === maxDepth
        ? objectWith([])
        : objectWith(Object.entries(def.shape).flatMap(([name, field]) => fieldOf(name, field, depth)));
    default:
      return undefined;
  }
}

function fieldOf(name: string, field: z.core.$ZodType, depth: number): [string, Look][] {
  const look = lookAt(field, depth + 1);
  return look === undefined ? [] : [[name, look]];
}

function objectWith(fields: readonly (readonly [string, Look])[]): Look {
  const wrong = { path: "", problem: "expected an object" };
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return wrong;
    for (const [name, look] of fields) {
      // `Reflect.get` would take longer than the rest of the check.
      const mismatch = look((value as Record<string, unknown>)[name]);
      if (mismatch !== undefined) return { ...mismatch, path: `.${name}${mismatch.path}` };
    }
    return undefined;
  };
}

/**
 * Returns a fast check of events: their required scalar fields and their kind. A complete check costs more than the
 * transport of an event.
 */
export function envelopeCheckOf(schema: Schema): (value: unknown) => Mismatch | undefined {
  return lookAt(schema, 0) ?? (() => undefined);
}
