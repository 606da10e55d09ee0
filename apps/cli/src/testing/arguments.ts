import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { CommandSpec, Flag } from "../core/types.ts";
import { fieldFlag } from "../table/flag-spelling.ts";
import { components, paths } from "./echo-service.ts";
import { sampleOf, type SampleSchema } from "./sample-values.ts";

export function builtTable(): CommandSpec[] {
  const read = (name: string): unknown =>
    JSON.parse(readFileSync(fileURLToPath(new URL(`../../dist/commands/${name}.json`, import.meta.url)), "utf8"));
  const { roots, tables } = read("index") as { roots: CommandSpec[]; tables: string[] };
  return [...roots, ...tables.flatMap((word) => read(`of-${word}`) as CommandSpec[])];
}

interface DocumentOperation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema?: SampleSchema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: SampleSchema }>> };
}

function schemaOf(spec: CommandSpec, field: string): SampleSchema {
  const operation = (paths[spec.path]?.[spec.method.toLowerCase()] ?? {}) as DocumentOperation;
  const parameter = operation.parameters?.find(({ name, in: where }) => where === "query" && name === field);
  const body = Object.values(operation.requestBody?.content ?? {})[0]?.schema;
  const resolve = (schema: SampleSchema | undefined): SampleSchema =>
    schema?.$ref === undefined ? (schema ?? {}) : resolve(components.schemas[schema.$ref.split("/").at(-1) ?? ""]);
  const find = (schema: SampleSchema | undefined, name: string): SampleSchema | undefined => {
    const { properties, anyOf = [], oneOf = [], allOf = [] } = resolve(schema);
    return (
      properties?.[name] ??
      [...anyOf, ...oneOf, ...allOf].map((part) => find(part, name)).find((found) => found !== undefined)
    );
  };
  return parameter?.schema ?? field.split(".").reduce<SampleSchema | undefined>(find, body) ?? {};
}

/** Returns a valid value for a field, and its words on the command line. */
function typed(
  spec: CommandSpec,
  flag: Flag,
  file: string,
): { readonly value: unknown; readonly words: readonly string[] } {
  const name = flag.field.split(".").at(-1) ?? "";
  if (flag.kind === "file") return { value: file, words: [file] };
  const value = sampleOf(schemaOf(spec, flag.field), components.schemas, { name });
  switch (flag.kind) {
    case "boolean":
      return { value: true, words: [] };
    case "list":
      return { value, words: (value as unknown[]).map(String) };
    case "map":
      return { value, words: Object.entries(value as object).map(([key, entry]) => `${key}=${String(entry)}`) };
    case "json":
    case "size":
      return { value, words: [JSON.stringify(value)] };
    case "string":
    case "integer":
    case "number":
      return { value, words: [String(value)] };
  }
}

export interface SampleCall {
  readonly args: readonly string[];
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** @param file - a local file, for parts of multipart bodies. @param chosen - the flags to include. */
export function sampleCall(
  spec: CommandSpec,
  file: string,
  chosen: (flag: Flag) => boolean = ({ required }) => required,
): SampleCall {
  const { arguments: positional = [], rest } = spec.entry;
  const params = Object.fromEntries(spec.params.map(({ name }) => [name, `some-${name.replaceAll("_", "-")}`]));
  const query: Record<string, unknown> = {};
  const body: Record<string, unknown> = {};
  const flags: string[] = [];
  const places = new Map<string, readonly string[]>();
  for (const flag of spec.flags) {
    const isPlaced = positional.includes(flag.field) || flag.field === rest;
    if (!chosen(flag) && !isPlaced) continue;
    const { value, words } = typed(spec, flag, file);
    const [name = "", inner] = flag.field.split(".");
    const into = flag.place === "query" ? query : body;
    into[name] = inner === undefined ? value : { ...(into[name] as object | undefined), [inner]: value };
    if (isPlaced) places.set(flag.field, words);
    else if (flag.kind === "boolean") flags.push(fieldFlag(spec.entry, flag.field));
    else for (const word of words) flags.push(fieldFlag(spec.entry, flag.field), word);
  }
  const placed = [...positional, ...(rest === undefined ? [] : [rest])].flatMap((field) => places.get(field) ?? []);
  return { args: [...spec.words, ...Object.values(params), ...placed, ...flags], params, query, body };
}
