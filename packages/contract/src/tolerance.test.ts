import { openEnumValues } from "@shoal/schemas";
import { describe, expect, it } from "vitest";
import * as z from "zod/mini";
import published from "../openapi.json" with { type: "json" };
import * as contract from "./operations.ts";
import type { Endpoint } from "./base/endpoint.ts";

type Node = Record<string, unknown>;

function* inside(schema: z.core.$ZodType, seen: Set<z.core.$ZodType>): Generator<z.core.$ZodTypes> {
  if (seen.has(schema)) return;
  seen.add(schema);
  // `$ZodTypes` is the union of all schemas.
  const known = schema as z.core.$ZodTypes;
  yield known;
  const { def } = known._zod;
  if (def.type === "lazy") yield* inside(def.getter(), seen);
  else if (def.type === "optional" || def.type === "nullable" || def.type === "default")
    yield* inside(def.innerType, seen);
  else if (def.type === "object") for (const field of Object.values(def.shape)) yield* inside(field, seen);
  else if (def.type === "union") for (const option of def.options) yield* inside(option, seen);
  else if (def.type === "array") yield* inside(def.element, seen);
  else if (def.type === "record") yield* inside(def.valueType, seen);
}

function answersOf({ errorBodies = {}, responses }: Endpoint): z.core.$ZodType[] {
  const answers = Object.values(responses).flatMap((content) =>
    content.kind === "json"
      ? [content.schema]
      : content.kind === "page" || content.kind === "tokenPage"
        ? [content.item]
        : content.kind === "events"
          ? [content.event]
          : [],
  );
  return [...answers, ...Object.values(errorBodies)];
}

const endpoints: readonly Endpoint[] = Object.values(contract);
const answers = endpoints
  .map(
    (endpoint) =>
      [endpoint.operationId, [...answersOf(endpoint).flatMap((schema) => [...inside(schema, new Set())])]] as const,
  )
  .filter(([, schemas]) => schemas.length > 0);

describe("responses of a newer service", () => {
  it.each(answers)("accept unknown values: %s", (_operationId, schemas) => {
    for (const schema of schemas) {
      const { def } = schema._zod;
      // A closed list in a response would break every client when the service adds a value.
      expect(def.type).not.toBe("enum");
      if (openEnumValues.has(schema)) expect(z.safeParse(schema, "a_word_of_tomorrow").success).toBe(true);
    }
  });

  it.each(answers)("accept unknown types without checks, and check known types: %s", (_operationId, schemas) => {
    for (const schema of schemas) {
      const { def } = schema._zod;
      if (def.type !== "union" || !("discriminator" in def)) continue;
      const key = String(def.discriminator);
      const value = { [key]: "a_kind_of_tomorrow", more: { deep: [1] } };
      expect(z.safeParse(schema, value)).toMatchObject({ success: true, data: value });
      const kinds = def.options.flatMap((option) => [
        ...((option as z.core.$ZodTypeDiscriminable)._zod.propValues[key] ?? []),
      ]);
      expect(kinds.length).toBeGreaterThan(1);
      for (const kind of kinds)
        expect([kind, z.safeParse(schema, { [key]: kind, timestamp: 7, ts: "x" }).success]).toEqual([kind, false]);
      expect(z.safeParse(schema, { more: 1 }).success).toBe(false);
    }
  });

  it.each(answers)("accept unknown fields: %s", (_operationId, schemas) => {
    for (const schema of schemas) {
      const { def } = schema._zod;
      if (def.type === "object") expect(def.catchall?._zod.def.type).not.toBe("never");
    }
  });
});

describe("unions in openapi.json", () => {
  /** Unions whose discriminator is a field of the parent object. */
  const elsewhere = ["CreateProxy.config", "Proxy.config"];

  it("name the schema for each value of the discriminator", () => {
    const silent: string[] = [];
    const look = (node: unknown, path: string): void => {
      if (typeof node !== "object" || node === null) return;
      const { anyOf, discriminator, oneOf } = node as {
        anyOf?: Node[];
        oneOf?: Node[];
        discriminator?: { mapping?: Node };
      };
      const members = (oneOf ?? anyOf ?? []).filter(
        ({ $ref, properties }) => $ref !== undefined || properties !== undefined,
      );
      if (members.length > 1 && Object.keys(discriminator?.mapping ?? {}).length < members.length) silent.push(path);
      for (const [key, inner] of Object.entries(node))
        if (!["examples", "if", "then", "else", "not"].includes(key))
          look(inner, key === "properties" || /^\d+$/.test(key) ? path : `${path}.${key}`);
    };
    for (const [name, schema] of Object.entries(published.components.schemas)) look(schema, name);
    for (const [path, item] of Object.entries(published.paths)) look(item, path);
    expect(silent.sort()).toEqual(elsewhere);
  });
});
