import * as z from "zod/mini";
import { badInput, type ServiceError } from "../../handler/service-error.ts";
import { unwrap } from "../query-reader.ts";

type Definition = z.core.$ZodTypes["_zod"]["def"];

export function definitionOf(schema: z.core.$ZodType): Definition {
  return (unwrap(schema).schema as z.core.$ZodTypes)._zod.def;
}

/**
 * Reads the name of a part in each notation that clients use: `a[0][b]`, `a[][b]`, `a[0].b`, `a.0.b`, `a.b`, and `b`
 * alone where only the items of one list have it. A list without a number has the step `""`; keys of maps are taken as
 * they are. @returns `undefined` if the schema has no such part.
 */
export function partPath(schema: z.core.$ZodType, name: string): readonly string[] | undefined {
  const path: string[] = [];
  let at = schema;
  let rest = name;
  while (rest !== "") {
    const definition = definitionOf(at);
    if (definition.type === "record") {
      const key = keyIn(rest);
      return key === undefined ? undefined : [...path, key];
    }
    const step = nextStep(rest, path.length === 0);
    if (step === undefined) return undefined;
    if (definition.type === "array") {
      const isIndex = /^\d*$/.test(step.key);
      path.push(isIndex ? step.key : "");
      if (isIndex) ({ rest } = step);
      at = definition.element;
    } else if (definition.type === "object") {
      const field = ownField(definition, step.key);
      if (field === undefined) {
        if (path.length > 0) return undefined;
        return definition.catchall === undefined ? itemPath(definition, name) : [name];
      }
      path.push(step.key);
      ({ rest } = step);
      at = field;
    } else return undefined;
  }
  return path;
}

/** Returns the name in the notation that handlers read: `files[0][file]`. @throws {ServiceError} 400 if it is unknown. */
export function canonicalPartName(schema: z.core.$ZodType, name: string): string {
  const [first, ...steps] = partPath(schema, name) ?? [];
  if (first === undefined) throw unknownPart(schema, name);
  return `${first}${steps.map((step) => `[${step}]`).join("")}`;
}

function unknownPart(schema: z.core.$ZodType, name: string): ServiceError {
  const known = partNames(schema, "").join(", ");
  return badInput(`body.${name}`, `unknown part; the parts are ${known}`, { limit: known });
}

function partNames(schema: z.core.$ZodType, name: string): string[] {
  const definition = definitionOf(schema);
  if (definition.type === "array") return partNames(definition.element, `${name}[i]`);
  if (definition.type === "record") return [`${name}[NAME]`];
  if (definition.type !== "object") return [name];
  const fields = Object.entries(definition.shape);
  // An object without files is one part as well, in JSON.
  if (name !== "" && !fields.some(([, field]) => definitionOf(field).type === "file")) return [name];
  return fields.flatMap(([key, field]) => partNames(field, name === "" ? key : `${name}[${key}]`));
}

function ownField({ shape }: z.core.$ZodObjectDef, key: string): z.core.$ZodType | undefined {
  return Object.hasOwn(shape, key) ? shape[key] : undefined;
}

function itemPath({ shape }: z.core.$ZodObjectDef, name: string): readonly string[] | undefined {
  const [list, ...others] = Object.entries(shape).flatMap(([key, field]) => {
    const definition = definitionOf(field);
    if (definition.type !== "array") return [];
    const item = definitionOf(definition.element);
    return item.type === "object" && ownField(item, name) !== undefined ? [key] : [];
  });
  return list === undefined || others.length > 0 ? undefined : [list, "", name];
}

function nextStep(rest: string, isFirst: boolean): { readonly key: string; readonly rest: string } | undefined {
  const match = (isFirst ? /^([^.[]+)/ : /^(?:\[([^[\]]*)\]|\.([^.[]+))/).exec(rest);
  if (match === null) return undefined;
  return { key: match[1] ?? match[2] ?? "", rest: rest.slice(match[0].length) };
}

function keyIn(rest: string): string | undefined {
  if (rest.startsWith(".")) return rest.slice(1);
  return rest.startsWith("[") && rest.endsWith("]") ? rest.slice(1, -1) : undefined;
}
