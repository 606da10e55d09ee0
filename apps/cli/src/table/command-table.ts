import type { CommandEntry, CommandSpec, Flag, FlagKind, ResultKind } from "../core/types.ts";
import { argumentHelp, flagHelp } from "./flag-help.ts";
import { fieldFlag } from "./flag-spelling.ts";
import { type OpenApiAnswer, type OpenApiDocument, type OpenApiOperation, SchemaReader } from "./schema-reader.ts";
import { kebab } from "./words.ts";

/** Runs at build time, so that the command line loads no schema library. @param entries - by operation id. */
export function commandTable(
  document: OpenApiDocument,
  entries: Readonly<Record<string, CommandEntry>>,
): CommandSpec[] {
  const reader = new SchemaReader(document);
  return Object.entries(document.paths)
    .flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, operation })))
    .filter(({ operation }) => typeof operation.operationId === "string")
    .map((source) => specOf(source, entries[source.operation.operationId] ?? usualEntry(source), reader));
}

interface Source {
  readonly path: string;
  readonly method: string;
  readonly operation: OpenApiOperation;
}

/** Of an operation without special cases: only a deletion asks. */
function usualEntry({ method, operation: { summary = "" } }: Source): CommandEntry {
  const deleted = /^Delete an? (.+)\.$/.exec(summary)?.[1];
  if (method !== "delete" || deleted === undefined) return {};
  return { confirm: `Delete ${deleted} {0}?`, done: `Deleted ${deleted} {0}.` };
}

function specOf(source: Source, entry: CommandEntry, reader: SchemaReader): CommandSpec {
  const { path, method, operation } = source;
  const { operationId, parameters = [] } = operation;
  const { result, responses, receives, schema } = responsesOf(operation);
  const spec: CommandSpec = {
    operationId,
    words: entry.words ?? operationId.split(".").map(kebab),
    summary: entry.summary ?? (operation.summary ?? "").replace(/\.$/, ""),
    description: entry.about ?? "",
    method: method.toUpperCase(),
    path,
    ...(operation.security?.length === 0 && { open: true as const }),
    params: parameters
      .filter((parameter) => parameter.in === "path")
      .map(({ name }) => ({ name, description: argumentHelp(operationId, name) })),
    flags: flagsOf(source, reader).map((flag) => ({
      ...flag,
      description: entry.help?.[flag.field] ?? flagHelp[flag.field] ?? flag.description.replace(/\.$/, ""),
      ...(isOnByDefault(flag, entry) && { negated: true as const }),
      ...(entry.moments?.[flag.field] !== undefined && { required: false }),
    })),
    ...bodyOf(operation),
    result,
    responses,
    ...(result === "bytes" && receives !== undefined && { receives }),
    fields: reader.fieldsOf(schema),
    ...(operation.deprecated === true && { deprecated: true as const }),
    entry: {},
  };
  const isList = result === "page" || result === "tokenPage" || reader.isList(schema);
  const own: CommandEntry = {
    ...(path.startsWith("/browsers/{id}") && { id: "ID or name of the session" }),
    ...(isList && { columns: columnsFor(reader.simpleFieldsOf(schema)) }),
    ...withoutHelp(entry),
  };
  return { ...spec, entry: { ...own, examples: own.examples ?? [exampleOf({ ...spec, entry: own })] } };
}

/** The build has copied these texts into the command and its flags. */
function withoutHelp({
  summary: _summary,
  about: _about,
  help: _help,
  onByDefault: _on,
  ...entry
}: CommandEntry): CommandEntry {
  return entry;
}

function isOnByDefault({ field, kind, default: value }: Flag, { onByDefault = [] }: CommandEntry): boolean {
  return kind === "boolean" && (value === true || onByDefault.includes(field));
}

function flagsOf({ method, operation: { parameters = [], requestBody } }: Source, reader: SchemaReader): Flag[] {
  const { "application/json": json, "multipart/form-data": multipart } = requestBody?.content ?? {};
  const query = parameters.filter((parameter) => parameter.in === "query");
  return [
    ...query.map(({ name, schema = {}, required = false, description }) =>
      reader.flag("query", name, { schema, required, description }),
    ),
    ...reader.bodyFlags(json?.schema ?? multipart?.schema, method === "patch"),
  ];
}

function bodyOf({ requestBody }: OpenApiOperation): Pick<CommandSpec, "body" | "sends"> {
  const types = Object.keys(requestBody?.content ?? {});
  const [sends] = types;
  if (sends === undefined) return { body: "none" };
  if (types.includes("application/json")) return { body: "json" };
  return types.includes("multipart/form-data") ? { body: "multipart" } : { body: "bytes", sends };
}

function responsesOf({ responses: all }: OpenApiOperation) {
  const successes = Object.entries(all).filter(([status]) => status.startsWith("2"));
  const responses = Object.fromEntries(successes.map(([status, answer]) => [status, resultOf(answer)]));
  const result: ResultKind = Object.values(responses).find((kind) => kind !== "empty") ?? "empty";
  const success = successes.find(([status]) => responses[status] === result)?.[1];
  const [receives] = Object.keys(success?.content ?? {});
  return { responses, result, receives, schema: success?.content?.[receives ?? ""]?.schema };
}

function resultOf(answer: OpenApiAnswer): ResultKind {
  const types = Object.keys(answer.content ?? {});
  if (types.includes("text/event-stream")) return "events";
  const headers = new Set(Object.keys(answer.headers ?? {}).map((header) => header.toLowerCase()));
  // Downloads may be paged too, so the content type decides first.
  if (types.includes("application/json"))
    return headers.has("x-next-page-token") ? "tokenPage" : headers.has("x-has-more") ? "page" : "json";
  return types.length > 0 ? "bytes" : "empty";
}

const identifyingFields = [
  "id",
  "session_id",
  "name",
  "app_name",
  "version",
  "action_name",
  "status",
  "type",
  "domain",
  "email",
  "created_at",
  "started_at",
  "expires_at",
];

const maxColumns = 6;

function columnsFor(fields: readonly string[]): (readonly [string, string])[] {
  const known = identifyingFields.filter((field) => fields.includes(field));
  const chosen = [...known, ...fields.filter((field) => !known.includes(field))].slice(0, maxColumns);
  return chosen.map((field) => [field.replace(/_at$/, "").replaceAll("_", " ").toUpperCase(), field]);
}

const samples: Readonly<Record<FlagKind, string>> = {
  string: "TEXT",
  integer: "1",
  number: "1",
  boolean: "",
  map: "KEY=VALUE",
  list: "VALUE",
  json: "JSON",
  file: "FILE",
  size: "1280x800",
};

function exampleOf({ words, params, flags, entry }: CommandSpec): string {
  const { arguments: positional = [] } = entry;
  const needed = flags.filter(({ field, required }) => required && !positional.includes(field));
  const given = needed.map(({ field, kind, values }) =>
    [fieldFlag(entry, field), values?.[0] ?? samples[kind]].filter(Boolean).join(" "),
  );
  return [
    "shoal",
    ...words,
    ...params.map(({ name }) => kebab(name).toUpperCase()),
    ...positional.map((field) => kebab(field).toUpperCase()),
    ...given,
  ].join(" ");
}
