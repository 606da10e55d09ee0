import type { ListedProcess } from "@shoal/schemas";
import type { CommandSpec, GlobalFlags, OutputFormat, Run } from "../../core/types.ts";
import { pagesOf } from "../../operations/list.ts";
import { notify, printTable } from "../../output/output.ts";
import { printList } from "../../output/print-result.ts";
import { formatBytes } from "../../output/progress.ts";
import { ageOf } from "../../output/session-row.ts";
import { currentSessionId } from "../../connection/current-session.ts";

export interface ListProcessesFlags extends GlobalFlags {
  /** Also processes that have ended. */
  readonly all?: boolean;
  readonly output: OutputFormat;
}

/** Prints the processes that a session started; only running ones unless `all` is set. */
export async function listProcesses(
  spec: CommandSpec,
  session: string | undefined,
  flags: ListProcessesFlags,
  run: Run,
): Promise<void> {
  const id = currentSessionId(session, flags, run);
  const { terminal } = run;
  const found: ListedProcess[] = [];
  const request = { params: { id }, query: {}, body: undefined };
  for await (const { items } of pagesOf(spec, request, { all: true, globals: flags }, run)) {
    // The contract's type.
    const page = items as readonly ListedProcess[];
    const running = page.filter(({ state }) => state !== "exited");
    found.push(...(flags.all === true ? page : running));
    // Running processes come first.
    if (flags.all !== true && running.length < page.length) break;
  }
  if (flags.output !== "table")
    return printList(spec, found, { terminal, format: flags.output, args: [], quiet: flags.quiet === true });
  if (found.length === 0) {
    const start = `shoal browsers process spawn ${id} COMMAND`;
    notify(terminal, flags, `No ${flags.all === true ? "" : "running "}processes. Start one: ${start}`);
    return;
  }
  printTable(
    terminal,
    found.map((each) => rowOf(each, new Date())),
    [
      ["PROCESS", "process_id"],
      ["PID", "pid"],
      ["EXIT", "exit_code"],
      ["TTY", "tty"],
      ["CPU", "cpu"],
      ["MEMORY", "memory"],
      ["AGE", "age"],
      ["COMMAND", "command"],
    ],
  );
}

function rowOf(process: ListedProcess, now: Date): object {
  const { cpu_pct, mem_bytes, started_at, tty } = process;
  return {
    ...process,
    tty: tty ? "yes" : undefined,
    age: ageOf(new Date(started_at), now),
    ...(cpu_pct !== undefined && { cpu: `${cpu_pct.toFixed(1)}%` }),
    ...(mem_bytes !== undefined && { memory: formatBytes(mem_bytes) }),
  };
}
