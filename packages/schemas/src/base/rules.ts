import * as z from "zod/mini";

/** What documents say about a check that has no own keyword in JSON Schema. */
export interface StatedRule {
  /** Exactly one of these fields is given. */
  readonly exactlyOne?: readonly string[];
  /** At most one of these fields is given. */
  readonly atMostOne?: readonly string[];
  /** At least one of these fields is given. */
  readonly atLeastOne?: readonly string[];
  /** The first field needs the others. */
  readonly needs?: readonly string[];
  /** Keywords of JSON Schema. */
  readonly keywords?: Readonly<Record<string, unknown>>;
}

type Given = Readonly<Record<string, unknown>>;

const count = (value: object, fields: readonly string[]): number =>
  fields.filter((field) => (value as Given)[field] !== undefined).length;

const listed = (fields: readonly string[]): string => `${fields.slice(0, -1).join(", ")} and ${fields.at(-1) ?? ""}`;

type Check<Value> = ReturnType<typeof z.refine<Value>>;

/** A check that documents state too. @param error - the message, or its parameters. */
// @__NO_SIDE_EFFECTS__
export function rule<Value>(
  passes: (value: Value) => boolean,
  error: string | { readonly path?: PropertyKey[]; readonly error: string },
  stated: StatedRule,
): Check<Value> {
  return z.refine(passes, { ...(typeof error === "string" ? { error } : error), params: { ...stated } });
}

/** States what the service checks later, with a message that says more. */
// @__NO_SIDE_EFFECTS__
export function checkedLater<Value>(stated: StatedRule): Check<Value> {
  return rule(() => true, "", stated);
}

/** Exactly one of the fields. */
// @__NO_SIDE_EFFECTS__
export function exactlyOne<Value extends object>(...fields: (keyof Value & string)[]): Check<Value> {
  return rule((value) => count(value, fields) === 1, `give exactly one of ${listed(fields)}`, { exactlyOne: fields });
}

/** At most one of the fields. */
// @__NO_SIDE_EFFECTS__
export function atMostOne<Value extends object>(...fields: (keyof Value & string)[]): Check<Value> {
  return rule((value) => count(value, fields) < 2, `give at most one of ${listed(fields)}`, { atMostOne: fields });
}

/** A limit of the entries of a record. @param noun - their name in the message. */
// @__NO_SIDE_EFFECTS__
export function maxEntries<Value extends object>(most: number, noun: string): Check<Value> {
  return rule((value) => Object.keys(value).length <= most, `at most ${String(most)} ${noun}`, {
    keywords: { maxProperties: most },
  });
}

/** At least one of the fields. */
// @__NO_SIDE_EFFECTS__
export function atLeastOne<Value extends object>(...fields: (keyof Value & string)[]): Check<Value> {
  return rule((value) => count(value, fields) > 0, `give at least one of ${listed(fields)}`, { atLeastOne: fields });
}

/** A field that goes only together with another one. */
// @__NO_SIDE_EFFECTS__
export function needs<Value extends object>(field: keyof Value & string, needed: keyof Value & string): Check<Value> {
  return rule((value) => count(value, [field]) === 0 || count(value, [needed]) === 1, `${field} needs ${needed}`, {
    needs: [field, needed],
  });
}
