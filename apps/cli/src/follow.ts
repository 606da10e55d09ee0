import type { CommandSpec } from "./command-table.ts";
import type { GlobalFlags } from "./connect.ts";
import { endpointOf } from "./endpoint.ts";
import { printEvent } from "./event-line.ts";
import { printable } from "./format.ts";
import type { OutputFormat } from "./output.ts";
import type { Run } from "./program.ts";
import { connect } from "./transport.ts";

const stopTimeoutMs = 5000;

/** Starts a watch, prints its events until Ctrl-C or the directory's end, and stops it. */
export async function followDirectory(
  watch: { readonly start: CommandSpec; readonly events: CommandSpec; readonly stop: CommandSpec },
  target: { id: string; path: string },
  flags: GlobalFlags & { recursive?: boolean; output: OutputFormat },
  run: Run,
): Promise<void> {
  const transport = connect(flags, run);
  // Not given up by Ctrl-C: a watch that was started without an answer could not be stopped.
  const { watch_id } = (await transport.call(endpointOf(watch.start), {
    params: { id: target.id },
    body: { path: target.path, recursive: flags.recursive === true },
  })) as { watch_id: string };
  const params = { id: target.id, watch_id };
  const { stderr } = run.terminal;
  const forPeople = flags.output === "table" && flags.quiet !== true;
  if (forPeople)
    stderr.write(
      `Watching ${printable(target.path)}${flags.recursive === true ? " and what is below it" : ""}${run.terminal.progress ? "; Ctrl-C stops" : ""}.\n`,
    );
  try {
    const events = transport.stream(
      endpointOf(watch.events),
      { params },
      {
        signal: run.signal,
        onGap: (gap) => stderr.write(`${String(gap.missed)} events were lost: this reader was too slow.\n`),
      },
    );
    for await (const event of events) printEvent(run.terminal, event, flags.output);
    stderr.write("The watch has ended: its directory is gone, or somebody stopped it.\n");
  } finally {
    // The watch of a session that has ended is gone with it.
    await transport.call(endpointOf(watch.stop), { params }, { totalTimeoutMs: stopTimeoutMs }).catch(() => undefined);
    if (run.signal.aborted && forPeople && run.terminal.progress) stderr.write("\nThe watch is stopped.\n");
  }
}
