import * as schemas from "@shoal/schemas";
import { alwaysSentFields, openEnumValues } from "@shoal/schemas";
import * as z from "zod/mini";
import type { JsonSchema } from "./json-schema.ts";
import { addStatedRules } from "./stated-rules.ts";

/** Requests have optional fields for defaults; responses have all fields. */
export type Direction = "request" | "answer";

/** The description of a value and, for an object, of its fields. */
export interface FieldDocs {
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly fields?: Readonly<Record<string, FieldDocs>>;
}

/** Turns schemas into JSON Schema that refers to named components. */
export interface SchemaCollector {
  /** Returns a schema for its place of use: a `$ref` for a component. */
  use(schema: z.core.$ZodType, direction: Direction, docs?: FieldDocs): JsonSchema;
  /** Returns the full schema, even for a component. */
  spellOut(schema: z.core.$ZodType, direction: Direction, docs?: FieldDocs): JsonSchema;
  /** All components in use, with the components that they refer to, by name. */
  components(): Record<string, JsonSchema>;
}

const prefix = "#/components/schemas/";

/**
 * Creates a collector.
 * @param used - every schema that `use` and `spellOut` will receive, by direction.
 * @param named - further components by name; the schemas of `@shoal/schemas` are always components.
 */
export function collectSchemas(
  used: Readonly<Record<Direction, readonly z.core.$ZodType[]>>,
  named: Readonly<Record<string, z.core.$ZodType>>,
  docs: Readonly<Record<string, FieldDocs>>,
): SchemaCollector {
  const names = componentNames(named, allWithin([...used.request, ...used.answer]));
  const emitted = { request: emit(used.request, names, "input"), answer: emit(used.answer, names, "output") };
  const reached = {
    request: reach(used.request, emitted.request, names),
    answer: reach(used.answer, emitted.answer, names),
  };
  for (const { components } of Object.values(emitted))
    for (const [name, schema] of Object.entries(components)) describe(schema, docs[name]);

  // A schema whose request and response forms differ, because of defaults, becomes two components.
  const renamed = new Set([...reached.request].filter((name) => reached.answer.has(name) && !same(name, new Set())));
  function same(name: string, seen: Set<string>): boolean {
    if (seen.has(name)) return true;
    seen.add(name);
    const { request, answer } = emitted;
    if (JSON.stringify(request.components[name]) !== JSON.stringify(answer.components[name])) return false;
    return refsOf(request.components[name]).every((inner) => same(inner, seen));
  }
  const nameIn = (direction: Direction) => (name: string) =>
    direction === "request" && renamed.has(name) ? `${name}Input` : name;

  const referred: Record<Direction, Set<string>> = { request: new Set(), answer: new Set() };
  /** Adds a component, with the components that it refers to, to the document. */
  function referTo(name: string, direction: Direction): void {
    if (referred[direction].has(name)) return;
    referred[direction].add(name);
    for (const inner of refsOf(emitted[direction].components[name])) referTo(inner, direction);
  }

  function spellOut(schema: z.core.$ZodType, direction: Direction, fieldDocs?: FieldDocs): JsonSchema {
    const { components, inline } = emitted[direction];
    const name = names.get(schema);
    const found = name === undefined ? inline.get(schema) : components[name];
    if (found === undefined) throw new Error("The collector does not know this schema.");
    const copy = structuredClone(found);
    describe(copy, fieldDocs);
    for (const inner of refsOf(copy)) referTo(inner, direction);
    return rename(copy, nameIn(direction));
  }

  return {
    spellOut,
    use(schema, direction, fieldDocs) {
      const name = names.get(schema);
      if (name === undefined) return spellOut(schema, direction, fieldDocs);
      referTo(name, direction);
      return { $ref: prefix + nameIn(direction)(name) };
    },
    components() {
      const result: Record<string, JsonSchema> = {};
      for (const direction of ["answer", "request"] as const) {
        const toName = nameIn(direction);
        for (const name of referred[direction]) {
          const component = emitted[direction].components[name];
          if (component !== undefined) result[toName(name)] ??= rename(structuredClone(component), toName);
        }
      }
      return Object.fromEntries(Object.entries(result).sort(([a], [b]) => (a < b ? -1 : 1)));
    },
  };
}

/** These schemas and all inside them. Most documents have few, and converting the others takes a second. */
function allWithin(roots: readonly z.core.$ZodType[]): ReadonlySet<unknown> {
  const found = new Set<unknown>();
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null || found.has(value)) return;
    found.add(value);
    const { def, innerType: made } = isSchema(value) ? (value as z.core.$ZodLazy)._zod : { def: value };
    // The getter of a lazy schema is a function.
    Object.values<unknown>({ ...def, made }).forEach(visit);
  };
  roots.forEach(visit);
  return found;
}

/** Objects and records become components; named scalars (a timestamp, an id) are easier to read inline. */
function componentNames(
  named: Readonly<Record<string, z.core.$ZodType>>,
  used: ReadonlySet<unknown>,
): Map<z.core.$ZodType, string> {
  const names = new Map<z.core.$ZodType, string>();
  for (const [name, schema] of [...Object.entries(schemas), ...Object.entries(named)]) {
    if (!used.has(schema) || !isSchema(schema) || !isStructure(schema)) continue;
    const other = names.get(schema);
    if (other !== undefined) throw new Error(`${name} and ${other} are one schema: a component has one name.`);
    names.set(schema, name);
  }
  return names;
}

function isSchema(value: unknown): value is z.core.$ZodType {
  return typeof value === "object" && value !== null && "_zod" in value;
}

function isStructure(schema: z.core.$ZodType): boolean {
  // `_zod.def.type` discriminates the union of zod's own types.
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === "lazy") return isStructure(def.getter());
  return def.type === "object" || def.type === "record" || (def.type === "union" && def.options.some(isStructure));
}

interface Emitted {
  readonly components: Record<string, JsonSchema>;
  /** Unnamed schemas. They are registered under temporary names, because zod would otherwise repeat the components inside them. */
  readonly inline: Map<z.core.$ZodType, JsonSchema>;
}

function emit(
  used: readonly z.core.$ZodType[],
  names: ReadonlyMap<z.core.$ZodType, string>,
  io: "input" | "output",
): Emitted {
  const registry = z.registry<{ id: string }>();
  for (const [schema, id] of names) registry.add(schema, { id });
  const temporary = new Map<z.core.$ZodType, string>();
  for (const schema of used) {
    if (names.has(schema) || temporary.has(schema)) continue;
    const id = `__${temporary.size}`;
    temporary.set(schema, id);
    registry.add(schema, { id });
  }
  const result = z.toJSONSchema(registry, { io, target: "draft-2020-12", uri: (id) => prefix + id, override: tidy })
    .schemas as Record<string, JsonSchema>;
  for (const schema of Object.values(result)) dropDialect(schema, io);
  const inline = new Map([...temporary].map(([schema, id]) => [schema, result[id] ?? {}]));
  for (const id of temporary.values()) Reflect.deleteProperty(result, id);
  return { components: result, inline };
}

/** Removes redundant keywords of zod, and adds information that zod does not have. */
function tidy({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: JsonSchema }): void {
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.format === "date-time") delete jsonSchema.pattern;
  if (jsonSchema.format === "binary") delete jsonSchema.contentEncoding;
  // All JSON keys are strings.
  if (JSON.stringify(jsonSchema.propertyNames) === '{"type":"string"}') delete jsonSchema.propertyNames;
  const values = openEnumValues.get(zodSchema);
  if (values !== undefined) jsonSchema.enum = [...values];
  const { def } = zodSchema._zod;
  if (def.type === "object") {
    const required = new Set(jsonSchema.required as string[] | undefined);
    const names = Object.keys(def.shape).filter((name) => required.has(name) || isAlwaysSent(def.shape[name]));
    if (names.length > 0) jsonSchema.required = names;
  }
  addStatedRules(zodSchema, jsonSchema);
  if (def.type === "union" && "discriminator" in def && typeof def.discriminator === "string")
    jsonSchema.discriminator = { propertyName: def.discriminator };
}

function isAlwaysSent(field: z.core.$ZodType | undefined): boolean {
  return field !== undefined && alwaysSentFields.has(field);
}

function dropDialect(schema: JsonSchema, io: "input" | "output"): void {
  delete schema.$schema;
  delete schema.$id;
  // Clients must tolerate unknown fields of a newer server.
  if (io === "output")
    forEachObject(schema, (node) => {
      if (node.additionalProperties === false) delete node.additionalProperties;
    });
}

function reach(
  used: readonly z.core.$ZodType[],
  { components, inline }: Emitted,
  names: ReadonlyMap<z.core.$ZodType, string>,
): Set<string> {
  const reached = new Set<string>();
  const follow = (name: string): void => {
    if (reached.has(name)) return;
    reached.add(name);
    refsOf(components[name]).forEach(follow);
  };
  for (const schema of used) {
    const name = names.get(schema);
    if (name === undefined) refsOf(inline.get(schema)).forEach(follow);
    else follow(name);
  }
  return reached;
}

function refsOf(schema: JsonSchema | undefined): string[] {
  const refs: string[] = [];
  if (schema !== undefined)
    forEachObject(schema, ({ $ref }) => {
      if (typeof $ref === "string") refs.push($ref.slice(prefix.length));
    });
  return refs;
}

function rename(schema: JsonSchema, toName: (name: string) => string): JsonSchema {
  forEachObject(schema, (node) => {
    if (typeof node.$ref === "string") node.$ref = prefix + toName(node.$ref.slice(prefix.length));
  });
  return schema;
}

function forEachObject(node: unknown, visit: (node: JsonSchema) => void): void {
  if (typeof node !== "object" || node === null) return;
  if (!Array.isArray(node)) visit(node as JsonSchema);
  for (const inner of Object.values(node)) forEachObject(inner, visit);
}

/** Adds descriptions to a schema and to its inline fields. */
function describe(schema: JsonSchema, docs: FieldDocs | undefined): void {
  if (docs === undefined) return;
  if (docs.description !== undefined) schema.description = docs.description;
  if (docs.deprecated === true) schema.deprecated = true;
  if (docs.fields !== undefined) describeFields(schema, docs.fields);
}

function describeFields(schema: JsonSchema, fields: Readonly<Record<string, FieldDocs>>): void {
  if (schema.$ref !== undefined) return;
  const { properties } = schema as { properties?: Record<string, JsonSchema> };
  for (const [name, property] of Object.entries(properties ?? {}))
    if (Object.hasOwn(fields, name)) describe(property, fields[name]);
  for (const inner of [schema.items, schema.additionalProperties, schema.anyOf, schema.oneOf].flat()) {
    if (typeof inner === "object" && inner !== null) describeFields(inner as JsonSchema, fields);
  }
}
