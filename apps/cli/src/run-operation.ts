import { call } from "./call.ts";
import type { CommandSpec } from "./command-table.ts";
import type { GlobalFlags } from "./connect.ts";
import { ExitError } from "./exit-error.ts";
import { exitCodes } from "./exit-codes.ts";
import { type OutputFormat, printJsonLine } from "./output.ts";
import { fill, type Printing, printList, printResult } from "./print-result.ts";
import type { Run } from "./program.ts";
import { buildRequest, type CommandRequest, type GivenValues } from "./values.ts";

interface Given extends GivenValues {
  readonly globals: GlobalFlags;
}

const watchEveryMs = 2000;

/** Runs the command of one operation: builds the request, asks where it must, calls, prints. */
export async function runOperation(spec: CommandSpec, given: Given, run: Run): Promise<void> {
  const { confirm, many } = spec.polish;
  const { options, globals, args } = given;
  const last = spec.params.length - 1;
  // `shoal browsers delete a b`: one call for each.
  const subjects = many === true ? args.slice(last).map((subject) => [...args.slice(0, last), subject]) : [args];
  const requests = subjects.map((subject) => ({ args: subject, request: buildRequest(spec, { ...given, args: subject }) }));
  if (globals.dryRun === true) {
    const { printRequest } = await import("./dry-run.ts");
    for (const { request } of requests) await printRequest({ spec, request, given: options }, globals, run);
    return;
  }
  if (confirm !== undefined && options.yes !== true) for (const each of requests) await ask(fill(confirm, each.args), run);
  for (const each of requests) await runOnce(spec, each.request, { ...given, args: each.args }, run);
}

async function runOnce(spec: CommandSpec, request: CommandRequest, { options, globals, args }: Given, run: Run): Promise<void> {
  const printing: Printing = { terminal: run.terminal, format: options.output as OutputFormat, query: options.query as string | undefined, args, quiet: globals.quiet === true };
  if (spec.result === "events") {
    const { followEvents } = await import("./follow-events.ts");
    await followEvents({ spec, request, printing }, globals, run);
  } else if (spec.operationId === "auditLogs.exportChunk") {
    const { downloadAuditLog } = await import("./transfers.ts");
    await downloadAuditLog(spec, request, { ...globals, ...fileFlag(options) }, run);
  } else if (spec.result === "bytes") {
    const { download } = await import("./transfers.ts");
    const label = args.at(-1) ?? spec.words.at(-1) ?? "";
    await download({ spec, request, label }, { ...globals, ...fileFlag(options) }, run);
  } else if (spec.body === "bytes" || spec.body === "multipart") {
    const { upload } = await import("./transfers.ts");
    await printResult(spec, await upload(spec, request, { ...globals, ...fileFlag(options) }, run), printing);
  } else if (spec.result === "page" || spec.result === "tokenPage") await list(spec, request, { options, globals, printing }, run);
  else if (options.watch === true) await watch(spec, request, { globals, printing }, run);
  else {
    const { value } = await call(spec, await withTypedCode(spec, request), globals, run);
    const isShown = printing.format === "table" && printing.query === undefined && (await import("./outcome.ts")).showOutcome(spec, value, run.terminal);
    if (!isShown) await printResult(spec, value, printing);
    if (spec.operationId === "auditLogs.verify") refuseBrokenLog(value);
  }
}

/** A script that checks the audit log must learn from the status that it was tampered with. */
function refuseBrokenLog(value: unknown): void {
  const { valid, problem } = value as { readonly valid: boolean; readonly problem?: { readonly message: string } };
  if (!valid) throw new ExitError(exitCodes.error.status, `The audit log is not whole. ${problem?.message ?? ""}`.trimEnd());
}

/** Code that is too long for a command line comes from stdin. */
async function withTypedCode(spec: CommandSpec, request: CommandRequest): Promise<CommandRequest> {
  if (spec.operationId !== "browsers.playwright.execute" || request.body?.code !== "-") return request;
  const { readFileSync } = await import("node:fs");
  return { ...request, body: { ...request.body, code: readFileSync(0, "utf8") } };
}

function fileFlag({ file }: Readonly<Record<string, unknown>>): { readonly file?: string } {
  return typeof file === "string" ? { file } : {};
}

/** One page, as many as `--limit` asks for, or with `--all` every one. */
async function list(spec: CommandSpec, request: CommandRequest, { options, globals, printing }: { options: Given["options"]; globals: GlobalFlags; printing: Printing }, run: Run): Promise<void> {
  const { terminal, format, query } = printing;
  const most = spec.flags.find(({ field }) => field === "limit")?.maximum ?? Infinity;
  const limit = typeof request.query.limit === "number" ? request.query.limit : undefined;
  const all = options.all === true;
  // More than a page holds is fetched page by page.
  const wanted = all ? Infinity : limit !== undefined && limit > most ? limit : undefined;
  const items: unknown[] = [];
  let count = 0;
  let next: Readonly<Record<string, unknown>> | undefined = {};
  do {
    const size: number | undefined = limit === undefined ? (all && most !== Infinity ? most : undefined) : Math.min(limit, most, (wanted ?? Infinity) - count);
    const answer = await call(spec, { ...request, query: { ...request.query, ...(size !== undefined && { limit: size }), ...next } }, globals, run);
    const page = answer.value as unknown[];
    count += page.length;
    // Not kept: with --all and JSON lines a list may be longer than memory.
    if (format === "jsonl" && query === undefined) for (const item of page) printJsonLine(terminal, item);
    else items.push(...page);
    ({ next } = answer);
  } while (next !== undefined && count < (wanted ?? 0) && !run.signal.aborted);
  if (format !== "jsonl" || query !== undefined) await (query === undefined ? printList(spec, items, printing) : printResult(spec, items, printing));
  if (next !== undefined && format === "table" && !printing.quiet) {
    const [field, value] = Object.entries(next)[0] ?? ["", ""];
    terminal.stderr.write(`There are more: add --all, or --${field.replaceAll("_", "-")} ${String(value)}.\n`);
  }
}

/** Asks again and again, and prints the answer whenever it is another one. */
async function watch(spec: CommandSpec, request: CommandRequest, { globals, printing }: { globals: GlobalFlags; printing: Printing }, run: Run): Promise<void> {
  const { field, until } = spec.polish.watch ?? { field: "", until: [] };
  let shown = "";
  while (!run.signal.aborted) {
    const { value } = await call(spec, request, globals, run);
    const text = JSON.stringify(value);
    if (text !== shown) {
      if (shown !== "" && printing.format === "table") run.terminal.stdout.write("\n");
      shown = text;
      await printResult(spec, value, { ...printing, quiet: true });
    }
    const state = (value as Readonly<Record<string, unknown>> | undefined)?.[field];
    if (typeof state === "string" && until.includes(state)) return;
    await pause(watchEveryMs, run.signal);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    }, { once: true });
  });
}

/** Asks on a terminal; elsewhere the command fails and names the flag. */
async function ask(question: string, run: Run): Promise<void> {
  if (!run.terminal.interactive) throw new ExitError(exitCodes.usage.status, `Nobody can answer here: ${question}`, "Add --yes to go ahead without the question.");
  const { confirm, isCancel } = await import("@clack/prompts");
  const answer = await confirm({ message: question, initialValue: false, output: process.stderr });
  if (isCancel(answer)) throw new ExitError(exitCodes.interrupted.status, "Nothing was changed.");
  if (!answer) throw new ExitError(exitCodes.error.status, "Nothing was changed.");
}
