import { ReadStream, WriteStream } from "node:tty";
import { call } from "../../connection/call.ts";
import { ExitError } from "../../core/errors.ts";
import { exitCodes } from "../../core/exit-codes.ts";
import type { CommandSpec, GlobalFlags, Run } from "../../core/types.ts";
import { TerminalModes } from "./terminal-modes.ts";

export interface AttachSpecs {
  readonly get: CommandSpec;
  readonly spawn: CommandSpec;
  readonly status: CommandSpec;
}

/** Ctrl-] detaches, as in telnet. All other keys go to the program. */
const detachKey = 0x1d;
const endOfTransmission = Buffer.from([4]);
/** Starts bash if the session has it. */
const shell = { command: "/bin/sh", args: ["-c", "command -v bash >/dev/null && exec bash; exec sh"] };

/** Connects this terminal to the terminal of a process, or to a new shell. Exits with the status of the process. */
export async function attach(
  specs: AttachSpecs,
  target: { readonly id: string; readonly processId: string | undefined },
  flags: GlobalFlags,
  run: Run,
): Promise<void> {
  const { stdout } = run.terminal;
  const screen = stdout instanceof WriteStream ? stdout : undefined;
  const { value } = await call(
    specs.get,
    { params: { id_or_name: target.id }, query: {}, body: undefined },
    flags,
    run,
  );
  const { session_id: id, cdp_ws_url } = value as { session_id: string; cdp_ws_url: string };
  let process_id = target.processId;
  if (process_id === undefined) {
    const size = screen === undefined ? {} : { cols: screen.columns, rows: screen.rows };
    const body = { ...shell, allocate_tty: true, ...size };
    ({ process_id } = (await call(specs.spawn, { params: { id }, query: {}, body }, flags, run)).value as {
      process_id: string;
    });
  } else {
    // A rejected WebSocket has no reason; this call fails with one.
    await call(specs.status, { params: { id, process_id }, query: {}, body: undefined }, flags, run);
  }
  const url = new URL(cdp_ws_url);
  url.pathname = url.pathname.replace(/\/cdp$/, `/process/${process_id}/attach`);
  const attached = new AttachedTerminal(url, run, flags.quiet === true);
  const end = await attached.closed();
  report(end, `shoal browsers process attach ${target.id} ${process_id}`, process_id, run, flags);
}

interface AttachEnd {
  readonly opened: boolean;
  readonly detached: boolean;
  readonly exitCode: number | undefined;
  readonly closeCode: number;
  readonly closeReason: string;
}

class AttachedTerminal {
  readonly #socket: WebSocket;
  readonly #run: Run;
  readonly #isQuiet: boolean;
  readonly #screen: WriteStream | undefined;
  readonly #modes = new TerminalModes();
  #opened = false;
  #detached = false;
  #exitCode: number | undefined;

  constructor(url: URL, run: Run, isQuiet: boolean) {
    const { stdout } = run.terminal;
    this.#run = run;
    this.#isQuiet = isQuiet;
    this.#screen = stdout instanceof WriteStream ? stdout : undefined;
    this.#socket = new WebSocket(url);
    this.#socket.binaryType = "arraybuffer";
  }

  /** Transfers input and output until the connection closes, and restores the terminal. */
  async closed(): Promise<AttachEnd> {
    const { signal } = this.#run;
    const { promise, resolve } = Promise.withResolvers<{ readonly code: number; readonly reason: string }>();
    this.#socket.addEventListener("open", this.#start);
    this.#socket.addEventListener("message", this.#print);
    this.#socket.addEventListener("close", resolve);
    signal.addEventListener("abort", this.#detach);
    const { code, reason } = await promise;
    signal.removeEventListener("abort", this.#detach);
    this.#restore();
    return {
      opened: this.#opened,
      detached: this.#detached,
      exitCode: this.#exitCode,
      closeCode: code,
      closeReason: reason,
    };
  }

  readonly #start = () => {
    const { interactive, stderr, stdin } = this.#run.terminal;
    this.#opened = true;
    if (stdin instanceof ReadStream) stdin.setRawMode(true);
    if (!this.#isQuiet && interactive) stderr.write("Attached. Ctrl-] detaches and leaves the program running.\r\n");
    this.#resize();
    this.#screen?.on("resize", this.#resize);
    stdin.on("data", this.#type);
    stdin.on("end", this.#endInput);
  };

  readonly #print = ({ data }: MessageEvent<unknown>) => {
    if (data instanceof ArrayBuffer) {
      this.#modes.read(new Uint8Array(data));
      this.#run.terminal.stdout.write(Buffer.from(data));
    } else if (typeof data === "string") this.#exitCode = exitCodeIn(data);
  };

  readonly #resize = () => {
    if (this.#screen !== undefined)
      this.#socket.send(JSON.stringify({ type: "resize", cols: this.#screen.columns, rows: this.#screen.rows }));
  };

  readonly #type = (keys: Buffer) => {
    const at = this.#run.terminal.stdin instanceof ReadStream ? keys.indexOf(detachKey) : -1;
    if (at !== 0) this.#socket.send(new Uint8Array(at === -1 ? keys : keys.subarray(0, at)));
    if (at !== -1) this.#detach();
  };

  readonly #endInput = () => {
    this.#socket.send(endOfTransmission);
  };

  readonly #detach = () => {
    this.#detached = true;
    this.#socket.close(1000);
  };

  #restore(): void {
    const { stdin } = this.#run.terminal;
    this.#screen?.off("resize", this.#resize);
    stdin.off("data", this.#type).off("end", this.#endInput).pause();
    if (stdin instanceof ReadStream) stdin.setRawMode(false);
    // The program continues in its own terminal and cannot restore this one.
    this.#screen?.write(this.#modes.reset());
  }
}

// oxlint-disable-next-line max-params -- the parts of one message
function report(end: AttachEnd, again: string, processId: string, run: Run, { quiet }: GlobalFlags): void {
  const { terminal } = run;
  if (end.detached) {
    if (quiet !== true && terminal.progress) terminal.stderr.write(`\nDetached. Attach again with: ${again}\n`);
    return;
  }
  if (!end.opened)
    throw new ExitError(
      exitCodes.usage.status,
      `Cannot attach to process ${processId}. It may not have a terminal.`,
      "Start it with --allocate-tty, or follow its output with: shoal browsers process stdout-stream",
    );
  if (end.exitCode === undefined)
    throw new ExitError(
      exitCodes.connection.status,
      `The connection ended before the program${end.closeReason === "" ? "" : `: ${end.closeReason}`} (${String(end.closeCode)}).`,
      `If the session is still running, attach again with: ${again}`,
    );
  run.exitWith(end.exitCode);
}

function exitCodeIn(text: string): number | undefined {
  const parsed: unknown = JSON.parse(text);
  return typeof parsed === "object" && parsed !== null && "exit_code" in parsed && typeof parsed.exit_code === "number"
    ? parsed.exit_code
    : undefined;
}
