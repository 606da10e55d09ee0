// Writes the table of settings in apps/server/README.md from their declarations. With `--check` it only compares.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { onSources, writeOrCheck } from "./generated-file.mjs";

onSources(import.meta.url);
const { environmentOf, flagOf, settings } = await import("../apps/server/src/config/settings.ts");

const path = "apps/server/README.md";
const rows = Object.entries(settings).map(([name, setting]) => {
  const variables = environmentOf(name).map((variable) => `\`${variable}\``);
  return `| \`${flagOf(name)}\` | ${variables.join(", ")} | ${setting.summary.replaceAll("|", "\\|")} | ${setting.default} |`;
});
const table = ["| flag | environment | what | default |", "| --- | --- | --- | --- |", ...rows].join("\n");
const text = readFileSync(join(dirname(fileURLToPath(import.meta.url)), "..", path), "utf8");
const marked = /(?<=<!-- settings -->\n)[^]*(?=\n<!-- \/settings -->)/;
if (!marked.test(text))
  throw new Error(`${path} lacks the marks around the table: <!-- settings --> and <!-- /settings -->.`);
writeOrCheck(
  path,
  text.replace(marked, () => table),
  { source: "a setting", tool: "settings.mjs" },
);
