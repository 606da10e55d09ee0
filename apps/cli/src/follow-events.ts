import { call } from "./call.ts";
import type { CommandSpec } from "./command-table.ts";
import type { GlobalFlags } from "./connect.ts";
import { endpointOf } from "./endpoint.ts";
import { printEvent } from "./event-line.ts";
import { fill, type Printing, printResult } from "./print-result.ts";
import type { Run } from "./program.ts";
import { connect } from "./transport.ts";
import type { CommandRequest } from "./values.ts";

/** A stream, and how its events are printed. */
interface Following {
  readonly spec: CommandSpec;
  readonly request: CommandRequest;
  readonly printing: Printing;
  /** The operation that `silentWithout` of the stream's polish names. */
  readonly related: CommandSpec | undefined;
}

/** Prints the events of a stream as they come, a line each. A lost connection is opened again behind the last event. */
export async function followEvents({ spec, request, printing, related }: Following, flags: GlobalFlags, run: Run): Promise<void> {
  const { terminal, format, query, quiet } = printing;
  if (related !== undefined && !quiet) await warnOfSilence(related, { spec, request, args: printing.args }, flags, run);
  const events = connect(flags, run, spec.open).stream(endpointOf(spec), request, {
    signal: run.signal,
    onGap: ({ missed }) => terminal.stderr.write(`${missed === undefined ? "Some" : String(missed)} events were lost: this reader was too slow.\n`),
    onReconnect: ({ attempt }) => {
      if (!quiet) terminal.stderr.write(`The connection was lost; trying again (${String(attempt)}).\n`);
    },
  });
  for await (const event of events) {
    if (query === undefined) printEvent(terminal, event, format);
    else await printResult(spec, event, { ...printing, format: format === "table" ? "table" : "jsonl" });
  }
}

/** Says that a stream will print nothing, and how to change that: otherwise the command looks stuck. */
async function warnOfSilence(
  related: CommandSpec,
  { spec, request, args }: Pick<Following, "spec" | "request"> & { readonly args: readonly string[] },
  flags: GlobalFlags,
  run: Run,
): Promise<void> {
  const { silentWithout } = spec.polish;
  const [id = ""] = Object.values(request.params);
  const params = Object.fromEntries(related.params.map(({ name }) => [name, id]));
  const { value } = await call(related, { params, query: {}, body: undefined }, flags, run);
  const found = (value as Readonly<Record<string, unknown>> | undefined)?.[silentWithout?.field ?? ""];
  if (silentWithout !== undefined && !hasEnabled(found)) run.terminal.stderr.write(`${fill(silentWithout.notice, args)}\n`);
}

/** Whether `enabled: true` is anywhere in a value. */
function hasEnabled(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return ("enabled" in value && value.enabled === true) || Object.values(value).some(hasEnabled);
}
