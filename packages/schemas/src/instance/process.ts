import * as z from "zod/mini";
import { pageFields, Timestamp } from "../base/common.ts";
import { AbsolutePath } from "./file-system.ts";
import { checkedLater, maxEntries } from "../base/rules.ts";
import { alwaysSent, checked, lazyObject, noNul, openEnum } from "../base/schema.ts";

const commandFields = () => ({
  /** A program, by its path or by its name in `PATH`; without `args` also a line for the shell (`ls | wc -l`). */
  command: checked(z.string(), z.minLength(1), z.maxLength(131_072), noNul()),
  /** Arguments, passed on as they are: no shell reads them. At most 4096. */
  args: z._default(checked(z.array(checked(z.string(), z.maxLength(131_072), noNul())), z.maxLength(4096)), []),
  /** Working directory, an absolute path; the home directory when absent. */
  cwd: z.optional(z.nullable(AbsolutePath)),
  /** Environment variables, in addition to the session's; at most 1000. */
  env: z._default(
    checked(
      z.record(
        // oxlint-disable-next-line no-control-regex -- they are what it refuses
        checked(z.string(), z.regex(/^[^=\x00]+$/, "must not be empty or hold = or NUL")),
        checked(z.string(), z.maxLength(131_072), noNul()),
      ),
      maxEntries(1000, "variables"),
    ),
    {},
  ),
  /** The user that it runs as, by name or number; the session's own when absent. A session in a sandbox has that one alone, `shoal`. */
  as_user: z.optional(z.nullable(checked(z.string(), z.minLength(1), z.maxLength(255)))),
  /** Run it as root, where the session has one; a session in a sandbox has not. */
  as_root: z._default(z.boolean(), false),
  /** Seconds until it is killed with all that it started, up to 259,200 (72 hours); without limit when 0 or absent. */
  timeout_sec: z.optional(z.nullable(checked(z.int(), z.minimum(0), z.maximum(259_200)))),
});

/** `as_root` and `as_user` exclude each other. */
const oneUser = () =>
  checkedLater<object>({
    keywords: {
      if: { required: ["as_root"], properties: { as_root: { const: true } } },
      then: { properties: { as_user: { type: "null" } } },
    },
  });

const terminalSize = () => checked(z.int(), z.minimum(1), z.maximum(65_535));

/** Input of `browsers.process.exec`. */
export interface ExecProcess extends z.input<typeof ExecProcess> {}
export const ExecProcess = z.lazy(() => checked(z.object(commandFields()), oneUser()));

/** Exit and output of a command. */
export interface ExecResult extends z.output<typeof ExecResult> {}
export const ExecResult = lazyObject(() => ({
  /** Exit status; 128 and the signal's number for a process that a signal ended. */
  exit_code: alwaysSent(z.int()),
  /** Standard output, in base64. */
  stdout_b64: alwaysSent(z.string()),
  /** Standard error, in base64. */
  stderr_b64: alwaysSent(z.string()),
  /** Milliseconds from its start to its end. */
  duration_ms: alwaysSent(z.int()),
  /** Whether `timeout_sec` ended it. The output is then incomplete. */
  timed_out: z.optional(z.boolean()),
}));

/** Input of `browsers.process.spawn`. */
export interface SpawnProcess extends z.input<typeof SpawnProcess> {}
export const SpawnProcess = z.lazy(() =>
  checked(
    z.object({
      ...commandFields(),
      /** Run it in a terminal. Standard error is then merged into standard output. */
      allocate_tty: z._default(z.boolean(), false),
      /** Lines of the terminal, 1 to 65,535; 24 when absent. Needs `allocate_tty`. */
      rows: z.optional(terminalSize()),
      /** Columns of the terminal, 1 to 65,535; 80 when absent. Needs `allocate_tty`. */
      cols: z.optional(terminalSize()),
    }),
    oneUser(),
    checkedLater({
      keywords: {
        if: { anyOf: [{ required: ["rows"] }, { required: ["cols"] }] },
        then: { required: ["allocate_tty"], properties: { allocate_tty: { const: true } } },
      },
    }),
  ),
);

/** A process that was started. */
export interface SpawnedProcess extends z.output<typeof SpawnedProcess> {}
export const SpawnedProcess = lazyObject(() => ({
  /** Names the process in the other operations, until the session ends; a UUID. */
  process_id: alwaysSent(z.string()),
  /** The operating system's number for it, within the session. */
  pid: alwaysSent(z.int()),
  /** When it began. */
  started_at: alwaysSent(Timestamp),
}));

/** How a process does. */
export interface ProcessStatus extends z.output<typeof ProcessStatus> {}
export const ProcessStatus = lazyObject(() => ({
  /** `running`, or `exited`. */
  state: alwaysSent(openEnum("running", "exited")),
  /** Exit status; `null` while it runs. */
  exit_code: z.optional(z.nullable(z.int())),
  /** Percent of one processor, measured lately; 0 once it has ended. */
  cpu_pct: z.optional(z.number()),
  /** Bytes of memory that it and its children use; 0 after it has ended. */
  mem_bytes: z.optional(z.int()),
}));

/** Input of `browsers.process.list`. */
export interface ListProcesses extends z.input<typeof ListProcesses> {}
export const ListProcesses = lazyObject(() => ({ ...pageFields }));

/** A process of a list. */
export interface ListedProcess extends z.output<typeof ListedProcess> {}
export const ListedProcess = lazyObject(() => ({
  /** Names the process in the other operations; a UUID. */
  process_id: alwaysSent(z.string()),
  /** The operating system's number for it, within the session. */
  pid: alwaysSent(z.int()),
  /** The program and its arguments, at most 200 characters. */
  command: alwaysSent(z.string()),
  /** When it began. */
  started_at: alwaysSent(Timestamp),
  /** `running`, or `exited`. */
  state: alwaysSent(openEnum("running", "exited")),
  /** Exit status; `null` while it runs. */
  exit_code: z.optional(z.nullable(z.int())),
  /** Whether it has a terminal. */
  tty: alwaysSent(z.boolean()),
  /** Percent of one processor since the last measurement; absent after the end, and outside Linux. */
  cpu_pct: z.optional(z.number()),
  /** Bytes of memory that it and its children use; absent after the end, and outside Linux. */
  mem_bytes: z.optional(z.int()),
}));

/** Input of `browsers.process.stdin`. */
export interface WriteStdin extends z.input<typeof WriteStdin> {}
export const WriteStdin = lazyObject(() => ({
  /** Bytes to write, in base64: at most 512 KiB before encoding. */
  data_b64: checked(
    z.string(),
    z.maxLength(699_052),
    z.regex(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/, "must be base64"),
  ),
  /** Close it afterwards, so that the program sees the end of its input; a terminal is sent Ctrl-D instead. `false` when absent. */
  close: z.optional(z.boolean()),
}));

/** Result of a write to standard input. */
export interface StdinResult extends z.output<typeof StdinResult> {}
export const StdinResult = lazyObject(() => ({
  /** Bytes that were written: fewer than were sent when the process did not read them within 10 seconds. Send the rest again; `close` was not done. */
  written_bytes: alwaysSent(z.int()),
}));

/** Input of `browsers.process.kill`. */
export interface KillProcess extends z.input<typeof KillProcess> {}
export const KillProcess = lazyObject(() => ({
  /** The signal, which goes to the process and to all that it started. */
  signal: z._default(z.enum(["TERM", "KILL", "INT", "HUP"]), "TERM"),
}));

/** Input of `browsers.process.resize`. */
export interface ResizeTerminal extends z.input<typeof ResizeTerminal> {}
export const ResizeTerminal = lazyObject(() => ({
  /** Lines, 1 to 65,535. */
  rows: terminalSize(),
  /** Columns, 1 to 65,535. */
  cols: terminalSize(),
}));

/** A piece of a process's output, or its end. */
export interface ProcessStreamEvent extends z.output<typeof ProcessStreamEvent> {}
export const ProcessStreamEvent = lazyObject(() => ({
  /** Where `data_b64` was written to. */
  stream: z.optional(openEnum("stdout", "stderr")),
  /** A piece of output, in base64. Characters may be cut in two between pieces. */
  data_b64: z.optional(z.string()),
  /** `exit` in the last event; absent in pieces of output. */
  event: z.optional(openEnum("exit")),
  /** Exit status, in the last event; 128 and the signal's number for a process that a signal ended. */
  exit_code: z.optional(z.int()),
}));
