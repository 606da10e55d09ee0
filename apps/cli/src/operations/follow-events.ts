import type { CommandRequest, CommandSpec, GlobalFlags, Run } from "../core/types.ts";
import { call } from "../connection/call.ts";
import { endpointOf } from "../connection/endpoint.ts";
import { printEvent } from "../output/event-line.ts";
import { fill, type Printing, printResult } from "../output/print-result.ts";
import { connect } from "../connection/transport.ts";

interface Following {
  readonly spec: CommandSpec;
  readonly request: CommandRequest;
  readonly printing: Printing;
  /** The operation in `silentWithout` of the entry. */
  readonly related: CommandSpec | undefined;
}

/** Prints one event per line. The transport resumes after a lost connection. */
export async function followEvents(
  { spec, request, printing, related }: Following,
  flags: GlobalFlags,
  run: Run,
): Promise<void> {
  const { terminal, format, query, quiet } = printing;
  if (related !== undefined && !quiet) await warnOfSilence(related, { spec, request, args: printing.args }, flags, run);
  const events = connect(flags, run, spec.open).stream(endpointOf(spec), request, {
    signal: run.signal,
    onGap: ({ missed }) =>
      terminal.stderr.write(
        `${missed === undefined ? "Some" : String(missed)} events were lost: the reader was too slow.\n`,
      ),
    onReconnect: ({ attempt }) => {
      if (!quiet) terminal.stderr.write(`The connection was lost; reconnecting (attempt ${String(attempt)}).\n`);
    },
  });
  for await (const event of events) {
    if (query === undefined) printEvent(terminal, event, format);
    else await printResult(spec, event, { ...printing, format: format === "table" ? "table" : "jsonl" });
  }
}

/** Without the warning, the command looks stuck. */
async function warnOfSilence(
  related: CommandSpec,
  { spec, request, args }: Pick<Following, "spec" | "request"> & { readonly args: readonly string[] },
  flags: GlobalFlags,
  run: Run,
): Promise<void> {
  const { silentWithout } = spec.entry;
  const [id = ""] = Object.values(request.params);
  const params = Object.fromEntries(related.params.map(({ name }) => [name, id]));
  const { value } = await call(related, { params, query: {}, body: undefined }, flags, run);
  const found = (value as Readonly<Record<string, unknown>> | undefined)?.[silentWithout?.field ?? ""];
  if (silentWithout !== undefined && !hasEnabled(found))
    run.terminal.stderr.write(`${fill(silentWithout.notice, args)}\n`);
}

function hasEnabled(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return ("enabled" in value && value.enabled === true) || Object.values(value).some(hasEnabled);
}
