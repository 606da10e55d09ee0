import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { instanceProgramPath } from "../index.ts";

const notices = readFileSync(join(instanceProgramPath, "../THIRD-PARTY-LICENCES.txt"), "utf8");

it.each([
  "@fastify/busboy",
  "chromium-bidi",
  "find-my-way",
  "mediabunny",
  "mitt",
  "playwright-core",
  "ws",
  "x11",
  "yauzl",
  "zod",
])("ships the licence of %s with the program", (name) => {
  const start = notices.search(new RegExp(`^${name} \\d+\\.\\d+`, "m"));
  expect(start).toBeGreaterThan(-1);
  const notice = notices.slice(start).split(/^-{80}$/m, 1)[0] ?? "";
  expect(notice).toMatch(/copyright/i);
});

it("ships the notices of the libraries inside playwright-core", () => {
  expect(notices).toContain("THIRD-PARTY SOFTWARE NOTICES");
});
