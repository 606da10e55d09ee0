import * as schemas from "@shoal/schemas";
import { expect, it } from "vitest";
import * as z from "zod/mini";
import * as contract from "../operations.ts";
import type { Endpoint } from "../base/endpoint.ts";
import { examples } from "./index.ts";

const names = new Map(
  Object.entries(schemas).flatMap(([name, value]): [unknown, string][] =>
    typeof value === "object" && "_zod" in value ? [[value, name]] : [],
  ),
);

/** Every schema of a whole JSON request or response, by name. Excludes multipart bodies, because JSON has no files. */
function wholes({ body, errorBodies = {}, responses }: Endpoint): z.core.$ZodType[] {
  const answers = Object.values(responses).flatMap((content) =>
    content.kind === "json"
      ? [content.schema]
      : content.kind === "page" || content.kind === "tokenPage"
        ? [content.item]
        : content.kind === "events"
          ? [content.event]
          : [],
  );
  return [...(body?.kind === "json" ? [body.schema] : []), ...answers, ...Object.values(errorBodies)];
}

it("has an example of every JSON request and response", () => {
  const endpoints: readonly Endpoint[] = Object.values(contract);
  const wanted = new Set(endpoints.flatMap(wholes).flatMap((schema) => names.get(schema) ?? []));
  expect([...wanted].filter((name) => !(name in examples)).sort()).toEqual([]);
});

it.each(Object.entries(examples))("matches its schema without unknown fields: %s", (name, values) => {
  const schema = (schemas as unknown as Record<string, z.core.$ZodType>)[name];
  if (schema === undefined) throw new Error("unreachable");
  for (const value of values) {
    const result = z.safeParse(schema, value);
    expect(result.error?.issues ?? []).toEqual([]);
    // Parsing removes unknown fields.
    expect({ data: result.data }).toMatchObject({ data: value });
  }
});
