import { startWatch, stopWatch, watchEvents } from "@shoal/contract";
import { connect, type GlobalFlags } from "./connect.ts";
import { printable } from "./format.ts";
import { type OutputFormat, printJsonLine, styled, type Terminal } from "./output.ts";
import type { Run } from "./program.ts";

const colours = { CREATE: "green", WRITE: "yellow", DELETE: "red", RENAME: "cyan" } as const;

/** Prints one event of a stream: a line for people, or a line of JSON. */
export function printEvent(terminal: Terminal, event: object, format: OutputFormat): void {
  if (format !== "table" || !("type" in event) || typeof event.type !== "string" || !("path" in event) || typeof event.path !== "string") {
    printJsonLine(terminal, event);
    return;
  }
  const type = printable(event.type).padEnd(6);
  const colour = event.type in colours ? colours[event.type as keyof typeof colours] : undefined;
  const target = "dest_path" in event && typeof event.dest_path === "string" ? ` -> ${printable(event.dest_path)}` : "";
  const slash = "is_dir" in event && event.is_dir === true ? "/" : "";
  terminal.stdout.write(`${colour ? styled(terminal, colour, type) : type}  ${printable(event.path)}${slash}${target}\n`);
}

const stopTimeoutMs = 5000;

/** Starts a watch, prints its events until Ctrl-C or the directory's end, and stops it. */
export async function followDirectory(
  target: { id: string; path: string },
  flags: GlobalFlags & { recursive?: boolean; output: OutputFormat },
  run: Run,
): Promise<void> {
  const transport = connect(flags, run);
  // Not given up by Ctrl-C: a watch that was started without an answer could not be stopped.
  const { watch_id } = await transport.call(startWatch, { params: { id: target.id }, body: { path: target.path, recursive: flags.recursive === true } });
  const params = { id: target.id, watch_id };
  const { stderr } = run.terminal;
  const forPeople = flags.output === "table";
  if (forPeople) stderr.write(`Watching ${printable(target.path)}${flags.recursive === true ? " and what is below it" : ""}${run.terminal.progress ? "; Ctrl-C stops" : ""}.\n`);
  try {
    const events = transport.stream(watchEvents, { params }, {
      signal: run.signal,
      onGap: (gap) => stderr.write(`${String(gap.missed)} events were lost: this reader was too slow.\n`),
    });
    for await (const event of events) printEvent(run.terminal, event, flags.output);
    stderr.write("The watch has ended: its directory is gone, or somebody stopped it.\n");
  } finally {
    // The watch of a session that has ended is gone with it.
    await transport.call(stopWatch, { params }, { totalTimeoutMs: stopTimeoutMs }).catch(() => undefined);
    if (run.signal.aborted && forPeople && run.terminal.progress) stderr.write("\nThe watch is stopped.\n");
  }
}
