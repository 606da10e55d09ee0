import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { operationsInMemory } from "./create-fake-shoal.ts";

/** `profiles`: `create`, `get`; one line an area. */
function lines(): string {
  const areas = Map.groupBy(operationsInMemory(), (operation) => operation.slice(0, operation.lastIndexOf(".")));
  return [...areas]
    .map(([area, operations]) => `- \`${area}\`: ${operations.map((operation) => `\`${operation.slice(area.length + 1)}\``).join(", ")}`)
    .join("\n");
}

it("lists in its README what the fake has behaviour for", () => {
  expect(readFileSync(new URL("../README.md", import.meta.url), "utf8")).toContain(`<!-- operations -->\n${lines()}\n<!-- /operations -->`);
});
