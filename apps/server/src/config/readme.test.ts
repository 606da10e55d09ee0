import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { environmentOf, flagOf, type SettingName, settings } from "./settings.ts";

it("lists every setting in the README", () => {
  const rows = Object.entries(settings).map(([name, setting]) => {
    // `Object.entries` forgets the names' type.
    const variables = environmentOf(name as SettingName).map((variable) => `\`${variable}\``);
    return `| \`${flagOf(name)}\` | ${variables.join(", ")} | ${setting.summary.replaceAll("|", String.raw`\|`)} | ${setting.default} |`;
  });
  const table = ["| flag | environment | what | default |", "| --- | --- | --- | --- |", ...rows].join("\n");
  expect(readFileSync(new URL("../../README.md", import.meta.url), "utf8")).toContain(`<!-- settings -->\n${table}\n<!-- /settings -->`);
});
