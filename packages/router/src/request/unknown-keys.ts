import * as z from "zod/mini";
import type { UnknownKeys } from "./ignored-fields.ts";
import { issueMessage } from "./issues.ts";

export interface RemovedKeys extends Omit<UnknownKeys, "root"> {
  /** The removed fields. */
  readonly fields: readonly (readonly [name: string, value: unknown])[];
}

/** Unions report only one form at a time, so each level of nested unions can take one more round. */
const maxRounds = 16;

/**
 * Other problems remain for the schema to report.
 * @param schema - a strict schema.
 * @param value - unshared parsed JSON; it is changed.
 */
export function removeUnknownKeys(
  schema: z.core.$ZodType,
  value: unknown,
  onRemoved: (removed: RemovedKeys) => void,
): void {
  for (let round = 0; round < maxRounds; round++) {
    const result = z.safeParse(schema, value, { error: knownKeysAsMessage });
    if (result.success) return;
    const found = unknownKeysIn(result.error.issues, []).unknown.sort((a, b) => a.path.length - b.path.length);
    let removed = 0;
    for (const place of found) {
      const fields = removeAt(value, place);
      if (fields.length > 0) onRemoved({ ...place, keys: fields.map(([name]) => name), fields });
      removed += fields.length;
    }
    if (removed === 0) return;
  }
}

type Place = Omit<UnknownKeys, "root">;

/** zod drops the schema from an issue, so the message carries the known keys. */
function knownKeysAsMessage(issue: z.core.$ZodRawIssue): string {
  if (issue.code !== "unrecognized_keys") return issueMessage(issue);
  const shape = (issue.inst as z.core.$ZodObject | undefined)?._zod.def.shape;
  return JSON.stringify(Object.keys(shape ?? {}));
}

interface Found {
  readonly unknown: Place[];
  /** Problems other than unknown keys exist. */
  readonly others: boolean;
}

function unknownKeysIn(issues: readonly z.core.$ZodIssue[], path: readonly PropertyKey[]): Found {
  const unknown: Place[] = [];
  let others = false;
  for (const issue of issues) {
    const at = [...path, ...issue.path];
    if (issue.code === "unrecognized_keys")
      unknown.push({ path: at, keys: issue.keys, known: JSON.parse(issue.message) as string[] });
    else if (issue.code === "invalid_union") {
      const found = unknownKeysInUnion(issue, at);
      // Not spread: a large body can have more places than a call can have arguments.
      for (const place of found.unknown) unknown.push(place);
      others ||= found.others;
    } else others = true;
  }
  return { unknown, others };
}

/**
 * A key is unknown to a union only if every form lacks it: removing a form's key could turn a value into another form.
 */
function unknownKeysInUnion(issue: z.core.$ZodIssueInvalidUnion, at: readonly PropertyKey[]): Found {
  const forms = issue.errors
    .filter((errors) => !errors.some(isOfAnotherType))
    .map((errors) => unknownKeysIn(errors, at));
  const topKeys = forms.map(({ unknown }) =>
    unknown.filter(({ path }) => path.length === at.length).flatMap(({ keys }) => keys),
  );
  const unknownToAll = topKeys.reduce((common, keys) => common.filter((key) => keys.includes(key)), topKeys[0] ?? []);
  const fitting = forms.find(({ others }, index) => !others && topKeys[index]?.length === unknownToAll.length);
  if (fitting !== undefined) return fitting;
  const known = forms.flatMap(({ unknown }) =>
    unknown.filter(({ path }) => path.length === at.length).flatMap((place) => place.known),
  );
  return { unknown: unknownToAll.length === 0 ? [] : [{ path: at, keys: unknownToAll, known }], others: true };
}

function isOfAnotherType({ code, path }: z.core.$ZodIssue): boolean {
  return code === "invalid_type" && path.length === 0;
}

function removeAt(value: unknown, { keys, path }: Place): [name: string, value: unknown][] {
  let at = value;
  for (const key of path) at = isObject(at) && Object.hasOwn(at, key) ? Reflect.get(at, key) : undefined;
  const holder = at;
  if (!isObject(holder)) return [];
  return keys.flatMap((key) => {
    if (!Object.hasOwn(holder, key)) return [];
    const removed: unknown = Reflect.get(holder, key);
    return Reflect.deleteProperty(holder, key) ? [[key, removed] as [string, unknown]] : [];
  });
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
