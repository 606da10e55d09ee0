import type { CommandSpec } from "./command-table.ts";
import type { GlobalFlags } from "./connect.ts";
import { endpointOf } from "./endpoint.ts";
import { printEvent } from "./event-line.ts";
import { type Printing, printResult } from "./print-result.ts";
import type { Run } from "./program.ts";
import { connect } from "./transport.ts";
import type { CommandRequest } from "./values.ts";

/** Prints the events of a stream as they come, a line each. A lost connection is opened again behind the last event. */
export async function followEvents(
  { spec, request, printing }: { spec: CommandSpec; request: CommandRequest; printing: Printing },
  flags: GlobalFlags,
  run: Run,
): Promise<void> {
  const { terminal, format, query, quiet } = printing;
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
