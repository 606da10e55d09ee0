import type { CommandSpec, GlobalFlags, OutputFormat, Run } from "../../core/types.ts";
import { endpointOf } from "../../connection/endpoint.ts";
import { printEvent } from "../../output/event-line.ts";
import { printable } from "../../output/format.ts";
import { connect } from "../../connection/transport.ts";

/** A second Ctrl-C exits at once. */
const stopTimeoutMs = 30_000;

/** Prints events until Ctrl-C or until the directory is deleted, and stops the watch. */
export async function followDirectory(
  watch: { readonly start: CommandSpec; readonly events: CommandSpec; readonly stop: CommandSpec },
  target: { id: string; path: string },
  flags: GlobalFlags & { recursive?: boolean; output: OutputFormat },
  run: Run,
): Promise<void> {
  const transport = connect(flags, run);
  // Ctrl-C does not abort this call: without its result the watch could not be stopped.
  const { watch_id } = (await transport.call(endpointOf(watch.start), {
    params: { id: target.id },
    body: { path: target.path, recursive: flags.recursive === true },
  })) as { watch_id: string };
  const params = { id: target.id, watch_id };
  const { stderr } = run.terminal;
  const forPeople = flags.output === "table" && flags.quiet !== true;
  if (forPeople)
    stderr.write(
      `Watching ${printable(target.path)}${flags.recursive === true ? " and its subdirectories" : ""}${run.terminal.progress ? ". Press Ctrl-C to stop" : ""}.\n`,
    );
  try {
    const events = transport.stream(
      endpointOf(watch.events),
      { params },
      {
        signal: run.signal,
        onGap: (gap) => stderr.write(`${String(gap.missed)} events were lost: the reader was too slow.\n`),
      },
    );
    for await (const event of events) printEvent(run.terminal, event, flags.output);
    stderr.write("The watch has ended: its directory was deleted, or the watch was stopped.\n");
  } finally {
    // Ignore errors: the watch ends with its session.
    await transport.call(endpointOf(watch.stop), { params }, { totalTimeoutMs: stopTimeoutMs }).catch(() => undefined);
    if (run.signal.aborted && forPeople && run.terminal.progress) stderr.write("\nStopped the watch.\n");
  }
}
