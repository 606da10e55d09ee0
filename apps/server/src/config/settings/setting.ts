import { checked } from "@shoal/schemas";
import * as z from "zod/mini";

/** A `path` becomes absolute. `auto_integer`: a whole number or `auto`. */
export type SettingKind = "text" | "path" | "integer" | "auto_integer" | "boolean" | "list";

interface Facts<Value> {
  /** How text from a flag or a variable is read. */
  readonly kind: SettingKind;
  readonly schema: z.ZodMiniType<Value>;
  /** For the help and the README. */
  readonly summary: string;
  /** Further environment variables after `SHOAL_<NAME>`, in order. */
  readonly env?: readonly string[];
  readonly secret?: true;
  readonly flagOnly?: true;
  /** A reload changes it without a restart. */
  readonly live?: true;
}

/** A setting that always has a value. */
export interface CompleteSetting<Value> extends Facts<Value> {
  /** The default, for the help and the README. */
  readonly default: string;
  readonly fallback: (env: NodeJS.ProcessEnv) => Value;
}

export interface OptionalSetting<Value> extends Facts<Value> {
  /** What applies without it, for the help and the README. */
  readonly default: string;
  readonly fallback?: never;
}

/** A setting of any type of value. */
export type Setting = CompleteSetting<unknown> | OptionalSetting<unknown>;

type Fallback<Value> = Value | ((env: NodeJS.ProcessEnv) => Value);

/** Of a declaration: only a path names its kind, which otherwise follows from the schema. */
type Declared<Value> = Omit<Facts<Value>, "kind"> & { readonly kind?: "path" };

const kinds: Readonly<Record<string, SettingKind>> = {
  array: "list",
  boolean: "boolean",
  custom: "auto_integer",
  number: "integer",
};

function kindOf(schema: z.ZodMiniType): SettingKind {
  const inner = schema instanceof z.ZodMiniLazy ? schema.def.getter() : schema;
  return kinds[inner._zod.def.type] ?? "text";
}

/** @param facts - `default` is the text of `fallback` unless it is given. */
export function setting<Value extends string | number | boolean | readonly string[]>(
  facts: Declared<Value> & { readonly fallback: Fallback<NoInfer<Value>>; readonly default?: string },
): CompleteSetting<Value> {
  const { fallback } = facts;
  return {
    kind: kindOf(facts.schema),
    default: String(fallback),
    ...facts,
    fallback: typeof fallback === "function" ? fallback : () => fallback,
  };
}

export function optionalSetting<Value>(facts: Declared<Value> & { readonly default: string }): OptionalSetting<Value> {
  return { kind: kindOf(facts.schema), ...facts };
}

export const text = checked(z.string(), z.minLength(1, "must not be empty"));

export const integer = (minimum: number, maximum: number) => z.int().check(z.minimum(minimum), z.maximum(maximum));

export const integerOrAuto = (minimum: number, maximum: number): z.ZodMiniType<number | "auto"> =>
  z.custom<number | "auto">(
    (value) => value === "auto" || integer(minimum, maximum).safeParse(value).success,
    `must be auto, or a whole number from ${String(minimum)} to ${String(maximum)}`,
  );

export const httpUrl = text.check(
  z.refine(
    (value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol),
    "must be an http:// or https:// address",
  ),
);

export const endpointUrl = httpUrl.check(
  z.refine((value) => !/[?#@]/.test(value), "must be an address without ?, # and @"),
);
