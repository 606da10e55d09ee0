import { anySignal } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { ListedProcess, ProcessStatus } from "@shoal/schemas";
import type { ProcessLimits } from "./limits.ts";
import type { ProcessOutput } from "./output.ts";
import { ProcessInput } from "./process-input.ts";
import { CpuShare } from "./tracking/cpu-share.ts";
import type { ProcessEntry } from "./tracking/process-entries.ts";
import { treeUsage, type TreeUsage, usageOf } from "./tracking/process-tree.ts";
import type { RunningCommands, StartedChild } from "./tracking/running-commands.ts";

export interface SpawnedChildOptions {
  readonly command: string;
  readonly startedAt: Date;
  readonly output: ProcessOutput;
  readonly commands: RunningCommands;
  readonly limits: Pick<ProcessLimits, "inputBytes" | "inputMs">;
  /** Its `code` is `undefined` while the process runs. */
  readonly exit: { readonly code: number | undefined };
}

export class NamedProcess {
  readonly output: ProcessOutput;
  readonly resize: ((columns: number, rows: number) => void) | undefined;
  readonly #started: StartedChild;
  readonly #options: SpawnedChildOptions;
  readonly #input: ProcessInput;
  readonly #share = new CpuShare();
  #waitingBytes = 0;

  constructor(started: StartedChild, options: SpawnedChildOptions) {
    const { child } = started;
    this.#started = started;
    this.#options = options;
    this.output = options.output;
    this.resize = child.resize;
    this.#input = new ProcessInput((data) => child.write(data));
  }

  get exitCode(): number | undefined {
    return this.#options.exit.code;
  }

  async status(): Promise<ProcessStatus> {
    if (this.exitCode !== undefined) return { state: "exited", exit_code: this.exitCode, cpu_pct: 0, mem_bytes: 0 };
    return { state: "running", exit_code: null, ...this.#measured(await usageOf(this.#started.child.pid)) };
  }

  /** @param all - the processes of the machine, on Linux. */
  listed(all: readonly ProcessEntry[] | undefined): Omit<ListedProcess, "process_id"> {
    const { command, startedAt } = this.#options;
    const { pid } = this.#started.child;
    const named = { pid, command, started_at: startedAt.toISOString(), tty: this.resize !== undefined };
    if (this.exitCode !== undefined) return { ...named, state: "exited", exit_code: this.exitCode };
    return { ...named, state: "running", exit_code: null, ...this.#measured(all && treeUsage(pid, all)) };
  }

  #measured(usage: TreeUsage | undefined): Pick<ProcessStatus, "cpu_pct" | "mem_bytes"> {
    return usage === undefined ? {} : { cpu_pct: this.#share.measure(usage.cpuMs), mem_bytes: usage.memoryBytes };
  }

  /** Returns the written bytes: fewer, with the input still open, if the process does not read in time. */
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
      written = await this.#input.write(data, anySignal([signal, AbortSignal.timeout(inputMs)]));
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

  /** Signals the process and its descendants, also descendants that outlive it. */
  kill(signal: NodeJS.Signals): void {
    const { commands } = this.#options;
    if (this.exitCode === undefined) commands.signal(this.#started.command, signal);
    else commands.signalLeftovers(this.#started.command, signal);
  }
}
