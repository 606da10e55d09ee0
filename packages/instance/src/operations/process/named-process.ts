import { ServiceError } from "@shoal/router";
import type { ProcessStatus } from "@shoal/schemas";
import type { ProcessLimits } from "./limits.ts";
import type { ProcessOutput } from "./output.ts";
import { ProcessInput } from "./process-input.ts";
import { usageOf } from "./tracking/process-tree.ts";
import type { RunningCommands, StartedChild } from "./tracking/running-commands.ts";

export interface NamedProcess {
  readonly output: ProcessOutput;
  readonly exitCode: number | undefined;
  status(): Promise<ProcessStatus>;
  /** Returns the written bytes: fewer, with the input still open, if the process does not read in time. */
  write(data: Buffer, options: { readonly close: boolean; readonly signal: AbortSignal }): Promise<number>;
  /** Signals the process and its descendants, also descendants that outlive it. */
  kill(signal: NodeJS.Signals): void;
  readonly resize: ((columns: number, rows: number) => void) | undefined;
}

export interface SpawnedChildOptions {
  readonly output: ProcessOutput;
  readonly commands: RunningCommands;
  readonly limits: Pick<ProcessLimits, "inputBytes" | "inputMs">;
  /** Its `code` is `undefined` while the process runs. */
  readonly exit: { readonly code: number | undefined };
}

export class SpawnedChild implements NamedProcess {
  readonly output: ProcessOutput;
  readonly resize: NamedProcess["resize"];
  readonly #started: StartedChild;
  readonly #options: SpawnedChildOptions;
  readonly #input: ProcessInput;
  readonly #usage: UsageSampler;
  #waitingBytes = 0;

  constructor(started: StartedChild, options: SpawnedChildOptions) {
    const { child } = started;
    this.#started = started;
    this.#options = options;
    this.output = options.output;
    this.resize = child.resize;
    this.#input = new ProcessInput((data) => child.write(data));
    this.#usage = new UsageSampler(child.pid);
  }

  get exitCode(): number | undefined {
    return this.#options.exit.code;
  }

  async status(): Promise<ProcessStatus> {
    if (this.exitCode !== undefined) return { state: "exited", exit_code: this.exitCode, cpu_pct: 0, mem_bytes: 0 };
    return { state: "running", exit_code: null, ...(await this.#usage.measure()) };
  }

  async write(data: Buffer, { close, signal }: { close: boolean; signal: AbortSignal }): Promise<number> {
    const { inputBytes, inputMs } = this.#options.limits;
    if (this.exitCode !== undefined) throw this.#inputError();
    if (this.#waitingBytes + data.length > inputBytes) {
      throw new ServiceError(
        429,
        "too_many_requests",
        `The process has not read ${this.#waitingBytes} bytes of its input yet, and at most ${inputBytes} may wait.`,
        { limit: inputBytes, hint: "Send more when it reads." },
      );
    }
    this.#waitingBytes += data.length;
    let written: number;
    try {
      written = await this.#input.write(data, AbortSignal.any([signal, AbortSignal.timeout(inputMs)]));
    } catch {
      throw this.#inputError();
    } finally {
      this.#waitingBytes -= data.length;
    }
    if (close && written === data.length) this.#started.child.closeInput();
    return written;
  }

  #inputError(): ServiceError {
    return new ServiceError(
      409,
      "process_ended",
      this.exitCode === undefined
        ? "The process has closed its standard input, or it was closed before."
        : `The process has ended with exit code ${String(this.exitCode)}.`,
    );
  }

  kill(signal: NodeJS.Signals): void {
    const { commands } = this.#options;
    if (this.exitCode === undefined) commands.signal(this.#started.command, signal);
    else commands.signalLeftovers(this.#started.command, signal);
  }
}

/** A younger measurement is reused: the interval would be too short for a share. */
const freshMs = 100;

/** Measures a process: its share of a processor since the last measurement, or since its start. */
class UsageSampler {
  readonly #pid: number;
  #last = { atMs: performance.now(), cpuMs: 0 };
  #share: number | undefined;

  constructor(pid: number) {
    this.#pid = pid;
  }

  async measure(): Promise<Pick<ProcessStatus, "cpu_pct" | "mem_bytes">> {
    const usage = await usageOf(this.#pid);
    if (usage === undefined) return {};
    const now = performance.now();
    const elapsedMs = now - this.#last.atMs;
    if (this.#share === undefined || elapsedMs >= freshMs) {
      // A grandchild may be counted twice: while it runs and again when it ends.
      this.#share = Math.round((Math.max(0, usage.cpuMs - this.#last.cpuMs) / Math.max(1, elapsedMs)) * 1000) / 10;
      this.#last = { atMs: now, cpuMs: usage.cpuMs };
    }
    return { cpu_pct: this.#share, mem_bytes: usage.memoryBytes };
  }
}
