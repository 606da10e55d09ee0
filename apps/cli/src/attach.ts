import { ReadStream, WriteStream } from "node:tty";
import { call } from "./call.ts";
import type { CommandSpec } from "./command-table.ts";
import type { GlobalFlags } from "./connect.ts";
import { ExitError } from "./exit-error.ts";
import { exitCodes } from "./exit-codes.ts";
import type { Run } from "./program.ts";
import { TerminalModes } from "./terminal-modes.ts";

/** The operations that attaching is made of. */
export interface AttachSpecs {
  readonly get: CommandSpec;
  readonly spawn: CommandSpec;
  readonly status: CommandSpec;
}

/** Ctrl-] leaves, as in telnet: whatever else is typed is the program's. */
const leaveKey = 0x1d;
const endOfTransmission = Buffer.from([4]);
/** The better of the shells that a session may have. */
const shell = { command: "/bin/sh", args: ["-c", "command -v bash >/dev/null && exec bash; exec sh"] };

/**
 * Joins this terminal with that of a process of a session; without one, with a new shell there. Ends with the process, whose exit status becomes the command's.
 */
export async function attach(
  specs: AttachSpecs,
  target: { readonly id: string; readonly processId: string | undefined },
  flags: GlobalFlags,
  run: Run,
): Promise<void> {
  const { stdin, stdout, stderr } = run.terminal;
  const screen = stdout instanceof WriteStream ? stdout : undefined;
  const browser = (await call(specs.get, { params: { id_or_name: target.id }, query: {}, body: undefined }, flags, run)).value as {
    session_id: string;
    cdp_ws_url: string;
  };
  const id = browser.session_id;
  const size = screen === undefined ? {} : { cols: screen.columns, rows: screen.rows };
  let process_id = target.processId;
  if (process_id === undefined) {
    const body = { ...shell, allocate_tty: true, ...size };
    ({ process_id } = (await call(specs.spawn, { params: { id }, query: {}, body }, flags, run)).value as { process_id: string });
  } else {
    // A refused WebSocket says nothing; this says why.
    await call(specs.status, { params: { id, process_id }, query: {}, body: undefined }, flags, run);
  }

  const url = new URL(browser.cdp_ws_url);
  url.pathname = url.pathname.replace(/\/cdp$/, `/process/${process_id}/attach`);
  const socket = new WebSocket(url);
  socket.binaryType = "arraybuffer";
  const state: { opened: boolean; left: boolean; exitCode: number | undefined } = { opened: false, left: false, exitCode: undefined };
  const modes = new TerminalModes();
  const closed = Promise.withResolvers<{ readonly code: number; readonly reason: string }>();

  const resize = () => {
    if (screen !== undefined && state.opened) socket.send(JSON.stringify({ type: "resize", cols: screen.columns, rows: screen.rows }));
  };
  const leave = () => {
    state.left = true;
    socket.close(1000);
  };
  const type = (keys: Buffer) => {
    const at = stdin instanceof ReadStream ? keys.indexOf(leaveKey) : -1;
    if (at !== 0) socket.send(new Uint8Array(at === -1 ? keys : keys.subarray(0, at)));
    if (at !== -1) leave();
  };
  const ended = () => {
    socket.send(endOfTransmission);
  };

  socket.addEventListener("open", () => {
    state.opened = true;
    if (stdin instanceof ReadStream) stdin.setRawMode(true);
    if (flags.quiet !== true && run.terminal.interactive) stderr.write("Attached. Ctrl-] leaves, and the program runs on.\r\n");
    resize();
    screen?.on("resize", resize);
    stdin.on("data", type);
    stdin.on("end", ended);
  });
  socket.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
    if (data instanceof ArrayBuffer) {
      modes.read(new Uint8Array(data));
      stdout.write(Buffer.from(data));
    } else if (typeof data === "string") state.exitCode = exitCodeIn(data);
  });
  socket.addEventListener("close", ({ code, reason }) => {
    closed.resolve({ code, reason });
  });
  run.signal.addEventListener("abort", leave);
  const { code, reason } = await closed.promise;
  run.signal.removeEventListener("abort", leave);
  screen?.off("resize", resize);
  stdin.off("data", type).off("end", ended).pause();
  if (stdin instanceof ReadStream) stdin.setRawMode(false);
  // The program goes on in its own terminal and cannot set this one back.
  if (screen !== undefined) screen.write(modes.reset());

  if (state.left) {
    if (flags.quiet !== true && run.terminal.progress)
      stderr.write(`\nLeft. Come back with: shoal browsers process attach ${target.id} ${process_id}\n`);
    return;
  }
  if (!state.opened)
    throw new ExitError(
      exitCodes.usage.status,
      `Process ${process_id} could not be attached to: it has no terminal, perhaps.`,
      "Start it with --allocate-tty, or follow its output with: shoal browsers process stdout-stream",
    );
  if (state.exitCode === undefined)
    throw new ExitError(
      exitCodes.connection.status,
      `The connection ended before the program did${reason === "" ? "" : `: ${reason}`} (${String(code)}).`,
      `If the session still runs, come back with: shoal browsers process attach ${target.id} ${process_id}`,
    );
  // As of a program that had run here.
  process.exitCode = state.exitCode;
}

function exitCodeIn(text: string): number | undefined {
  const parsed: unknown = JSON.parse(text);
  return typeof parsed === "object" && parsed !== null && "exit_code" in parsed && typeof parsed.exit_code === "number"
    ? parsed.exit_code
    : undefined;
}
