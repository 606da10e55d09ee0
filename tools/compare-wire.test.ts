import { describe, expect, it } from "vitest";
import { compareDocuments } from "./wire/compare-documents.mjs";
import { reviewDifferences } from "./wire/review-differences.mjs";

type Json = Record<string, unknown>;

function documentOf(request: Json, answer: Json = {}): Json {
  const content = (schema: Json) => ({ content: { "application/json": { schema } } });
  return { paths: { "/a/{id}": { post: { requestBody: content(request), responses: { 200: content(answer) } } } } };
}

const field = (schema: Json, required: string[] = []) => ({ type: "object", properties: { field: schema }, required });
const inRequest = (reference: Json, ours: Json) =>
  compareDocuments(documentOf(reference), documentOf(ours)).differences;
const inAnswer = (reference: Json, ours: Json) =>
  compareDocuments(documentOf({}, reference), documentOf({}, ours)).differences;
const integer = { type: "integer" };
const text = { type: "string" };
const list = { type: "array", items: text };

describe("limits of requests", () => {
  it.each<[string, Json, Json, string]>([
    ["a lower bound", integer, { ...integer, minimum: 1 }, "minimum 1, the reference has none"],
    ["a lower bound of 0", integer, { ...integer, minimum: 0 }, "minimum 0, the reference has none"],
    ["a higher lower bound", { ...integer, minimum: 1 }, { ...integer, minimum: 2 }, "minimum 2, the reference has 1"],
    ["an upper bound", integer, { ...integer, maximum: 9 }, "maximum 9, the reference has none"],
    ["a lower upper bound", { ...integer, maximum: 9 }, { ...integer, maximum: 8 }, "maximum 8, the reference has 9"],
    ["a shortest text", text, { ...text, minLength: 1 }, "minLength 1, the reference has none"],
    ["a longest text", text, { ...text, maxLength: 5 }, "maxLength 5, the reference has none"],
    ["a shortest list", list, { ...list, minItems: 1 }, "minItems 1, the reference has none"],
    ["a longest list", list, { ...list, maxItems: 5 }, "maxItems 5, the reference has none"],
    ["a pattern", text, { ...text, pattern: "^a" }, "pattern ^a, the reference has none"],
    ["another pattern", { ...text, pattern: "^/" }, { ...text, pattern: "^/a" }, "pattern ^/a, the reference has ^/"],
    ["a format", text, { ...text, format: "uuid" }, "format uuid, the reference has none"],
    ["a closed list of words", text, { ...text, enum: ["a"] }, "reference is open, ours takes only a"],
  ])("reports %s that the reference lacks", (_name, reference, ours, problem) => {
    expect(inRequest(field(reference), field(ours))).toEqual([`POST /a/{id} body.field: ${problem}`]);
  });

  it("reports a field that only ours requires, through references and unions with null", () => {
    const ours = {
      ...documentOf({ anyOf: [{ $ref: "#/components/schemas/A" }, { type: "null" }] }),
      components: { schemas: { A: field(text, ["field"]) } },
    };
    const reference = documentOf({ ...field(text), nullable: true });
    expect(compareDocuments(reference, ours).differences).toEqual([
      "POST /a/{id} body.field: optional in the reference, required in ours",
    ]);
  });

  it("finds equal limits equal, however they are written", () => {
    const pattern = { ...text, pattern: String.raw`^\/.*` };
    expect(inRequest(field({ ...text, pattern: "^/.*" }), field(pattern))).toEqual([]);
    expect(inRequest(field({ ...integer, minimum: 1 }), field({ ...integer, exclusiveMinimum: 0 }))).toEqual([]);
    expect(inRequest(field({ ...text, nullable: true }), field({ anyOf: [text, { type: "null" }] }))).toEqual([]);
  });
});

describe("limits of answers", () => {
  it.each<[string, Json, Json, string]>([
    [
      "a range that ours may leave",
      { ...integer, minimum: 0, maximum: 9 },
      { ...integer, minimum: 0 },
      ".field: maximum 9 expected, ours none",
    ],
    ["a value that the client refuses", text, { ...text, minLength: 1 }, ".field: minLength 1, the reference has none"],
    [
      "a format that ours does not promise",
      { ...text, format: "date-time" },
      text,
      ".field: format date-time expected, ours none",
    ],
    [
      "a word that the reference does not know",
      { enum: ["a"] },
      { enum: ["a", "b"] },
      ".field: ours may be b, which the reference does not know",
    ],
    ["a word that the client does not know", { enum: ["a", "b"] }, { enum: ["a"] }, ".field: enum lacks b"],
  ])("reports %s", (_name, reference, ours, problem) => {
    expect(inAnswer(field(reference), field(ours))).toEqual([`POST /a/{id} 200${problem}`]);
  });

  it("reports required fields in both directions", () => {
    expect(inAnswer(field(text, ["field"]), field(text))).toEqual([
      "POST /a/{id} 200.field: required in the reference, optional in ours",
    ]);
    expect(inAnswer(field(text), field(text, ["field"]))).toEqual([
      "POST /a/{id} 200.field: optional in the reference, required in ours",
    ]);
  });

  it("reports a variant of a union by its closest form in ours", () => {
    const variant = (kind: string, schema: Json) => ({
      type: "object",
      properties: { kind: { const: kind }, value: schema },
    });
    const reference = { oneOf: [variant("a", text), variant("b", integer)] };
    const ours = { anyOf: [variant("b", { ...integer, minimum: 5 }), variant("a", text)] };
    expect(inAnswer(reference, ours)).toEqual(["POST /a/{id} 200|kind=b.value: minimum 5, the reference has none"]);
  });
});

describe("differences that are kept", () => {
  const reason = "A reason that is long enough.";

  it("need a reason by line or by rule, and an entry without a difference is reported", () => {
    const lines = [
      "POST /a body.x: minimum 1, the reference has none",
      "POST /a body.y: maxLength 5, the reference has none",
      "POST /b: operation missing",
    ];
    const rules = [
      { lines: "maxLength", reason },
      { lines: "maxItems", reason: "short" },
    ];
    expect(
      reviewDifferences(lines, { rules, differences: { [lines[0] ?? ""]: reason, "missing line": reason } }),
    ).toEqual({
      unexplained: ["POST /b: operation missing"],
      idle: ["missing line", "maxItems"],
      unreasoned: ["maxItems"],
      kept: 2,
    });
  });
});
