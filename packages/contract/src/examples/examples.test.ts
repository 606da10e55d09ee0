import * as schemas from "@shoal/schemas";
import { expect, it } from "vitest";
import * as z from "zod/mini";
import { contract } from "../contract.ts";
import type { Endpoint } from "../endpoint.ts";
import { examples } from "./index.ts";

const names = new Map(
  Object.entries(schemas).flatMap(([name, value]): [unknown, string][] => (typeof value === "object" && "_zod" in value ? [[value, name]] : [])),
);

/** Every schema of a whole JSON body or answer, by its name. Multipart bodies are left out: JSON has no files. */
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

it("has an example of every JSON body and answer", () => {
  const endpoints: readonly Endpoint[] = Object.values(contract);
  const wanted = new Set(endpoints.flatMap(wholes).flatMap((schema) => names.get(schema) ?? []));
  expect([...wanted].filter((name) => !(name in examples)).sort()).toEqual([]);
});

it.each(Object.entries(examples))("%s fits its schema, and has no field that the schema lacks", (name, values) => {
  const schema = (schemas as unknown as Record<string, z.core.$ZodType>)[name];
  if (schema === undefined) throw new Error("unreachable");
  for (const value of values) {
    const result = z.safeParse(schema, value);
    expect(result.error?.issues ?? []).toEqual([]);
    // Parsing drops what the schema does not know.
    expect({ data: result.data }).toMatchObject({ data: value });
  }
});
