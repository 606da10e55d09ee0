import {
  execProcess,
  getProcessStatus,
  killProcess,
  resizeProcessTerminal,
  spawnProcess,
  streamProcessOutput,
  writeProcessStdin,
} from "@shoal/contract";
import type {
  ExecProcess,
  ExecResult,
  KillProcess,
  Ok,
  ProcessStatus,
  ProcessStreamEvent,
  ResizeTerminal,
  SpawnedProcess,
  SpawnProcess,
  StdinResult,
  WriteStdin,
} from "@shoal/schemas";
import type { CallOptions, EventStream, StreamOptions, Transport } from "@shoal/transport";
import { base64Of, bytesOf } from "./base64.ts";

/** What {@link BrowserProcesses.run} gives. */
export interface CommandResult {
  /** 128 and the signal's number for a command that a signal ended. */
  readonly exitCode: number;
  /** Standard output as text (UTF-8). */
  readonly stdout: string;
  /** Standard error as text (UTF-8). */
  readonly stderr: string;
  readonly durationMs: number;
  /** Whether `timeout_sec` ended it; the output is then what came until that moment. */
  readonly timedOut: boolean;
}

/** What {@link BrowserProcesses.output} yields: pieces of output, and at last the exit. A piece may end in the middle of a character. */
export type ProcessOutput =
  { readonly kind: "stdout" | "stderr"; readonly bytes: Uint8Array<ArrayBuffer> } | { readonly kind: "exit"; readonly exitCode: number | undefined };

/** The most that one write to standard input takes, before base64. */
const maxStdinBytes = 512 * 1024;

/** Processes beside the browser of a session. */
export class BrowserProcesses {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Runs a command to its end. One that fails does not reject: `exit_code` tells. Output comes in base64; see {@link run} for text.
   * One try waits for `timeout_sec` and 10 seconds where that is given, and for ever where neither it nor `timeoutMs` is.
   *
   * @throws {ApiError} 400 for a command that does not exist; 429 for too many processes.
   */
  exec(browserId: string, body: ExecProcess, options: CallOptions = {}): Promise<ExecResult> {
    const timeoutMs = options.timeoutMs ?? (body.timeout_sec == null ? Infinity : (body.timeout_sec + 10) * 1000);
    return this.#transport.call(execProcess, { params: { id: browserId }, body }, { ...options, timeoutMs });
  }
  /**
   * Runs a command to its end, with its output as text.
   *
   * @example
   * const { stdout } = await shoal.browsers.process.run(id, { command: "ls", args: ["-l", "/tmp"] });
   *
   * @throws {ApiError} as {@link exec}.
   */
  async run(browserId: string, body: ExecProcess, options?: CallOptions): Promise<CommandResult> {
    const result = await this.exec(browserId, body, options);
    const text = (base64: string) => new TextDecoder().decode(bytesOf(base64));
    return {
      exitCode: result.exit_code,
      stdout: text(result.stdout_b64),
      stderr: text(result.stderr_b64),
      durationMs: result.duration_ms,
      timedOut: result.timed_out === true,
    };
  }
  /** Starts a process. It lives until it ends, is killed, or the session ends. @throws {ApiError} 400 for a command that does not exist; 429 for too many processes. */
  spawn(browserId: string, body: SpawnProcess, options?: CallOptions): Promise<SpawnedProcess> {
    return this.#transport.call(spawnProcess, { params: { id: browserId }, body }, options);
  }
  /** Tells how a process does, or how it ended. @throws {ApiError} 404 `not_found`. */
  status(browserId: string, processId: string, options?: CallOptions): Promise<ProcessStatus> {
    return this.#transport.call(getProcessStatus, { params: { id: browserId, process_id: processId } }, options);
  }
  /** Writes to a process's standard input, up to 512 KiB in base64; see {@link write} for text and bytes of any length. @throws {ApiError} 409 when it has ended. */
  stdin(browserId: string, processId: string, body: WriteStdin, options?: CallOptions): Promise<StdinResult> {
    return this.#transport.call(writeProcessStdin, { params: { id: browserId, process_id: processId }, body }, options);
  }
  /** Writes text (as UTF-8) or bytes to a process's standard input, piece by piece; resolves when all is written. @throws {ApiError} as {@link stdin}. */
  async write(browserId: string, processId: string, data: string | Uint8Array, options?: CallOptions): Promise<void> {
    const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
    for (let at = 0; at < bytes.length; at += maxStdinBytes) {
      await this.stdin(browserId, processId, { data_b64: base64Of(bytes.subarray(at, at + maxStdinBytes)) }, options);
    }
  }
  /** Sends a signal to a process and all that it started: `TERM` unless `body` says otherwise. @throws {ApiError} 404 `not_found`. */
  kill(browserId: string, processId: string, body: KillProcess = {}, options?: CallOptions): Promise<Ok> {
    return this.#transport.call(killProcess, { params: { id: browserId, process_id: processId }, body }, options);
  }
  /** Sizes the terminal of a process that was started with `allocate_tty`. @throws {ApiError} 400 for one without a terminal. */
  resize(browserId: string, processId: string, body: ResizeTerminal, options?: CallOptions): Promise<Ok> {
    return this.#transport.call(resizeProcessTerminal, { params: { id: browserId, process_id: processId }, body }, options);
  }
  /** Follows a process's output from the oldest that is kept, in base64 as it comes; the last event is the exit. See {@link output} for bytes. */
  stdoutStream(browserId: string, processId: string, options?: StreamOptions): EventStream<ProcessStreamEvent> {
    return this.#transport.stream(streamProcessOutput, { params: { id: browserId, process_id: processId } }, options);
  }
  /**
   * Follows a process's output from the oldest that is kept, as bytes, to its exit.
   *
   * @param options - `onGap` is told when the service could not keep all output for a slow reader.
   *
   * @example
   * for await (const piece of shoal.browsers.process.output(id, processId)) {
   *   if (piece.kind === "exit") console.log(piece.exitCode);
   *   else process[piece.kind].write(piece.bytes);
   * }
   */
  async *output(browserId: string, processId: string, options?: StreamOptions): AsyncGenerator<ProcessOutput, undefined> {
    for await (const { data_b64, event, exit_code, stream } of this.stdoutStream(browserId, processId, options)) {
      if (data_b64 !== undefined) yield { kind: stream === "stderr" ? "stderr" : "stdout", bytes: bytesOf(data_b64) };
      if (event === "exit") yield { kind: "exit", exitCode: exit_code };
    }
    return undefined;
  }
}
