import { describe, expect, it } from "vitest";
import { fieldsOf, fits, valuesOf, withValue } from "./schema-fields.ts";

const schema = {
  type: "object",
  required: ["sku"],
  properties: {
    sku: { type: "integer", title: "Article", description: "Its number" },
    size: { enum: ["S", "M"] },
    note: { type: "string" },
    express: { type: "boolean", default: true },
    price: { type: "number" },
  },
};
const fields = fieldsOf(schema) ?? [];
const field = (name: string) => fields.find((one) => one.name === name) ?? expect.fail(name);

describe("fields of a schema", () => {
  it("have a control for each simple property", () => {
    expect(fields.map(({ kind, label, isRequired, options }) => [label, kind, isRequired, options])).toEqual([
      ["Article", "integer", true, []],
      ["size", "choice", false, ["S", "M"]],
      ["note", "text", false, []],
      ["express", "boolean", false, []],
      ["price", "number", false, []],
    ]);
    expect(fields.map(({ description }) => description)).toEqual([
      "Its number",
      undefined,
      undefined,
      "Default: true",
      undefined,
    ]);
  });

  it.each([
    ["no schema", undefined],
    ["a schema of a text", { type: "string" }],
    ["no properties", { type: "object", properties: {} }],
    ["a property with properties", { type: "object", properties: { to: { type: "object" } } }],
    ["a property of several types", { type: "object", properties: { to: { type: ["string", "null"] } } }],
    ["a type that is not a text", { type: "object", properties: { to: { type: { toString: 1 } } } }],
    ["a type with the name of a method", { type: "object", properties: { to: { type: "constructor" } } }],
    ["choices that are not texts", { type: "object", properties: { to: { enum: [1, 2] } } }],
    [
      "many properties",
      {
        type: "object",
        properties: Object.fromEntries(Array.from({ length: 21 }, (_, at) => [at, { type: "string" }])),
      },
    ],
  ])("do not exist for %s", (_title, given) => {
    expect(fieldsOf(given)).toBeUndefined();
  });
});

it("keeps other values of a payload, and removes empty ones", () => {
  let payload = withValue('{"other":[1]}', field("sku"), "7");
  payload = withValue(payload, field("express"), "false");
  expect(valuesOf(payload)).toEqual({ other: [1], sku: 7, express: false });
  expect(valuesOf(withValue(payload, field("sku"), ""))).toEqual({ other: [1], express: false });
  expect(withValue('{"note":"x"}', field("note"), "")).toBe("");
  expect([valuesOf("[1]"), valuesOf("{")]).toEqual([undefined, undefined]);
});

it.each([
  ["price", ["1", "1.", "1.5"], 1.5],
  ["price", ["0", "0.", "0.0", "0.05"], 0.05],
  ["price", ["-", "-0", "-0.", "-0.5"], -0.5],
  ["price", ["1.50"], 1.5],
  ["price", [" 1"], " 1"],
  ["sku", ["7", "7.", "7.5"], "7.5"],
  ["sku", ["12345678901234567890"], "12345678901234567890"],
  ["note", ["7"], "7"],
] as const)("sends the number of %s that is typed as %j", (name, typed, expected) => {
  const payload = typed.reduce<string>((before, text) => withValue(before, field(name), text), "");
  expect(valuesOf(payload)).toEqual({ [name]: expected });
});

it.each([
  ["", true],
  ['{"sku":7,"size":"M","express":false,"gift":{}}', true],
  ['{"size":"XL"}', false],
  ['{"express":"yes"}', false],
  ['{"note":{}}', false],
  ['{"gift":12345678901234567890}', false],
  ["[1]", false],
])("shows the payload %j in fields: %s", (payload, expected) => {
  expect(fits(payload, fields)).toBe(expected);
});
