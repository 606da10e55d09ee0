import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { longFiles } from "./longest-first.ts";

it("lists existing files", () => {
  expect(longFiles.filter((file) => !existsSync(new URL(`../${file}`, import.meta.url)))).toEqual([]);
});
