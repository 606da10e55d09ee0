import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect, it } from "vitest";
import { playwrightMinors } from "./playwright-versions.ts";

it("names the version of the bundled playwright-core as the newest", () => {
  const file = createRequire(import.meta.url).resolve("playwright-core/package.json");
  const { version } = JSON.parse(readFileSync(file, "utf8")) as { version: string };
  expect(version.split(".").slice(0, 2)).toEqual(["1", String(playwrightMinors.newest)]);
});
