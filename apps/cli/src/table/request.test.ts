import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import type { CommandSpec, Flag } from "../core/types.ts";
import { UsageError } from "../core/errors.ts";
import { buildRequest, parseValue, typedMark } from "./request.ts";
import { flagName } from "./words.ts";

const flag = (kind: Flag["kind"], more: Partial<Flag> = {}): Flag => ({
  field: "some_field",
  place: "body",
  kind,
  required: false,
  clearable: false,
  description: "",
  ...more,
});

it("parses every integer and rejects other text", () => {
  fc.assert(
    fc.property(fc.integer(), (number) => {
      expect(parseValue(flag("integer"), String(number))).toBe(number);
    }),
  );
  for (const text of ["", " ", "x", "1.5", "1e400", "NaN", "Infinity"])
    expect(() => parseValue(flag("integer"), text), text).toThrow(UsageError);
  expect(parseValue(flag("number"), "1.5")).toBe(1.5);
});

it("reads durations in the unit of the field", () => {
  const parse = (field: string, text: string) => parseValue(flag("integer", { field }), text);
  expect(parse("timeout_seconds", "10m")).toBe(600);
  expect(parse("timeout_sec", "1h30m")).toBe(5400);
  expect(parse("timeout_ms", "2s")).toBe(2000);
  expect(parse("timeout_seconds", "90")).toBe(90);
  expect(() => parse("timeout_seconds", "1500ms")).toThrow(UsageError);
  expect(() => parse("max_tokens", "10m")).toThrow(UsageError);
});

it("passes text unchanged", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(parseValue(flag("string"), text)).toBe(text);
    }),
  );
});

it("splits pairs at the first equals sign", () => {
  const key = fc.string({ minLength: 1 }).filter((text) => !text.includes("=") && text !== "__proto__");
  fc.assert(
    fc.property(fc.dictionary(key, fc.string(), { noNullPrototype: true }), (tags) => {
      expect(
        parseValue(
          flag("map"),
          Object.entries(tags).map(([name, value]) => `${name}=${value}`),
        ),
      ).toEqual(tags);
    }),
  );
  expect(() => parseValue(flag("map"), ["=x"], "--tag")).toThrow('--tag takes key=value, not "=x".');
});

it("parses JSON and names the flag of invalid JSON", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(parseValue(flag("json"), text)).toEqual(JSON.parse(text));
    }),
  );
  expect(() => parseValue(flag("json"), "{")).toThrow('--some-field takes JSON, not "{".');
});

it("parses a viewport like 1280x800@30", () => {
  const viewport = flag("size", { field: "viewport" });
  expect(parseValue(viewport, "1280x800")).toEqual({ width: 1280, height: 800 });
  expect(parseValue(viewport, "1280x800@30")).toEqual({ width: 1280, height: 800, refresh_rate: 30 });
  expect(parseValue(viewport, '{"width":1,"height":2}')).toEqual({ width: 1, height: 2 });
  expect(parseValue(viewport, "64x64")).toEqual({ width: 64, height: 64 });
  for (const text of ["12x5", "1280x63", "0x0"])
    expect(() => parseValue(viewport, text), text).toThrow(
      `at least 64 pixels, not "${text}". For a smaller page, pass`,
    );
  for (const text of ["12", "axb", "1280x", "null"])
    expect(() => parseValue(viewport, text), text).toThrow("WIDTHxHEIGHT");
});

it("clears only clearable fields", () => {
  expect(parseValue(flag("string", { clearable: true }), "null")).toBeNull();
  expect(parseValue(flag("map", { clearable: true }), ["null"])).toBeNull();
  expect(parseValue(flag("string"), "null")).toBe("null");
});

describe("a request", () => {
  const spec: CommandSpec = {
    operationId: "things.update",
    words: ["things", "update"],
    summary: "",
    description: "",
    method: "PATCH",
    path: "/things/{id_or_name}",
    params: [{ name: "id_or_name", description: "" }],
    flags: [
      flag("string", { field: "name" }),
      flag("boolean", { field: "force", place: "query" }),
      flag("string", { field: "path", required: true }),
    ],
    body: "json",
    result: "json",
    responses: { "200": "json" },
    fields: [],
    entry: { arguments: ["path"] },
  };
  const given = (args: readonly string[], options: Record<string, unknown> = {}) => ({
    args,
    options,
    flags: { name: { key: "name", name: "--name" }, force: { key: "force", name: "--force" } },
  });

  it("puts each value into path, query or body", () => {
    expect(buildRequest(spec, given(["a", "/b"], { name: "n", force: false }))).toEqual({
      params: { id_or_name: "a" },
      query: { force: false },
      body: { name: "n", path: "/b" },
    });
  });

  it("rejects an empty path segment, a missing value and an empty change", () => {
    expect(() => buildRequest(spec, given(["", "/b"]))).toThrow("<id-or-name> is empty.");
    expect(() => buildRequest(spec, given(["a"]))).toThrow("--path is missing.");
    expect(() => buildRequest({ ...spec, flags: spec.flags.slice(0, 1) }, given(["a"]))).toThrow(
      "Nothing to change. Pass --name.",
    );
  });
});

const folder = mkdtempSync(join(tmpdir(), "shoal-values-"));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

it("reads only secrets from a file", () => {
  const file = join(folder, "secret");
  writeFileSync(file, "hunter2\n");
  expect(parseValue(flag("string", { field: "config.password", secret: true }), `@${file}`)).toBe("hunter2");
  expect(() => parseValue(flag("string", { field: "token", secret: true }), "@/none")).toThrow("cannot read");
  expect(parseValue(flag("string", { field: "page_token" }), `@${file}`)).toBe(`@${file}`);
});

it("reads secret values of a map from a file, and takes typed ones literally", () => {
  const file = join(folder, "secret");
  writeFileSync(file, " hunter2 \n");
  const values = flag("map", { field: "values", secret: true });
  expect(parseValue(values, ["user=ada", `password=@${file}`, `pin=${typedMark}@1`])).toEqual({
    user: "ada",
    password: " hunter2 ",
    pin: "@1",
  });
  expect(() => parseValue(values, ["hunter2"], "--value")).toThrow("--value takes key=value.");
  expect(parseValue(flag("map", { field: "tags" }), [`team=@${file}`])).toEqual({ team: `@${file}` });
});

it("merges the flags of an object's fields with the JSON of the object", () => {
  const spec: CommandSpec = {
    operationId: "things.create",
    words: ["things", "create"],
    summary: "",
    description: "",
    method: "POST",
    path: "/things",
    params: [],
    flags: [
      flag("json", { field: "profile" }),
      flag("string", { field: "profile.id" }),
      flag("boolean", { field: "profile.save_changes" }),
      flag("list", { field: "args" }),
    ],
    body: "json",
    result: "json",
    responses: { "201": "json" },
    fields: [],
    entry: { rest: "args" },
  };
  const flags = {
    profile: { key: "profile", name: "--profile" },
    "profile.id": { key: "profileId", name: "--profile-id" },
    "profile.save_changes": { key: "profileSaveChanges", name: "--profile-save-changes" },
  };
  expect(
    buildRequest(spec, {
      args: ["-a", "b"],
      options: { profile: '{"name":"n"}', profileId: "p", profileSaveChanges: true },
      flags,
    }).body,
  ).toEqual({ profile: { name: "n", id: "p", save_changes: true }, args: ["-a", "b"] });
  expect(buildRequest(spec, { args: [], options: {}, flags }).body).toEqual({});
});

it("converts field names to flags with dashes", () => {
  expect(flagName("profile.save_changes")).toBe("--profile-save-changes");
  expect(flagName("timeout_seconds")).toBe("--timeout-seconds");
});
