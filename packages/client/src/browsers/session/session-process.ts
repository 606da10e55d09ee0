import type { SpawnedProcess } from "@shoal/schemas";
import { ApiError, type CallOptions, type StreamOptions } from "@shoal/transport";
import type { BrowserProcesses, ProcessOutput, WriteOptions } from "../browser-processes.ts";

/** A running process of a session. With `await using` it ends at the end of the scope. */
export class SessionProcess implements AsyncDisposable {
  /** The process's id in calls. */
  readonly id: string;
  /** Its number in the session. */
  readonly pid: number;
  readonly #processes: BrowserProcesses;
  readonly #browserId: string;
  constructor(processes: BrowserProcesses, browserId: string, started: SpawnedProcess) {
    this.id = started.process_id;
    this.pid = started.pid;
    this.#processes = processes;
    this.#browserId = browserId;
  }

  /** Streams stored and new output as bytes until the exit. */
  output(options?: StreamOptions): AsyncGenerator<ProcessOutput, undefined> {
    return this.#processes.output(this.#browserId, this.id, options);
  }
  /** Writes text (UTF-8) or bytes to standard input; `close` ends it. @throws {ApiError} 409 after the exit. */
  write(data: string | Uint8Array, options?: WriteOptions): Promise<void> {
    return this.#processes.write(this.#browserId, this.id, data, options);
  }
  /** Resolves to the exit code; `undefined` if it is unknown. */
  async wait(options?: StreamOptions): Promise<number | undefined> {
    for await (const piece of this.output(options)) if (piece.kind === "exit") return piece.exitCode;
    return undefined;
  }
  /** Sends a signal to the process and its descendants. */
  async kill(signal: "TERM" | "KILL" | "INT" | "HUP" = "TERM", options?: CallOptions): Promise<void> {
    await this.#processes.kill(this.#browserId, this.id, { signal }, options);
  }
  /** Kills the process if it still runs. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.kill("KILL");
    } catch (error) {
      // It has ended.
      if (!ApiError.isInstance(error) || (error.status !== 404 && error.status !== 409)) throw error;
    }
  }
}
