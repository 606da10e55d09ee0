import { contract, type Endpoint } from "@shoal/contract";
import type { CommandSpec } from "./command-table.ts";
import { connect, ExitError, type GlobalFlags } from "./connect.ts";
import { exitCodes } from "./exit-codes.ts";
import { printEvent } from "./follow.ts";
import { type OutputFormat, printFields, printJson, printJsonLine, printTable } from "./output.ts";
import { polish } from "./polish.ts";
import type { Run } from "./program.ts";
import { buildRequest } from "./values.ts";

interface Given {
  readonly args: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
  readonly globals: GlobalFlags;
  readonly positional: readonly string[];
  readonly optionKeys: Readonly<Record<string, string>>;
}

/** Runs the command of one operation: builds the request, asks where it must, calls, prints. */
export async function runOperation(spec: CommandSpec, given: Given, run: Run): Promise<void> {
  const endpoint = Object.values(contract).find(({ operationId }) => operationId === spec.operationId) as Endpoint | undefined;
  if (!endpoint) throw new Error(`The contract has no operation ${spec.operationId}.`);
  const request = buildRequest(spec, given);
  const { confirm, done, columns } = polish[spec.operationId] ?? {};
  const format = given.options.output as OutputFormat;
  const { terminal } = run;
  if (confirm && given.options.yes !== true) await ask(fill(confirm, given.args), run);

  const transport = connect(given.globals, run);
  const options = { signal: run.signal };
  switch (spec.result) {
    case "events":
      for await (const event of transport.stream(endpoint, request, options)) printEvent(terminal, event, format);
      return;
    case "page": {
      const page = await transport.call(endpoint, request, options);
      const items: object[] = [];
      if (given.options.all === true) {
        for await (const item of page as AsyncIterable<object>) {
          if (format === "jsonl") printJsonLine(terminal, item);
          else items.push(item);
        }
        if (format === "jsonl") return;
      } else items.push(...(page as { items: object[] }).items);
      if (format === "json") printJson(terminal, items);
      else if (format === "jsonl") for (const item of items) printJsonLine(terminal, item);
      else {
        await printTable(terminal, items, columns ?? Object.keys(items[0] ?? {}).map((field) => [field.toUpperCase(), field] as const));
        const { hasMore, nextOffset } = page as { hasMore: boolean; nextOffset?: number };
        if (hasMore && given.options.all !== true) terminal.stderr.write(`There are more: add --all, or --offset ${String(nextOffset)}.\n`);
      }
      return;
    }
    case "bytes":
      throw new Error(`${spec.operationId} has no command of its own yet.`);
    case "json":
    case "empty": {
      const result: unknown = await transport.call(endpoint, request, options);
      if (spec.result === "empty" || result === undefined) {
        if (done && format === "table") terminal.stderr.write(`${fill(done, given.args)}\n`);
      } else if (format === "json") printJson(terminal, result);
      else if (format === "jsonl") for (const line of Array.isArray(result) ? (result as unknown[]) : [result]) printJsonLine(terminal, line);
      else if (Array.isArray(result)) await printTable(terminal, result as object[], columns ?? Object.keys((result[0] ?? {}) as object).map((field) => [field.toUpperCase(), field] as const));
      else if (spec.operationId === "service.openapi") printJson(terminal, result);
      else {
        printFields(terminal, result as object);
        if (typeof result === "object" && result !== null && "key" in result) terminal.stderr.write("Keep the key now: it cannot be shown again.\n");
      }
    }
  }
}

function fill(text: string, args: readonly string[]): string {
  return text.replace(/\{(\d)\}/g, (_match, index: string) => args[Number(index)] ?? "");
}

/** Asks on a terminal; elsewhere the command fails and names the flag. */
async function ask(question: string, run: Run): Promise<void> {
  if (!run.terminal.interactive) throw new ExitError(exitCodes.usage.status, `${question} Nobody can answer here.`, "Add --yes to go ahead without the question.");
  const { confirm, isCancel } = await import("@clack/prompts");
  const answer = await confirm({ message: question, initialValue: false, output: process.stderr });
  if (isCancel(answer) || !answer) throw new ExitError(exitCodes.interrupted.status, "Nothing was changed.");
}
