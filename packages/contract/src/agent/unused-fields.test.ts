import { ActOnPage } from "@shoal/schemas";
import * as z from "zod/mini";
import { describe, expect, it } from "vitest";
import { inputSchema, ownField } from "./fields.ts";
import { pageTools } from "./page-tools.ts";
import { withoutUnused } from "./unused-fields.ts";

type Json = Record<string, unknown>;

/** Every property as strict callers send it: the used ones, and a filler for the others. */
function filled(json: Json, used: Json, filler: (field: Json) => unknown): Json {
  const fields = Object.entries((json.properties ?? {}) as Record<string, Json>);
  return Object.fromEntries(
    fields.map(([name, field]) => {
      if (name in used) return [name, used[name]];
      return [name, field.type === "object" ? filled(field, {}, filler) : filler(field)];
    }),
  );
}

/** A scroll by 0 pixels and an empty list of held keys mean the same as none. */
const meaningOf = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_key, inner: unknown) =>
      inner === 0 || (Array.isArray(inner) && inner.length === 0) ? undefined : inner,
    ),
  );

const calls: readonly (readonly [tool: string, used: Json])[] = [
  ["snapshot", {}],
  ["navigate", { url: "https://a.example" }],
  ["click", { ref: "e12" }],
  ["fill", { ref: "e12", text: "x" }],
  ["fill", { ref: "e12", text: "" }],
  ["check", { role: "checkbox", name: "Terms", accept: true }],
  ["select", { ref: "e1", values: ["a"] }],
  ["press", { keys: ["Enter"] }],
  ["hover", { selector: "#a" }],
  ["drag", { ref: "e1", to: { ref: "e2" } }],
  ["scroll", { delta_y: 100 }],
  ["wait_for", { text: "Done" }],
  ["open_tab", { url: "https://a.example" }],
  ["close_tab", {}],
  ["answer_dialog", { accept: true }],
  ["read", {}],
  ["screenshot", {}],
];
const fillers: Readonly<Record<string, (field: Json) => unknown>> = {
  null: () => null,
  "empty values": ({ type }) =>
    type === "array" ? [] : type === "integer" || type === "number" ? 0 : type === "boolean" ? null : "",
};

describe.each(Object.entries(fillers))("calls with %s for each unused field", (_, filler) => {
  it.each(calls)("%s means the same as without them: %j", (name, used) => {
    const tool = pageTools.find((one) => one.name === name);
    const schema = inputSchema(tool?.fields ?? { schemas: {}, texts: {} })["~standard"];
    const plain = schema.validate(used);
    expect(plain).toHaveProperty("value");
    expect(meaningOf(schema.validate(filled(schema.jsonSchema.input(), used, filler)))).toEqual(meaningOf(plain));
  });
});

it("keeps what a field accepts, and reports missing required fields", () => {
  const schema = z.object({
    count: z.optional(z.int()),
    list: z.optional(z.array(z.string())),
    cleared: z.optional(z.nullable(z.string())),
    needed: z.string(),
  });
  const given = { count: 0, list: [], cleared: null, needed: "" };
  expect(withoutUnused(schema, given)).toEqual(given);
  const { validate } = inputSchema(ownField("session", z.string(), "Session"))["~standard"];
  expect(validate({ session: null })).toMatchObject({ issues: [{ message: "must be of type string" }] });
});

it("publishes the limits of each field that a model may meet", () => {
  const { properties } = inputSchema(
    pageTools.find(({ name }) => name === "navigate")?.fields ?? { schemas: {}, texts: {} },
  )["~standard"].jsonSchema.input() as { properties: Record<string, Json> };
  expect(properties.url).toMatchObject({ minLength: 1 });
  expect(properties.url).not.toHaveProperty("maxLength");
  expect(properties.timeout_ms).toMatchObject({ minimum: 1, maximum: expect.any(Number) as unknown });
  expect(z.safeParse(ActOnPage, { type: "navigate", url: "" }).success).toBe(false);
});
