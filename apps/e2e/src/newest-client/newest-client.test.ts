import openapi from "@shoal/contract/openapi.json" with { type: "json" };
import { expect, it } from "vitest";
import { fieldGaps, operationGaps } from "./gaps.ts";
import newest from "./operations.json" with { type: "json" };

interface Shape {
  readonly $ref?: string;
  readonly anyOf?: readonly Shape[];
  readonly oneOf?: readonly Shape[];
  readonly allOf?: readonly Shape[];
  readonly items?: Shape;
  readonly properties?: Readonly<Record<string, Shape>>;
}
interface Operation {
  readonly parameters?: readonly { readonly name?: string; readonly in?: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Shape }>> };
}

const schemas = openapi.components.schemas as unknown as Readonly<Record<string, Shape>>;
const newestOperations: Readonly<Record<string, readonly string[]>> = newest.operations;
const deepest = 5;

/** Names of placeholders are not part of the wire. */
const placed = (name: string): string => name.replaceAll(/\{[^}]*\}/g, "{}");

const ours = new Map(
  Object.entries(openapi.paths as unknown as Record<string, Record<string, Operation>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) => [placed(`${method.toUpperCase()} ${path}`), operation] as const,
    ),
  ),
);

function* fieldsOf(shape: Shape, depth = deepest): Generator<string> {
  const { $ref, allOf = [], anyOf = [], items, oneOf = [], properties = {} } = shape;
  const target = $ref === undefined ? undefined : schemas[$ref.replace("#/components/schemas/", "")];
  for (const inside of [target, items, ...allOf, ...anyOf, ...oneOf])
    if (inside !== undefined) yield* fieldsOf(inside, depth);
  if (depth === 0) return;
  for (const [name, field] of Object.entries(properties)) {
    yield name;
    for (const below of fieldsOf(field, depth - 1)) yield `${name}.${below}`;
  }
}

function acceptedBy({ parameters = [], requestBody }: Operation): ReadonlySet<string> {
  const bodies = Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => [...fieldsOf(schema)]);
  return new Set([...parameters.flatMap(({ name }) => name ?? []), ...bodies]);
}

interface Absent {
  readonly name: string;
  readonly field: string;
}

function isAbout({ field, name }: Absent, gap: string): boolean {
  const path = gap.split(" ").at(-1) ?? "";
  return `.${field}.`.includes(`.${path}.`) && (path === gap || gap === `${name} ${path}`);
}
const isBelow = (name: string, path: string): boolean => `${name.split(" ")[1] ?? ""}/`.startsWith(`${path}/`);

it("has every operation of the newest client, except operations that are listed with a reason", () => {
  const absent = Object.keys(newestOperations).filter((name) => !ours.has(placed(name)));
  const gaps = Object.keys(operationGaps);
  expect(absent.filter((name) => !gaps.some((path) => isBelow(name, path)))).toEqual([]);
  expect(gaps.filter((path) => !absent.some((name) => isBelow(name, path)))).toEqual([]);
});

it("accepts every request field of the newest client, except fields that are listed with a reason", () => {
  const absent = Object.entries(newestOperations).flatMap(([name, fields]) => {
    const operation = ours.get(placed(name));
    if (operation === undefined) return [];
    const accepted = acceptedBy(operation);
    return fields
      .filter((field) => !accepted.has(field) && !name.includes(`{${field}}`))
      .map((field) => ({ name, field }));
  });
  const gaps = Object.keys(fieldGaps);
  expect(absent.filter((found) => !gaps.some((gap) => isAbout(found, gap)))).toEqual([]);
  expect(gaps.filter((gap) => !absent.some((found) => isAbout(found, gap)))).toEqual([]);
});
