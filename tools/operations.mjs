// Writes docs/operations.md, the table of all operations, from the contract, the list of those without a handler and the commands;
// `--check` only says whether it is up to date.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { onSources, writeOrCheck } from "./generated-file.mjs";

onSources(import.meta.url);
const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { contract } = await import("../packages/contract/src/contract.ts");
const { areaDescriptions } = await import("../packages/contract/src/openapi-areas.ts");
const { operationsNotYet } = await import("./not-yet.mjs");
const { commandTable } = await import("../apps/cli/src/command-table.ts");
const { polish } = await import("../apps/cli/src/polish.ts");

const document = JSON.parse(readFileSync(join(root, "packages/contract/openapi.json"), "utf8"));
const commands = new Map(commandTable(document, polish).map(({ operationId, words }) => [operationId, `shoal ${words.join(" ")}`]));
const operations = Object.entries(contract);
writeOrCheck("docs/operations.md", tableOf(), { source: "the contract and its handlers", tool: "operations.mjs" });

function tableOf() {
  const lines = [
    "# Operations",
    "",
    "<!-- Written by `node tools/operations.mjs`; not by hand. -->",
    "",
    `Every operation of the contract: ${operations.length - operationsNotYet.size} of ${operations.length} work. One that says *not yet* is declared, and can be called from the`,
    "client and the command line, but the service answers 501 `not_implemented`. *Service* is answered by the control plane, *browser* beside",
    "the browser. The name is the client's method (`shoal.browsers.create(…)`) and the `operationId` of `openapi.json`.",
  ];
  for (const [area, description] of Object.entries(areaDescriptions)) {
    const rows = operations.filter(([, endpoint]) => endpoint.area === area);
    if (rows.length === 0) continue;
    lines.push("", `## ${area}`, "", description, "", "| operation | request | command | served by | |", "| --- | --- | --- | --- | --- |");
    for (const [, { deprecated, method, operationId, path, plane, summary }] of rows) {
      const served = operationsNotYet.has(operationId) ? "*not yet*" : plane === "control" ? "service" : "browser";
      const note = deprecated === true ? `Deprecated. ${summary}` : summary;
      const command = commands.get(operationId);
      if (command === undefined)
        throw new Error(`${operationId} has no command: run \`node tools/openapi.mjs\` first, the commands are made from what it writes.`);
      lines.push(`| \`${operationId}\` | \`${method} ${path}\` | \`${command}\` | ${served} | ${note.replaceAll("|", "\\|")} |`);
    }
  }
  const listed = operations.filter(([, { area }]) => area in areaDescriptions).length;
  if (listed !== operations.length) throw new Error("An operation is in an area that packages/contract/src/openapi-areas.ts does not describe.");
  return `${lines.join("\n")}\n`;
}
