import type {
  CommandEntry,
  CommandRequest,
  CommandSpec,
  GivenValues,
  GlobalFlags,
  OutputFormat,
  Run,
} from "../core/types.ts";
import { call } from "../connection/call.ts";
import { ExitError } from "../core/errors.ts";
import { exitCodes } from "../core/exit-codes.ts";
import { fill, type Printing, printResult } from "../output/print-result.ts";
import { buildRequest } from "../table/request.ts";
import { withTypedSecrets } from "./typed-secrets.ts";

interface Given extends GivenValues {
  readonly globals: GlobalFlags;
  /** The operation in `silentWithout` of the entry. */
  readonly related?: CommandSpec | undefined;
}

export async function runOperation(spec: CommandSpec, untyped: Given, run: Run): Promise<void> {
  const given: Given = { ...untyped, ...(await withTypedSecrets(spec, untyped, run)) };
  const { confirm, confirmOnly, many } = spec.entry;
  const { options, globals, args } = given;
  const last = spec.params.length - 1;
  // `shoal browsers delete a b`: one call for each.
  const subjects = many === true ? args.slice(last).map((subject) => [...args.slice(0, last), subject]) : [args];
  const requests = subjects.map((subject) => ({
    args: subject,
    request: buildRequest(spec, { ...given, args: subject }),
  }));
  if (globals.dryRun === true) {
    const { printRequest } = await import("./dry-run.ts");
    for (const { request } of requests) await printRequest({ spec, request, given: options }, globals, run);
    return;
  }
  const destroys = ({ body }: CommandRequest) =>
    confirmOnly === undefined || body?.[confirmOnly.field] === confirmOnly.value;
  if (confirm !== undefined && options.yes !== true)
    for (const each of requests) if (destroys(each.request)) await confirmed(fill(confirm, each.args), run);
  await runEach(
    requests.map((each) => () => runOnce(spec, each.request, { ...given, args: each.args }, run)),
    run.signal,
  );
}

/** Continues after an error of the service, but stops if the service is unreachable. */
async function runEach(calls: readonly (() => Promise<void>)[], signal: AbortSignal): Promise<void> {
  const [only] = calls;
  if (only !== undefined && calls.length === 1) return only();
  const { ApiError } = await import("@shoal/transport");
  const failures: unknown[] = [];
  for (const each of calls) {
    if (signal.aborted) break;
    try {
      await each();
    } catch (error) {
      failures.push(error);
      if (!ApiError.isInstance(error)) break;
    }
  }
  if (failures.length === 0) return;
  const { SeveralErrors } = await import("../output/report.ts");
  throw new SeveralErrors(failures);
}

async function runOnce(
  spec: CommandSpec,
  request: CommandRequest,
  { options, globals, args, related }: Given,
  run: Run,
): Promise<void> {
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
  } else if (spec.entry.chunks === true) {
    const { downloadAuditLog } = await import("./audit-log.ts");
    await downloadAuditLog(spec, request, { ...globals, ...fileFlag(options) }, run);
  } else if (spec.result === "bytes") {
    const { download } = await import("./download.ts");
    const label = args.at(-1) ?? spec.words.at(-1) ?? "";
    await download({ spec, request, label }, { ...globals, ...fileFlag(options) }, run);
  } else if (spec.body === "bytes" || spec.body === "multipart") {
    const { upload } = await import("./upload.ts");
    await printResult(spec, await upload(spec, request, { ...globals, ...fileFlag(options) }, run), printing);
  } else if (options.watch === true) {
    const { watch } = await import("./watch.ts");
    await watch(spec, request, { all: options.all === true, waits: options.wait === true, globals, printing }, run);
  } else if (spec.result === "page" || spec.result === "tokenPage") {
    const { list } = await import("./list.ts");
    await list(spec, request, { all: options.all === true, globals, printing }, run);
  } else {
    const { value } = await call(spec, await withStdin(spec, request, run), globals, run);
    await printAnswer(spec, value, { printing, run });
    if (spec.entry.failsUnless !== undefined) requireField(value, spec.entry.failsUnless);
  }
}

async function printAnswer(
  spec: CommandSpec,
  value: unknown,
  { printing, run }: { readonly printing: Printing; readonly run: Run },
): Promise<void> {
  const { outcome } = spec.entry;
  const isForPeople = printing.format === "table" && printing.query === undefined;
  if (outcome === undefined || !isForPeople || typeof value !== "object" || value === null)
    return printResult(spec, value, printing);
  const { showOutcome } = await import("../output/outcome.ts");
  showOutcome(outcome, value, run);
}

/** The answer reports a problem: scripts must see it in the exit status. */
function requireField(value: unknown, { field, message }: NonNullable<CommandEntry["failsUnless"]>): void {
  const { [field]: holds, problem } = value as Readonly<Record<string, unknown>>;
  if (holds === true) return;
  const detail = (problem as { readonly message?: string } | undefined)?.message ?? "";
  throw new ExitError(exitCodes.error.status, `${message} ${detail}`.trimEnd());
}

/** Reads a field given as `-` from stdin. */
async function withStdin(spec: CommandSpec, request: CommandRequest, run: Run): Promise<CommandRequest> {
  const { stdin: field } = spec.entry;
  if (field === undefined || request.body?.[field] !== "-") return request;
  const { text } = await import("node:stream/consumers");
  return { ...request, body: { ...request.body, [field]: await text(run.terminal.stdin) } };
}

function fileFlag({ file }: Readonly<Record<string, unknown>>): { readonly file?: string } {
  return typeof file === "string" ? { file } : {};
}

/** Without a terminal, fails and names the flag. */
export async function confirmed(question: string, run: Run): Promise<void> {
  if (!run.terminal.interactive)
    throw new ExitError(
      exitCodes.usage.status,
      `Cannot ask for confirmation without a terminal: ${question}`,
      "Pass --yes to confirm.",
    );
  const { confirm, isCancel } = await import("@clack/prompts");
  const answer = await confirm({ message: question, initialValue: false, output: process.stderr });
  if (isCancel(answer)) throw new ExitError(exitCodes.interrupted.status, "Nothing was changed.");
  if (!answer) throw new ExitError(exitCodes.error.status, "Nothing was changed.");
}
