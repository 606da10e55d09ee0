import { contract, type Endpoint } from "@shoal/contract";
import type { CommandSpec } from "./command-table.ts";
import { connect, ExitError, type GlobalFlags } from "./connect.ts";
import { exitCodes } from "./exit-codes.ts";
import { printEvent } from "./follow.ts";
import { type Column, type OutputFormat, printFields, printJson, printJsonLine, printTable } from "./output.ts";
import { polish } from "./polish.ts";
import type { Run } from "./program.ts";
import { buildRequest, type GivenValues } from "./values.ts";

interface Given extends GivenValues {
  readonly globals: GlobalFlags;
}

/** Runs the command of one operation: builds the request, asks where it must, calls, prints. */
export async function runOperation(spec: CommandSpec, given: Given, run: Run): Promise<void> {
  const endpoint = Object.values(contract).find(({ operationId }) => operationId === spec.operationId) as Endpoint | undefined;
  if (!endpoint) throw new Error(`The contract has no operation ${spec.operationId}.`);
  const request = buildRequest(spec, given);
  const { confirm } = polish[spec.operationId] ?? {};
  const format = given.options.output as OutputFormat;
  const transport = connect(given.globals, run, endpoint.auth === "none");
  if (confirm && given.options.yes !== true) await ask(fill(confirm, given.args), run);

  const options = { signal: run.signal };
  switch (spec.result) {
    case "events":
      for await (const event of transport.stream(endpoint, request, options)) printEvent(run.terminal, event, format);
      return;
    case "page": {
      const page = await transport.call(endpoint, request, options);
      const all = given.options.all === true;
      // Not kept: with --all and JSON lines a list may be longer than memory.
      if (all && format === "jsonl") for await (const item of page as AsyncIterable<object>) printJsonLine(run.terminal, item);
      else {
        printList(spec.operationId, all ? await everyItem(page as AsyncIterable<object>) : (page as { items: object[] }).items, format, run);
        const { hasMore, nextOffset } = page as { hasMore: boolean; nextOffset?: number };
        if (hasMore && !all && format === "table") run.terminal.stderr.write(`There are more: add --all, or --offset ${String(nextOffset)}.\n`);
      }
      return;
    }
    case "bytes":
      throw new Error(`${spec.operationId} has no command of its own yet.`);
    case "json":
    case "empty":
      printResult(spec, await transport.call(endpoint, request, options), { format, args: given.args }, run);
  }
}

function printResult({ operationId, result }: CommandSpec, value: unknown, { format, args }: { format: OutputFormat; args: readonly string[] }, { terminal, ...run }: Run): void {
  const { done, first, next, raw } = polish[operationId] ?? {};
  if (result === "empty" || typeof value !== "object" || value === null) {
    if (done && format === "table") terminal.stderr.write(`${fill(done, args)}\n`);
  } else if (Array.isArray(value)) printList(operationId, value as object[], format, { terminal, ...run });
  else if (format === "jsonl") printJsonLine(terminal, value);
  else if (format === "json" || raw) printJson(terminal, value);
  else {
    printFields(terminal, value, first);
    for (const line of next?.(value as Readonly<Record<string, unknown>>) ?? []) terminal.stderr.write(`${line}\n`);
  }
}

function printList(operationId: string, items: readonly object[], format: OutputFormat, { terminal }: Run): void {
  const { columns, empty = "Nothing found." } = polish[operationId] ?? {};
  if (format === "json") printJson(terminal, items);
  else if (format === "jsonl") for (const item of items) printJsonLine(terminal, item);
  else if (items.length === 0) terminal.stderr.write(`${empty}\n`);
  else printTable(terminal, items, columns ?? Object.keys(items[0] ?? {}).map((field): Column => [field.toUpperCase(), field]));
}

async function everyItem(page: AsyncIterable<object>): Promise<object[]> {
  const items: object[] = [];
  for await (const item of page) items.push(item);
  return items;
}

function fill(text: string, args: readonly string[]): string {
  return text.replace(/\{(\d)\}/g, (_match, index: string) => args[Number(index)] ?? "");
}

/** Asks on a terminal; elsewhere the command fails and names the flag. */
async function ask(question: string, run: Run): Promise<void> {
  if (!run.terminal.interactive) throw new ExitError(exitCodes.usage.status, `Nobody can answer here: ${question}`, "Add --yes to go ahead without the question.");
  const { confirm, isCancel } = await import("@clack/prompts");
  const answer = await confirm({ message: question, initialValue: false, output: process.stderr });
  if (isCancel(answer)) throw new ExitError(exitCodes.interrupted.status, "Nothing was changed.");
  if (!answer) throw new ExitError(exitCodes.error.status, "Nothing was changed.");
}
