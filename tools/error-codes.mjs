// Writes docs/guide/error-codes.md from the table of codes in packages/schemas. With `--check` it only compares.
import { onSources, writeOrCheck } from "./generated-file.mjs";

onSources(import.meta.url);
const { errorCodeTable } = await import("../packages/schemas/src/base/error-code-table.ts");
const { exitStatusOf } = await import("../apps/cli/src/core/exit-codes.ts");

const lines = [
  "# Error codes",
  "",
  "<!-- Written by `node tools/error-codes.mjs`; not by hand. -->",
  "",
  "Every error body has a stable `code`, and a `message` for people with the next step. Branch on the code ([details](errors.md)):",
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
  "*Again* says whether the same request can succeed later: *no*; *soon*, in a moment (the client retries automatically if that is safe); *later*, when a",
  "resource in use is free. An error with `Retry-After` is always temporary. The client does not retry an error with `x-should-retry: false`.",
  "*Exit* is the exit status of `shoal`.",
  "",
  "| code | status | exit | again | what happened | what to do |",
  "| --- | --- | --- | --- | --- | --- |",
  ...Object.entries(errorCodeTable).map(([code, { again, advice, meaning, statuses }]) =>
    row([
      `\`${code}\``,
      statuses.join(", "),
      [...new Set(statuses.map(exitStatusOf))].join(", "),
      again,
      meaning,
      advice,
    ]),
  ),
  "",
  "A newer service may send other codes: handle them by their status.",
  "",
  "## Codes of the client",
  "",
  "The client creates these codes if the service sent no error.",
  "",
  "| code | class | what happened |",
  "| --- | --- | --- |",
  "| `connection_failed` | `ConnectionError` | The service cannot be reached, or the connection broke. |",
  "| `timeout` | `TimeoutError` | No answer in time. |",
  "| `contract_mismatch` | `ContractError` | The answer does not match the contract. |",
  "| `redirected` | `ApiError` | The address answers with a redirect. The client never follows it, because that would send the key elsewhere. |",
  "| `http_502`, and so on | `ApiError` | An answer with this status and without an error body of the service, for example from a proxy. |",
];
writeOrCheck("docs/guide/error-codes.md", `${lines.join("\n")}\n`, {
  source: "the table of codes in packages/schemas",
  tool: "error-codes.mjs",
});

function row(cells) {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}
