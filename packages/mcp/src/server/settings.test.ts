import { expect, it } from "vitest";
import { readSettings } from "./settings.ts";

it("reads every setting", () => {
  expect(
    readSettings({
      tools: "observe, files",
      session: "research",
      profile: "shopping",
      save_changes: "true",
      proxy: "abcdefghijklmnopqrstuvwx",
      start_url: "https://example.com",
      stealth: "true",
      headless: "false",
      timeout_seconds: "90",
      outline_tokens: "0",
      structured: "false",
    }),
  ).toEqual({
    groups: new Set(["observe", "files"]),
    session: "research",
    outlineTokens: 0,
    isStructured: false,
    browser: {
      profile: { name: "shopping", save_changes: true },
      proxy: { id: "abcdefghijklmnopqrstuvwx" },
      start_url: "https://example.com",
      stealth: true,
      headless: false,
      timeout_seconds: 90,
    },
  });
});

it("has defaults, also for empty texts", () => {
  expect(readSettings({ tools: "", profile: "" })).toEqual({
    groups: new Set(["observe", "act", "read", "screenshot", "files"]),
    session: undefined,
    outlineTokens: 2000,
    isStructured: true,
    browser: { timeout_seconds: 600 },
  });
  expect(readSettings({ tools: "all" })).toMatchObject({ groups: expect.objectContaining({ size: 12 }) as object });
});

it.each([
  [{ tools: "observe,clicks" }, "tools", 'has no group "clicks"'],
  [{ headless: "yes" }, "headless", "must be true or false"],
  [{ timeout_seconds: "5" }, "timeout_seconds", "must be a number from 10 to 259200"],
  [{ outline_tokens: "1e3" }, "outline_tokens", "must be a number from 0 to 100000"],
  [{ save_changes: "true" }, "save_changes", "needs profile"],
  [{ colour: "red" }, "colour", "is unknown. Known settings: tools"],
])("refuses %o", (given, field, problem) => {
  expect(readSettings(given)).toEqual({ field, problem: expect.stringContaining(problem) as string });
});
