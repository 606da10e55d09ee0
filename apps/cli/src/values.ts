import { readFileSync } from "node:fs";
import type { CommandSpec, Flag } from "./command-table.ts";
import { flagName, kebab } from "./words.ts";

/** The command line is wrong. The message names the flag; the exit status is 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Turns what stands on the command line into the value that goes over the wire. @throws {UsageError} when it cannot be one. */
export function parseValue(flag: Flag, text: string | boolean | readonly string[], name = flagName(flag.field)): unknown {
  if (typeof text === "boolean") return text;
  if (flag.clearable && String(text) === "null") return null;
  switch (flag.kind) {
    case "string":
      if (typeof text === "string" && isSecret(flag) && (text === "-" || text.startsWith("@")))
        return fromFile(name, text === "-" ? "@-" : text).trim();
      if (typeof text === "string" && flag.values && !flag.values.includes(text))
        throw new UsageError(`${name} takes one of ${flag.values.join(", ")}, not "${text}".`);
      return text;
    case "boolean":
      throw new UsageError(`${name} takes no value.`);
    case "integer":
    case "number": {
      const number = Number(text);
      if (typeof text !== "string" || text.trim() === "" || !Number.isFinite(number) || (flag.kind === "integer" && !Number.isInteger(number)))
        throw new UsageError(`${name} takes ${flag.kind === "integer" ? "a whole number" : "a number"}, not "${String(text)}".`);
      return number;
    }
    case "file":
      return text;
    case "list":
      return typeof text === "string" ? [text] : text;
    case "map":
      return Object.fromEntries(
        (typeof text === "string" ? [text] : text).map((pair) => {
          const at = pair.indexOf("=");
          if (at < 1) throw new UsageError(`${name} takes key=value, not "${pair}".`);
          return [pair.slice(0, at), pair.slice(at + 1)];
        }),
      );
    case "json":
      return flag.field === "viewport" ? parseViewport(name, String(text)) : parseJson(name, fromFile(name, String(text)));
  }
}

function parseViewport(name: string, text: string): unknown {
  const match = /^(\d+)x(\d+)(?:@(\d+))?$/.exec(text);
  if (!match) {
    const form = "WIDTHxHEIGHT or WIDTHxHEIGHT@HZ, such as 1280x800";
    const value = parseJson(name, text, form);
    if (typeof value !== "object" || value === null) throw new UsageError(`${name} takes ${form}, not "${text}".`);
    return value;
  }
  return { width: Number(match[1]), height: Number(match[2]), ...(match[3] !== undefined && { refresh_rate: Number(match[3]) }) };
}

/** What nobody should have to write where every user of the machine can read it. */
export function isSecret({ field, kind }: Flag): boolean {
  return kind === "string" && /(^|[._])(password|token|totp_secret)$/.test(field) && !field.endsWith("page_token");
}

/** `@policy.json` stands for what is in the file; no JSON begins so. */
function fromFile(name: string, text: string): string {
  if (!text.startsWith("@")) return text;
  try {
    return readFileSync(text === "@-" ? 0 : text.slice(1), "utf8");
  } catch {
    throw new UsageError(`${name}: the file ${text.slice(1)} cannot be read.`);
  }
}

function parseJson(name: string, text: string, form = "JSON"): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`${name} takes ${form}, not "${text}".`);
  }
}

/** What was given to a command on the command line. */
export interface GivenValues {
  readonly args: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
  /** By field: under which key `options` has it, and its flag as people type it. */
  readonly flags: Readonly<Record<string, { readonly key: string; readonly name: string }>>;
}

/** The parts of a request. */
export interface CommandRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

/** Puts a value where its field says: `profile.id` into the object `profile`. */
function place(into: Record<string, unknown>, field: string, value: unknown): void {
  const [name = "", inner] = field.split(".", 2);
  if (inner === undefined) {
    into[name] = value;
    return;
  }
  const whole = into[name];
  into[name] = { ...(typeof whole === "object" ? whole : {}), [inner]: value };
}

/** Sorts a command's arguments and flags into the parts of a request. @throws {UsageError} when one is missing or wrong. */
export function buildRequest(spec: CommandSpec, given: GivenValues): CommandRequest {
  const params: Record<string, string> = {};
  spec.params.forEach((param, index) => {
    const value = given.args[index] ?? "";
    // An empty path segment would be another operation: DELETE /browsers/.
    if (value === "") throw new UsageError(`<${kebab(byName(spec, param.name))}> is empty.`);
    if (value === "." || value === "..") throw new UsageError(`<${kebab(byName(spec, param.name))}> must not be "${value}".`);
    params[param.name] = value;
  });
  const { arguments: positional = [], rest } = spec.polish;
  const query: Record<string, unknown> = {};
  const body: Record<string, unknown> = {};
  for (const flag of spec.flags) {
    const index = positional.indexOf(flag.field);
    const { key = "", name = flagName(flag.field) } = given.flags[flag.field] ?? {};
    const others = given.args.slice(spec.params.length + positional.length);
    const raw =
      flag.field === rest
        ? others.length > 0
          ? others
          : given.options[key]
        : index >= 0
          ? given.args[spec.params.length + index]
          : given.options[key];
    const into = flag.place === "query" ? query : body;
    if (raw === undefined) continue;
    place(into, flag.field, parseValue(flag, raw as string | boolean | string[], index >= 0 ? `<${kebab(flag.field)}>` : name));
  }
  for (const { field, required } of spec.flags)
    if (required && !field.includes(".") && !(field in query) && !(field in body))
      throw new UsageError(`${given.flags[field]?.name ?? flagName(field)} is missing.`);
  if (spec.method === "PATCH" && Object.keys(body).length === 0) {
    const names = spec.flags
      .filter(({ place: where, hidden }) => where === "body" && hidden !== true)
      .map(({ field }) => given.flags[field]?.name ?? flagName(field));
    throw new UsageError(`There is nothing to change: give ${new Intl.ListFormat("en", { type: "disjunction" }).format(names)}.`);
  }
  return { params, query, body: spec.body === "none" || spec.body === "bytes" ? undefined : body };
}

/** What a path parameter is called on the command line: ids of a command that takes names too are `id-or-name`. */
export function byName(spec: CommandSpec, param: string): string {
  return param === "id" && spec.polish.id !== undefined ? "id-or-name" : param;
}
