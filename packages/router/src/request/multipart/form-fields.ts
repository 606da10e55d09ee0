import { exceededJsonBound, type JsonBounds } from "@shoal/primitives";
import type * as z from "zod/mini";
import { badInput, type ServiceError } from "../../handler/service-error.ts";
import { definitionOf, partPath } from "./part-names.ts";

/** Forms are small: their large parts are files. */
const jsonBounds: JsonBounds = { values: 1000, depth: 10 };

type Values = Record<string, unknown>;

/**
 * Collects the text parts of a form into a body. An object or a map arrives as one part in JSON, or in pieces, one part
 * for each value.
 */
export class FormFields {
  readonly #schema: z.core.$ZodType;
  readonly #values = emptyValues();

  constructor(schema: z.core.$ZodType) {
    this.#schema = schema;
  }

  /** To be checked by the schema. */
  get values(): Readonly<Values> {
    return this.#values;
  }

  /** @throws {ServiceError} 400 for an unknown or repeated part, a file's name, and text that is not of the field's type. */
  add({ name, value }: { readonly name: string; readonly value: string }): void {
    const path = partPath(this.#schema, name) ?? [];
    const label = `body.${path.join(".")}`;
    let at = this.#values;
    let schema = this.#schema;
    for (const [depth, key] of path.entries()) {
      schema = inside(schema, key);
      const isLast = depth === path.length - 1;
      const existing = Object.hasOwn(at, key) ? at[key] : undefined;
      if (isLast && existing !== undefined) throw badInput(label, "is duplicated");
      if (!isLast && existing !== undefined && !isValues(existing))
        throw badInput(label, "belongs to a part that was sent as a whole; send it only once");
      const next = isLast ? valueOf(schema, label, value) : (existing ?? emptyValues());
      Object.defineProperty(at, key, { value: next, enumerable: true, writable: true, configurable: true });
      // The value of another step is always an object.
      if (!isLast) at = next as Values;
    }
  }
}

function emptyValues(): Values {
  return Object.create(null) as Values;
}

function isValues(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function inside(schema: z.core.$ZodType, key: string): z.core.$ZodType {
  const definition = definitionOf(schema);
  if (definition.type === "record") return definition.valueType;
  const field =
    definition.type === "object" && Object.hasOwn(definition.shape, key) ? definition.shape[key] : undefined;
  if (field === undefined) throw new TypeError("Lists in pieces are read by the handler of the form.");
  return field;
}

function valueOf(schema: z.core.$ZodType, label: string, text: string): unknown {
  const { type } = definitionOf(schema);
  if (type === "file") throw badInput(label, "must be a file", { hint: "Send the part with a filename." });
  if (type === "boolean") {
    if (text !== "true" && text !== "false") throw badInput(label, "expected true or false");
    return text === "true";
  }
  return type === "object" || type === "record" ? parseJson(label, text) : text;
}

function parseJson(label: string, text: string): unknown {
  const exceeded = exceededJsonBound(Buffer.from(text), jsonBounds);
  if (exceeded !== undefined) throw tooMuch(label, exceeded);
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw badInput(label, "expected JSON", { cause: error });
  }
}

function tooMuch(label: string, exceeded: keyof JsonBounds): ServiceError {
  const limit = jsonBounds[exceeded];
  return badInput(label, `has more than ${String(limit)} ${exceeded === "values" ? "values" : "levels"}`, { limit });
}
