import { readFileSync } from "node:fs";
import { durationMs } from "../core/duration.ts";
import { UsageError } from "../core/errors.ts";
import type { CommandRequest, CommandSpec, Flag, GivenValues } from "../core/types.ts";
import { flagName, kebab } from "./words.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** @throws {UsageError} for an invalid value. */
export function parseValue(
  flag: Flag,
  text: string | boolean | readonly string[],
  name = flagName(flag.field),
): unknown {
  if (typeof text === "boolean") return text;
  if (flag.clearable && String(text) === "null") return null;
  switch (flag.kind) {
    case "string":
      if (typeof text === "string" && flag.secret === true) return secretText(name, text);
      if (typeof text === "string" && flag.values && !flag.values.includes(text))
        throw new UsageError(`${name} takes one of ${flag.values.join(", ")}, not "${text}".`);
      return text;
    case "boolean":
      throw new UsageError(`${name} takes no value.`);
    case "integer":
    case "number": {
      const number = inUnitOf(flag.field, text) ?? Number(text);
      if (
        typeof text !== "string" ||
        text.trim() === "" ||
        !Number.isFinite(number) ||
        (flag.kind === "integer" && !Number.isInteger(number))
      )
        throw new UsageError(
          `${name} takes ${flag.kind === "integer" ? "a whole number" : "a number"}, not "${String(text)}".`,
        );
      return number;
    }
    case "file":
      return text;
    case "list":
      return listOf(flag, typeof text === "string" ? [text] : text, name);
    case "map":
      return Object.fromEntries(
        (typeof text === "string" ? [text] : text).map((pair) => {
          const at = pair.indexOf("=");
          if (at < 1) throw new UsageError(`${name} takes key=value${flag.secret === true ? "" : `, not "${pair}"`}.`);
          const value = pair.slice(at + 1);
          return [pair.slice(0, at), flag.secret === true ? secretValue(name, value) : value];
        }),
      );
    case "json":
      return parseJson(name, fromFile(name, String(text)));
    case "size":
      return parseSize(name, String(text));
  }
}

/** Known values may also be separated by commas: none of them contains one. */
function listOf({ values }: Flag, given: readonly string[], name: string): readonly string[] {
  if (values === undefined) return given;
  const items = given.flatMap((text) => text.split(",")).map((text) => text.trim());
  for (const item of items)
    if (!values.includes(item)) throw new UsageError(`${name} takes ${values.join(", ")}, not "${item}".`);
  return items;
}

/** Reads a duration such as `10m` in the unit of the field's name. */
function inUnitOf(field: string, text: string | readonly string[]): number | undefined {
  const unitMs = unitMsOf(field);
  const ms = unitMs === undefined || typeof text !== "string" ? undefined : durationMs(text);
  return ms === undefined || unitMs === undefined ? undefined : ms / unitMs;
}

function unitMsOf(field: string): number | undefined {
  if (field.endsWith("_ms")) return 1;
  if (/(?:^|_)days(?:_|$)/.test(field)) return 86_400_000;
  return /_(?:sec|seconds)$/.test(field) ? 1000 : undefined;
}

/** Least side of a page that a person types, in CSS pixels. */
const leastPixels = 64;

function parseSize(name: string, text: string): unknown {
  const match = /^(\d+)x(\d+)(?:@(\d+))?$/.exec(text);
  if (!match) {
    const form = "WIDTHxHEIGHT or WIDTHxHEIGHT@HZ, such as 1280x800";
    const value = parseJson(name, text, form);
    if (typeof value !== "object" || value === null) throw new UsageError(`${name} takes ${form}, not "${text}".`);
    return value;
  }
  const [width, height] = [Number(match[1]), Number(match[2])];
  // The service accepts smaller sizes, as the reference does. Typed ones are mistakes.
  if (Math.min(width, height) < leastPixels)
    throw new UsageError(
      `${name} takes a width and a height of at least ${String(leastPixels)} pixels, not "${text}". For a smaller page, pass JSON: '${JSON.stringify({ width, height })}'.`,
    );
  return {
    width,
    height,
    ...(match[3] !== undefined && { refresh_rate: Number(match[3]) }),
  };
}

/** Marks a secret that a person typed, which is never the name of a file. Arguments cannot contain NUL. */
export const typedMark = "\0";

/** Keeps the secret out of the process list: `-` reads stdin, `@FILE` a file. */
export function secretText(name: string, text: string): string {
  return isSource(text) ? secretValue(name, text).trim() : secretValue(name, text);
}

const isSource = (text: string) => text === "-" || text.startsWith("@");

/** Like {@link secretText}; of white space, only the line break at the end is removed. */
function secretValue(name: string, text: string): string {
  if (text.startsWith(typedMark)) return text.slice(typedMark.length);
  return isSource(text) ? fromFile(name, text === "-" ? "@-" : text).replace(/\r?\n$/, "") : text;
}

/** Reads `@policy.json` from the file. Valid JSON never starts with `@`. */
function fromFile(name: string, text: string): string {
  if (!text.startsWith("@")) return text;
  try {
    return readFileSync(text === "@-" ? 0 : text.slice(1), "utf8");
  } catch {
    throw new UsageError(`${name}: cannot read the file ${text.slice(1)}.`);
  }
}

function parseJson(name: string, text: string, form = "JSON"): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`${name} takes ${form}, not "${text}".`);
  }
}

/** Sets `profile.id` in the object `profile`. */
function place(into: Record<string, unknown>, field: string, value: unknown): void {
  const [name = "", inner] = field.split(".", 2);
  if (inner === undefined) {
    into[name] = value;
    return;
  }
  const whole = into[name];
  into[name] = { ...(typeof whole === "object" ? whole : {}), [inner]: value };
}

/** `7d` is the day seven days before today in UTC. Other values stay the same. */
function dayOf(value: unknown): unknown {
  const days = typeof value === "string" ? /^(\d{1,5})d$/.exec(value)?.[1] : undefined;
  return days === undefined ? value : new Date(Date.now() - Number(days) * dayMs).toISOString().slice(0, 10);
}

/** `2h` is the moment two hours ago. Other values stay the same. */
function momentOf(value: unknown): unknown {
  const agoMs = typeof value === "string" ? durationMs(value) : undefined;
  return agoMs === undefined ? value : new Date(Date.now() - agoMs).toISOString();
}

/** @throws {UsageError} for a missing or invalid value. */
export function buildRequest(spec: CommandSpec, given: GivenValues): CommandRequest {
  const params: Record<string, string> = {};
  spec.params.forEach((param, index) => {
    const value = given.args[index] ?? "";
    // An empty path segment would call another operation: DELETE /browsers/.
    if (value === "") throw new UsageError(`<${kebab(byName(spec, param.name))}> is empty.`);
    if (value === "." || value === "..")
      throw new UsageError(`<${kebab(byName(spec, param.name))}> must not be "${value}".`);
    params[param.name] = value;
  });
  const { arguments: positional = [], rest } = spec.entry;
  const query: Record<string, unknown> = {};
  const body: Record<string, unknown> = {};
  for (const flag of spec.flags) {
    const index = positional.indexOf(flag.field);
    const { key = "", name = flagName(flag.field) } = given.flags[flag.field] ?? {};
    const others = given.args.slice(spec.params.length + positional.length);
    const { [flag.field]: usual } = spec.entry.moments ?? {};
    const raw =
      (flag.field === rest && others.length > 0
        ? others
        : index >= 0
          ? given.args[spec.params.length + index]
          : given.options[key]) ?? usual;
    const into = flag.place === "query" ? query : body;
    if (raw === undefined) continue;
    const value = parseValue(flag, raw as string | boolean | string[], index >= 0 ? `<${kebab(flag.field)}>` : name);
    const isDay = spec.entry.relativeDays?.includes(flag.field) === true;
    place(into, flag.field, isDay ? dayOf(value) : usual === undefined ? value : momentOf(value));
  }
  for (const { field, required } of spec.flags)
    if (required && !field.includes(".") && !(field in query) && !(field in body))
      throw new UsageError(`${given.flags[field]?.name ?? flagName(field)} is missing.`);
  if (spec.method === "PATCH" && Object.keys(body).length === 0) {
    const names = spec.flags
      .filter(({ place: where, hidden }) => where === "body" && hidden !== true)
      .map(({ field }) => given.flags[field]?.name ?? flagName(field));
    throw new UsageError(
      `Nothing to change. Pass ${new Intl.ListFormat("en", { type: "disjunction" }).format(names)}.`,
    );
  }
  return { params, query, body: spec.body === "none" || spec.body === "bytes" ? undefined : body };
}

/** `id-or-name` for an id that may be a name. */
export function byName(spec: CommandSpec, param: string): string {
  return param === "id" && spec.entry.id !== undefined ? "id-or-name" : param;
}
