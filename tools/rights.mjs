// Writes the tables of rights in docs/threat-model.md from the contract. With `--check` it only compares.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { onSources, writeOrCheck } from "./generated-file.mjs";

onSources(import.meta.url);
const contract = await import("../packages/contract/src/operations.ts");
const { dataRights, mayApp, neededRole } = await import("../packages/contract/src/rights/index.ts");

const path = "docs/threat-model.md";
const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const keyed = Object.values(contract).filter(({ auth }) => auth !== "none");

writeOrCheck(
  path,
  readFileSync(join(root, path), "utf8").replace(
    /(?<=<!-- rights -->\n)[^]*(?=<!-- \/rights -->)/,
    `\n${dataTable()}\n\n${operationTable()}\n\n`,
  ),
  { source: "the contract", tool: "rights.mjs" },
);

function dataTable() {
  return table(
    ["data", "what", "read", "change", "apps"],
    Object.entries(dataRights).map(([data, { apps, holds, read, write }]) => [`\`${data}\``, holds, read, write, apps]),
  );
}

/** One row for operations with the same data. */
function operationTable() {
  const groups = Map.groupBy(keyed, ({ moves }) => moves.join(", "));
  return table(
    ["moves", "role", "apps", "operations"],
    [...groups].sort().map(([moves, endpoints]) => [
      moves,
      neededRole(endpoints[0]),
      mayApp(endpoints[0]) ? "yes" : "no",
      endpoints
        .map(({ operationId }) => `\`${operationId}\``)
        .sort()
        .join(", "),
    ]),
  );
}

function table(head, rows) {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
