import * as z from "zod/mini";
import { describe, expect, it } from "vitest";
import { FormFields } from "./form-fields.ts";
import { canonicalPartName } from "./part-names.ts";

const schema = z.object({
  files: z.array(z.object({ dest_path: z.string(), file: z.file() })),
  version: z.optional(z.string()),
  force: z._default(z.boolean(), false),
  source: z.optional(z.object({ ref: z.string(), auth: z.optional(z.object({ token: z.string() })) })),
  env_vars: z.optional(z.record(z.string(), z.string())),
});
const refusalOf = (run: () => unknown): unknown => {
  try {
    run();
  } catch (error) {
    return error;
  }
  return "accepted";
};

describe("names of parts", () => {
  it.each([
    ["files[0][file]", "files[0][file]"],
    ["files[0].file", "files[0][file]"],
    ["files.0.file", "files[0][file]"],
    ["files.0[file]", "files[0][file]"],
    ["files[][file]", "files[][file]"],
    ["files[].file", "files[][file]"],
    ["files.file", "files[][file]"],
    ["files[file]", "files[][file]"],
    ["file", "files[][file]"],
    ["dest_path", "files[][dest_path]"],
    ["version", "version"],
    ["source", "source"],
    ["source.auth.token", "source[auth][token]"],
    ["source[auth].token", "source[auth][token]"],
    ["env_vars", "env_vars"],
    ["env_vars.A", "env_vars[A]"],
    ["env_vars[A]", "env_vars[A]"],
    ["env_vars[a.b]", "env_vars[a.b]"],
    ["env_vars.a.b[0]", "env_vars[a.b[0]]"],
    ["env_vars[__proto__]", "env_vars[__proto__]"],
  ])("reads %s as %s", (name, canonical) => {
    expect(canonicalPartName(schema, name)).toBe(canonical);
  });

  it.each([
    "colour",
    "__proto__",
    "constructor",
    ".version",
    "[version]",
    "version.x",
    "version[]",
    "files[0]file",
    "files[0][file",
    "files[-1][file]",
    "files[x][file]",
    "files[0][file][0]",
    "files..file",
    "source[]",
    "source.colour",
    "source[toString]",
    "env_vars]A",
  ])("refuses %s with the known parts", (name) => {
    expect(refusalOf(() => canonicalPartName(schema, name))).toMatchObject({
      code: "bad_request",
      field: `body.${name}`,
      message: expect.stringContaining(
        "unknown part; the parts are files[i][dest_path], files[i][file], version, force, source, env_vars[NAME]",
      ) as unknown,
    });
  });
});

describe("fields of a form", () => {
  const read = (...parts: readonly (readonly [name: string, value: string])[]) => {
    const fields = new FormFields(schema);
    for (const [name, value] of parts) fields.add({ name: canonicalPartName(schema, name), value });
    return JSON.parse(JSON.stringify(fields.values)) as unknown;
  };

  it("are the same in one JSON part and in pieces", () => {
    const expected = { source: { ref: "main", auth: { token: "t" } }, env_vars: { A: "1", B: "x=y" }, force: true };
    expect(
      read(
        ["source.ref", "main"],
        ["source[auth].token", "t"],
        ["env_vars.A", "1"],
        ["env_vars[B]", "x=y"],
        ["force", "true"],
      ),
    ).toEqual(expected);
    expect(
      read(
        ["force", "true"],
        ["source", JSON.stringify(expected.source)],
        ["env_vars", JSON.stringify(expected.env_vars)],
      ),
    ).toEqual(expected);
  });

  it("never reach a prototype", () => {
    read(["env_vars[__proto__]", "x"], ["env_vars[constructor]", "y"]);
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });

  it.each([
    [
      [
        ["version", "1"],
        ["version", "2"],
      ],
      "body.version",
      "is duplicated",
    ],
    [
      [
        ["env_vars.A", "1"],
        ["env_vars[A]", "2"],
      ],
      "body.env_vars.A",
      "is duplicated",
    ],
    [
      [
        ["source", '{"ref":"a"}'],
        ["source.ref", "b"],
      ],
      "body.source.ref",
      "is duplicated",
    ],
    [
      [
        ["source.ref", "b"],
        ["source", '{"ref":"a"}'],
      ],
      "body.source",
      "is duplicated",
    ],
    [
      [
        ["env_vars", '"text"'],
        ["env_vars.A", "b"],
      ],
      "body.env_vars.A",
      "send it only once",
    ],
    [[["env_vars", "A=1"]], "body.env_vars", "expected JSON"],
    [[["force", "1"]], "body.force", "expected true or false"],
    [[["source", `{"ref":${"[".repeat(20)}${"]".repeat(20)}}`]], "body.source", "more than 10 levels"],
  ] as const)("refuse %j", (parts, field, problem) => {
    expect(refusalOf(() => read(...parts))).toMatchObject({
      field,
      message: expect.stringContaining(problem) as unknown,
    });
  });
});
