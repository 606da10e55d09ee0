import type { CommandSpec, Flag } from "./command-table.ts";

/** The command line is wrong. The message names the flag; the exit status is 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** `timeout_seconds` → `--timeout-seconds`. */
export function flagName(field: string): string {
  return `--${field.replaceAll("_", "-")}`;
}

/** Turns what stands on the command line into the value that goes over the wire. @throws {UsageError} when it cannot be one. */
export function parseValue(flag: Flag, text: string | boolean | readonly string[], name = flagName(flag.field)): unknown {
  if (typeof text === "boolean") return text;
  if (flag.clearable && String(text) === "null") return null;
  switch (flag.kind) {
    case "string":
      if (typeof text === "string" && flag.values && !flag.values.includes(text)) throw new UsageError(`${name} takes one of ${flag.values.join(", ")}, not "${text}".`);
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
      return flag.field === "viewport" ? parseViewport(name, String(text)) : parseJson(name, String(text));
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
  /** Fields that are arguments, in order, behind the path parameters. */
  readonly positional: readonly string[];
  /** By field: under which key `options` has it, and its flag as people type it. */
  readonly flags: Readonly<Record<string, { readonly key: string; readonly name: string }>>;
}

/** Sorts a command's arguments and flags into the parts of a request. @throws {UsageError} when one is missing or wrong. */
export function buildRequest(spec: CommandSpec, given: GivenValues): { params: Record<string, string>; query: Record<string, unknown>; body: Record<string, unknown> | undefined } {
  const params: Record<string, string> = {};
  spec.params.forEach((param, index) => {
    const value = given.args[index] ?? "";
    // An empty path segment would be another operation: DELETE /browsers/.
    if (value === "") throw new UsageError(`<${param.name.replaceAll("_", "-")}> is empty.`);
    params[param.name] = value;
  });
  const query: Record<string, unknown> = {};
  const body: Record<string, unknown> = {};
  for (const flag of spec.flags) {
    const index = given.positional.indexOf(flag.field);
    const { key = "", name = flagName(flag.field) } = given.flags[flag.field] ?? {};
    const raw = index >= 0 ? given.args[spec.params.length + index] : given.options[key];
    if (raw === undefined) {
      if (flag.required) throw new UsageError(`${name} is missing.`);
      continue;
    }
    (flag.place === "query" ? query : body)[flag.field] = parseValue(flag, raw as string | boolean | string[], index >= 0 ? `<${flag.field.replaceAll("_", "-")}>` : name);
  }
  if (spec.operationId.endsWith(".update") && Object.keys(body).length === 0) {
    const names = spec.flags.filter(({ place }) => place === "body").map(({ field }) => given.flags[field]?.name ?? flagName(field));
    throw new UsageError(`There is nothing to change: give ${new Intl.ListFormat("en", { type: "disjunction" }).format(names)}.`);
  }
  return { params, query, body: spec.body === "json" ? body : undefined };
}
