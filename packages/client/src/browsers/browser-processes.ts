import {
  execProcess,
  getProcessStatus,
  killProcess,
  listProcesses,
  resizeProcessTerminal,
  spawnProcess,
  streamProcessOutput,
  writeProcessStdin,
} from "@shoal/contract";
import type {
  ExecProcess,
  ExecResult,
  KillProcess,
  ListedProcess,
  ListProcesses,
  Ok,
  ProcessStatus,
  ProcessStreamEvent,
  ResizeTerminal,
  SpawnedProcess,
  SpawnProcess,
  StdinResult,
  WriteStdin,
} from "@shoal/schemas";
import type { Call, CallOptions, EventStream, ItemPage, StreamOptions, Transport } from "@shoal/transport";
import { base64Of, bytesOf } from "./base64.ts";

/** Result of {@link BrowserProcesses.run}. */
export interface CommandResult {
  /** Exit code; 128 plus the signal number after a signal. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly durationMs: number;
  /** True when `timeout_sec` ended the command; the output is then incomplete. */
  readonly timedOut: boolean;
}

/** An item of {@link BrowserProcesses.output}: a piece of output, or finally the exit. A piece may end within a character. */
export type ProcessOutput =
  | { readonly kind: "stdout" | "stderr"; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: "exit"; readonly exitCode: number | undefined };

/** Options of {@link BrowserProcesses.write}. */
export interface WriteOptions extends CallOptions {
  /** Ends standard input after the data. */
  readonly close?: boolean;
}

/** Before base64. */
const maxStdinBytes = 512 * 1024;

/** Processes of a session. */
export class BrowserProcesses {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Runs a command to its end; `exit_code` reports a failure. The output is in base64; see {@link run} for text.
   * Default of `timeoutMs`: `timeout_sec` plus 10 seconds, or unlimited without `timeout_sec`.
   * @throws {ApiError} 400 for an unknown command; 429 for too many processes.
   * @deprecated Use {@link run}, which decodes the output.
   */
  exec(browserId: string, body: ExecProcess, options: CallOptions = {}): Call<ExecResult> {
    const timeoutMs = options.timeoutMs ?? (body.timeout_sec == null ? Infinity : (body.timeout_sec + 10) * 1000);
    return this.#transport.call(execProcess, { params: { id: browserId }, body }, { ...options, timeoutMs });
  }
  /**
   * Runs a command to its end and returns its output as text; `exitCode` reports a failure. Default of `timeoutMs`:
   * `timeout_sec` plus 10 seconds, or unlimited without `timeout_sec`.
   *
   * @example
   * const { stdout } = await shoal.browsers.process.run(id, { command: "ls", args: ["-l", "/tmp"] });
   *
   * @throws {ApiError} 400 for an unknown command; 429 for too many processes.
   */
  async run(browserId: string, body: ExecProcess, options?: CallOptions): Promise<CommandResult> {
    // oxlint-disable-next-line typescript/no-deprecated -- the same call, with decoded output
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
  /** Starts a process, which runs until it exits, is killed, or the session ends. @throws {ApiError} 400 for an unknown command; 429 for too many processes. */
  spawn(browserId: string, body: SpawnProcess, options?: CallOptions): Call<SpawnedProcess> {
    return this.#transport.call(spawnProcess, { params: { id: browserId }, body }, options);
  }
  /** Lists spawned processes: running ones first, and then the newest first. `for await` iterates over all pages. */
  list(browserId: string, query: ListProcesses = {}, options?: CallOptions): Call<ItemPage<ListedProcess>> {
    return this.#transport.call(listProcesses, { params: { id: browserId }, query }, options);
  }
  /** Returns the state of a process. @throws {ApiError} 404 `not_found`. */
  status(browserId: string, processId: string, options?: CallOptions): Call<ProcessStatus> {
    return this.#transport.call(getProcessStatus, { params: { id: browserId, process_id: processId } }, options);
  }
  /**
   * Writes up to 512 KiB in base64 to standard input. @throws {ApiError} 409 after the exit.
   * @deprecated Use {@link write}, for text and bytes of any length.
   */
  stdin(browserId: string, processId: string, body: WriteStdin, options?: CallOptions): Call<StdinResult> {
    return this.#transport.call(writeProcessStdin, { params: { id: browserId, process_id: processId }, body }, options);
  }
  /**
   * Writes text (UTF-8) or bytes of any length to standard input. @throws {ApiError} 409 after the exit.
   * @param options - `close` ends the input afterwards.
   */
  async write(
    browserId: string,
    processId: string,
    data: string | Uint8Array,
    { close = false, ...options }: WriteOptions = {},
  ): Promise<void> {
    const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
    for (let at = 0; at < bytes.length || (close && at === 0); at += maxStdinBytes) {
      // oxlint-disable-next-line typescript/no-deprecated -- the same call, for longer data
      await this.stdin(
        browserId,
        processId,
        {
          data_b64: base64Of(bytes.subarray(at, at + maxStdinBytes)),
          ...(close && at + maxStdinBytes >= bytes.length && { close: true }),
        },
        options,
      );
    }
  }
  /** Sends a signal to a process and its descendants. Default `TERM`. @throws {ApiError} 404 `not_found`. */
  kill(browserId: string, processId: string, body: KillProcess = {}, options?: CallOptions): Call<Ok> {
    return this.#transport.call(killProcess, { params: { id: browserId, process_id: processId }, body }, options);
  }
  /** Resizes the terminal of a process with `allocate_tty`. @throws {ApiError} 400 for one without a terminal. */
  resize(browserId: string, processId: string, body: ResizeTerminal, options?: CallOptions): Call<Ok> {
    return this.#transport.call(
      resizeProcessTerminal,
      { params: { id: browserId, process_id: processId }, body },
      options,
    );
  }
  /**
   * Streams a process's stored and new output in base64; the last event is the exit.
   * @deprecated Use {@link output}, for bytes.
   */
  stdoutStream(browserId: string, processId: string, options?: StreamOptions): EventStream<ProcessStreamEvent> {
    return this.#transport.stream(streamProcessOutput, { params: { id: browserId, process_id: processId } }, options);
  }
  /**
   * Streams a process's stored and new output as bytes until its exit.
   *
   * @param options - `onGap` is called when output was lost because the reader was too slow.
   *
   * @example
   * for await (const piece of shoal.browsers.process.output(id, processId)) {
   *   if (piece.kind === "exit") console.log(piece.exitCode);
   *   else process[piece.kind].write(piece.bytes);
   * }
   */
  async *output(
    browserId: string,
    processId: string,
    options?: StreamOptions,
  ): AsyncGenerator<ProcessOutput, undefined> {
    // oxlint-disable-next-line typescript/no-deprecated -- the same stream, decoded
    for await (const { data_b64, event, exit_code, stream } of this.stdoutStream(browserId, processId, options)) {
      if (data_b64 !== undefined) yield { kind: stream === "stderr" ? "stderr" : "stdout", bytes: bytesOf(data_b64) };
      if (event === "exit") yield { kind: "exit", exitCode: exit_code };
    }
    return undefined;
  }
}
