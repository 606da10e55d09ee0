// Writes docs/operations.md from the contract, the list of operations without a handler, and the commands. With `--check` it only compares.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { onSources, writeOrCheck } from "./generated-file.mjs";

onSources(import.meta.url);
const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const contract = await import("../packages/contract/src/operations.ts");
const { operationsNotYet } = await import("./not-yet.mjs");
const { commandTable } = await import("../apps/cli/src/table/command-table.ts");
const { entries } = await import("../apps/cli/src/table/entries.ts");

const document = JSON.parse(readFileSync(join(root, "packages/contract/openapi.json"), "utf8"));
const commands = new Map(
  commandTable(document, entries).map(({ operationId, words }) => [operationId, `shoal ${words.join(" ")}`]),
);
const operations = Object.entries(contract);
const { browserFs } = await import("../packages/contract/src/index.ts");
const fakeReadme = "packages/testing/README.md";
writeOrCheck(
  fakeReadme,
  readFileSync(join(root, fakeReadme), "utf8").replace(
    /(?<=<!-- operations -->\n)[^]*(?=<!-- \/operations -->)/,
    linesOf(operationsOfBrowsers()),
  ),
  { source: "the contract", tool: "operations.mjs" },
);
writeOrCheck("docs/operations.md", tableOf(), { source: "the contract and its handlers", tool: "operations.mjs" });

function tableOf() {
  const lines = [
    "# Operations",
    "",
    "<!-- Written by `node tools/operations.mjs`; not by hand. -->",
    "",
    operationsNotYet.size === 0
      ? `Every operation of the contract. All ${operations.length} work.`
      : `Every operation of the contract: ${operations.length - operationsNotYet.size} of ${operations.length} work. Those marked *not yet* answer 501 \`not_implemented\`.`,
    "The control plane serves *service* operations, the session's instance serves *browser* operations. The name is the",
    "client's method (`shoal.browsers.create(…)`) and the `operationId` of `openapi.json`.",
  ];
  for (const { name: area, description } of document.tags) {
    const rows = operations.filter(([, endpoint]) => endpoint.area === area);
    lines.push(
      "",
      `## ${area}`,
      "",
      description,
      "",
      "| operation | request | command | served by | |",
      "| --- | --- | --- | --- | --- |",
    );
    for (const [, { deprecated, method, operationId, path, plane, summary }] of rows) {
      const served = operationsNotYet.has(operationId) ? "*not yet*" : plane === "control" ? "service" : "browser";
      const note = deprecated === true ? `Deprecated. ${summary}` : summary;
      const command = commands.get(operationId);
      if (command === undefined)
        throw new Error(
          `${operationId} has no command: run \`node tools/openapi.mjs\` first, because the commands come from its output.`,
        );
      lines.push(
        `| \`${operationId}\` | \`${method} ${path}\` | \`${command}\` | ${served} | ${note.replaceAll("|", "\\|")} |`,
      );
    }
  }
  return `${lines.join("\n")}\n`;
}

/** Operations that the fake cannot answer. */
function operationsOfBrowsers() {
  return operations
    .filter(([name, { plane }]) => plane === "instance" && !(name in browserFs))
    .map(([, { operationId }]) => operationId)
    .sort();
}

/** `profiles`: `create`, `get`; one line per resource. */
function linesOf(operationIds) {
  const resources = Map.groupBy(operationIds, (operation) => operation.slice(0, operation.lastIndexOf(".")));
  return [...resources]
    .map(
      ([resource, ids]) => `- \`${resource}\`: ${ids.map((id) => `\`${id.slice(resource.length + 1)}\``).join(", ")}\n`,
    )
    .join("");
}
