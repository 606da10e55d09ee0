import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { fileSeconds } from "./longest-first.ts";

it("lists existing files", () => {
  expect(Object.keys(fileSeconds).filter((file) => !existsSync(new URL(`../${file}`, import.meta.url)))).toEqual([]);
});
