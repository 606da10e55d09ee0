import { expect, it } from "vitest";
import { examineHost } from "../examine-host.ts";
import { examineFonts, missingFonts } from "./fonts.ts";

it("names the scripts without a font, and each package once", async () => {
  expect(await missingFonts((pattern) => Promise.resolve([":lang=th", ":lang=he"].includes(pattern)))).toEqual({
    missing: ["Japanese", "Chinese", "Korean", "Hindi", "Arabic", "emoji"],
    packages: ["fonts-noto-cjk", "fonts-noto-core", "fonts-noto-color-emoji"],
  });
  expect(await missingFonts(() => Promise.resolve(true))).toEqual({ missing: [], packages: [] });
});

it("reports the fonts of this machine", async () => {
  const report = await examineFonts();
  const { findings } = await examineHost();
  const finding = findings.find(({ name }) => name === "fonts");
  const isComplete = report?.missing.length === 0;
  expect(finding?.state).toBe(isComplete ? "ok" : "warning");
  for (const name of report?.missing ?? []) expect(finding?.detail).toContain(name);
  for (const name of report?.packages ?? []) expect(finding?.advice).toContain(name);
});
