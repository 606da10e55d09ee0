// Writes docs/guide/error-codes.md, the table of all error codes, from the one in packages/schemas; `--check` only says whether it is up to date.
import { onSources, writeOrCheck } from "./generated-file.mjs";

onSources(import.meta.url);
const { errorCodeTable } = await import("../packages/schemas/src/error-code-table.ts");
const { exitStatusOf } = await import("../apps/cli/src/exit-codes.ts");

const lines = [
  "# Error codes",
  "",
  "<!-- Written by `node tools/error-codes.mjs`; not by hand. -->",
  "",
  "Every error body has a `code`, which is stable, and a `message` for people, which says what to do. Branch on the code ([Errors](errors.md) has more):",
  "",
  "```ts",
  'import { ApiError, Shoal } from "@shoal/client";',
  "",
  "const shoal = new Shoal();",
  "async function profileNamed(name: string) {",
  "  try {",
  "    return await shoal.profiles.create({ name });",
  "  } catch (error) {",
  '    if (ApiError.isInstance(error) && error.code === "name_taken") return shoal.profiles.get(name);',
  "    throw error;",
  "  }",
  "}",
  'const made = await profileNamed("shop");',
  'console.log((await profileNamed("shop")).id === made.id);',
  "```",
  "",
  "```text",
  "true",
  "```",
  "",
  "*Again* says whether the same request can succeed without a change: *no*; *soon*, in a moment and by itself (the client repeats by itself what may be",
  "repeated); *later*, when something else has ended that is in use now. An answer with `Retry-After` passes by itself, whatever stands here; one with",
  "`x-should-retry: false` is not repeated by the client. *Exit* is the status that `shoal` then ends with.",
  "",
  "| code | status | exit | again | what happened | what to do |",
  "| --- | --- | --- | --- | --- | --- |",
  ...Object.entries(errorCodeTable).map(([code, { again, advice, meaning, statuses }]) =>
    row([`\`${code}\``, statuses.join(", "), [...new Set(statuses.map(exitStatusOf))].join(", "), again, meaning, advice]),
  ),
  "",
  "A newer service may send codes that do not stand here: treat them by their status.",
  "",
  "## Codes of the client",
  "",
  "These the client makes itself, where no error of the service came.",
  "",
  "| code | class | what happened |",
  "| --- | --- | --- |",
  "| `connection_failed` | `ConnectionError` | The service cannot be reached, or the connection broke. |",
  "| `timeout` | `TimeoutError` | No answer in time. |",
  "| `contract_mismatch` | `ContractError` | The answer does not fit the contract. |",
  "| `redirected` | `ApiError` | The address answers with a redirect, which is never followed: it would carry the key elsewhere. |",
  "| `http_502`, and so on | `ApiError` | An answer with this status and no error of the service in it: of a proxy, or of another program. |",
];
writeOrCheck("docs/guide/error-codes.md", `${lines.join("\n")}\n`, { source: "the table of codes in packages/schemas", tool: "error-codes.mjs" });

function row(cells) {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}
