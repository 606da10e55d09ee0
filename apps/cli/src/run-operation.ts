import { call } from "./call.ts";
import type { CommandSpec } from "./command-table.ts";
import type { GlobalFlags } from "./connect.ts";
import { ExitError } from "./exit-error.ts";
import { exitCodes } from "./exit-codes.ts";
import type { OutputFormat } from "./output.ts";
import { fill, type Printing, printResult } from "./print-result.ts";
import type { Run } from "./program.ts";
import { buildRequest, type CommandRequest, type GivenValues } from "./values.ts";

interface Given extends GivenValues {
  readonly globals: GlobalFlags;
  /** The operation that `silentWithout` of the command's polish names. */
  readonly related?: CommandSpec | undefined;
}

/** Runs the command of one operation: builds the request, asks where it must, calls, prints. */
export async function runOperation(spec: CommandSpec, given: Given, run: Run): Promise<void> {
  const { confirm, confirmOnly, many } = spec.polish;
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
  const destroys = ({ body }: CommandRequest) => confirmOnly === undefined || body?.[confirmOnly.field] === confirmOnly.value;
  if (confirm !== undefined && options.yes !== true)
    for (const each of requests) if (destroys(each.request)) await ask(fill(confirm, each.args), run);
  await runEach(
    requests.map((each) => () => runOnce(spec, each.request, { ...given, args: each.args }, run)),
    run.signal,
  );
}

/** Runs calls one after another. A refusal of the service does not stop the rest; a service that cannot be reached does. */
async function runEach(calls: readonly (() => Promise<void>)[], signal: AbortSignal): Promise<void> {
  const [only] = calls;
  if (only !== undefined && calls.length === 1) return only();
  const { ApiError } = await import("@shoal/transport");
  const refusals: unknown[] = [];
  for (const each of calls) {
    if (signal.aborted) break;
    try {
      await each();
    } catch (error) {
      refusals.push(error);
      if (!ApiError.isInstance(error)) break;
    }
  }
  if (refusals.length === 0) return;
  const { SeveralErrors } = await import("./report.ts");
  throw new SeveralErrors(refusals);
}

async function runOnce(spec: CommandSpec, request: CommandRequest, { options, globals, args, related }: Given, run: Run): Promise<void> {
  const printing: Printing = {
    terminal: run.terminal,
    format: options.output as OutputFormat,
    query: options.query as string | undefined,
    args,
    quiet: globals.quiet === true,
  };
  if (spec.result === "events") {
    const { followEvents } = await import("./follow-events.ts");
    await followEvents({ spec, request, printing, related }, globals, run);
  } else if (spec.operationId === "auditLogs.exportChunk") {
    const { downloadAuditLog } = await import("./audit-log.ts");
    await downloadAuditLog(spec, request, { ...globals, ...fileFlag(options) }, run);
  } else if (spec.result === "bytes") {
    const { download } = await import("./transfers.ts");
    const label = args.at(-1) ?? spec.words.at(-1) ?? "";
    await download({ spec, request, label }, { ...globals, ...fileFlag(options) }, run);
  } else if (spec.body === "bytes" || spec.body === "multipart") {
    const { upload } = await import("./transfers.ts");
    await printResult(spec, await upload(spec, request, { ...globals, ...fileFlag(options) }, run), printing);
  } else if (options.watch === true) {
    const { watch } = await import("./watch.ts");
    await watch(spec, request, { all: options.all === true, waits: options.wait === true, globals, printing }, run);
  } else if (spec.result === "page" || spec.result === "tokenPage") {
    const { list } = await import("./list.ts");
    await list(spec, request, { all: options.all === true, globals, printing }, run);
  } else {
    const { value } = await call(spec, await withTypedCode(spec, request), globals, run);
    const isShown =
      printing.format === "table" && printing.query === undefined && (await import("./outcome.ts")).showOutcome(spec, value, run.terminal);
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

/** Asks on a terminal; elsewhere the command fails and names the flag. */
async function ask(question: string, run: Run): Promise<void> {
  if (!run.terminal.interactive)
    throw new ExitError(exitCodes.usage.status, `Nobody can answer here: ${question}`, "Add --yes to go ahead without the question.");
  const { confirm, isCancel } = await import("@clack/prompts");
  const answer = await confirm({ message: question, initialValue: false, output: process.stderr });
  if (isCancel(answer)) throw new ExitError(exitCodes.interrupted.status, "Nothing was changed.");
  if (!answer) throw new ExitError(exitCodes.error.status, "Nothing was changed.");
}
