import * as z from "zod/mini";
import { describe, expect, it } from "vitest";
import {
  AbsolutePath,
  Browser,
  BrowserProfile,
  CreateBrowser,
  DisplayName,
  FileMode,
  SlugName,
  Tags,
  UpdateBrowser,
} from "./index.ts";

const accepts = (schema: z.ZodMiniType, value: unknown) => z.safeParse(schema, value).success;

describe("names", () => {
  it.each([
    [
      "DisplayName",
      DisplayName,
      ["a", "Größe 😀", "a/b", "a".repeat(255)],
      ["", "a".repeat(256), "a\nb", "a\u0000", 1, null],
    ],
    ["SlugName", SlugName, ["a", "A.b_c-9", "a".repeat(255)], ["", "a".repeat(256), "a b", "a/b", "ä"]],
    [
      "AbsolutePath",
      AbsolutePath,
      ["/", "/a\nb", `/${"a".repeat(4095)}`],
      ["", "a", "./a", "/a\0", `/${"a".repeat(4096)}`],
    ],
    ["FileMode", FileMode, ["644", "0755", "1777"], ["", "64", "648", "00644", "rwx"]],
  ])("%s", (_name, schema, good, bad) => {
    expect(good.filter((value) => !accepts(schema, value))).toEqual([]);
    expect(bad.filter((value) => accepts(schema, value))).toEqual([]);
  });
});

it("limits the number of tags, their keys and their values", () => {
  const tags = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`key ${index}`, "v"]));
  for (const good of [{}, tags(50), { ["k".repeat(128)]: "v".repeat(256) }, { "a:b/c=d+e@f-g": "" }])
    expect(accepts(Tags, good)).toBe(true);
  for (const bad of [
    tags(51),
    { ["k".repeat(129)]: "" },
    { k: "v".repeat(257) },
    { "": "v" },
    { ü: "v" },
    { k: 1 },
    [],
  ])
    expect(accepts(Tags, bad)).toBe(false);
});

it("requires exactly one of a profile's id and name", () => {
  expect([{ id: "a" }, { name: "a" }].every((profile) => accepts(BrowserProfile, profile))).toBe(true);
  expect([{}, { id: "a", name: "a" }].some((profile) => accepts(BrowserProfile, profile))).toBe(false);
});

it("removes a session's name with null or an empty text", () => {
  const nameOf = (name: unknown) => z.parse(UpdateBrowser, { name }).name;
  expect([nameOf(null), nameOf(""), nameOf("a"), nameOf(undefined)]).toEqual([null, null, "a", undefined]);
  expect(accepts(UpdateBrowser, { name: "a b" })).toBe(false);
});

it("limits a session's timeout to between 10 seconds and 3 days", () => {
  expect([9, 10, 259_200, 259_201, 10.5].map((timeout_seconds) => accepts(CreateBrowser, { timeout_seconds }))).toEqual(
    [false, true, true, false, false],
  );
});

it("accepts responses of a newer service with unknown fields and values", () => {
  const browser = {
    created_at: "2026-01-01T00:00:00Z",
    cdp_ws_url: "",
    webdriver_ws_url: "",
    headless: true,
    stealth: false,
    session_id: "a",
    timeout_seconds: 60,
  };
  expect(accepts(Browser, { ...browser, ended_reason: "a new reason", placement: "moon", new_field: { a: 1 } })).toBe(
    true,
  );
  expect(accepts(Browser, { ...browser, ended_reason: 5 })).toBe(false);
});
