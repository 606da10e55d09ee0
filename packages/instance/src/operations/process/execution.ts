import { ServiceError } from "@shoal/router";
import type { ExecResult } from "@shoal/schemas";
import type { ChildEvents } from "./tracking/running-child.ts";
import type { StartedCommand } from "./tracking/escaped-processes.ts";
import type { Launch, RunningCommands, TimedRequest } from "./tracking/running-commands.ts";

export interface ExecutionOptions {
  readonly commands: RunningCommands;
  readonly launch: Launch;
  /** Maximum size of both outputs together; the command is killed above it. */
  readonly maxBytes: number;
}

export class Execution implements ChildEvents {
  readonly #options: ExecutionOptions;
  readonly #chunks = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  readonly #end = Promise.withResolvers<void>();
  #command: StartedCommand | undefined;
  #bytes = 0;
  #exitCode = 0;
  #exitedMs = 0;
  #isTooLong = false;
  #isCut = false;

  constructor(options: ExecutionOptions) {
    this.#options = options;
  }

  /** Aborting `signal` kills the command. */
  async run(request: TimedRequest, signal: AbortSignal): Promise<ExecResult> {
    const startedMs = performance.now();
    const { command } = await this.#options.commands.start(request, this, this.#options.launch);
    this.#command = command;
    signal.addEventListener("abort", this.#cut);
    if (signal.aborted) this.#cut();
    await this.#end.promise;
    signal.removeEventListener("abort", this.#cut);
    if (this.#isCut) signal.throwIfAborted();
    if (this.#isTooLong) throw this.#tooLong();
    return this.#result(this.#exitedMs - startedMs, request.timeout_sec);
  }

  readonly onOutput: ChildEvents["onOutput"] = (channel, chunk) => {
    this.#bytes += chunk.length;
    if (this.#bytes <= this.#options.maxBytes) this.#chunks[channel].push(chunk);
    else if (!this.#isTooLong) {
      this.#isTooLong = true;
      this.#kill();
    }
  };

  readonly onExit: ChildEvents["onExit"] = (code) => {
    this.#exitCode = code;
    this.#exitedMs = performance.now();
  };

  readonly onEnd: ChildEvents["onEnd"] = () => {
    this.#end.resolve();
  };

  readonly #cut = (): void => {
    this.#isCut = this.#exitedMs === 0;
    this.#kill();
  };

  #kill(): void {
    if (this.#exitedMs === 0 && this.#command !== undefined) this.#options.commands.kill(this.#command);
  }

  #tooLong(): ServiceError {
    return new ServiceError(
      413,
      "payload_too_large",
      `The command was killed: it wrote more than ${this.#options.maxBytes / 2 ** 20} MiB, the limit of browsers.process.exec.`,
      {
        limit: this.#options.maxBytes,
        hint: "Start it with browsers.process.spawn and follow its output, or redirect it to a file.",
      },
    );
  }

  #result(durationMs: number, timeoutSeconds: number | null | undefined): ExecResult {
    const isTimedOut =
      timeoutSeconds != null && timeoutSeconds > 0 && this.#exitCode === 137 && durationMs >= timeoutSeconds * 1000;
    return {
      exit_code: this.#exitCode,
      stdout_b64: Buffer.concat(this.#chunks.stdout).toString("base64"),
      stderr_b64: Buffer.concat(this.#chunks.stderr).toString("base64"),
      duration_ms: Math.round(durationMs),
      ...(isTimedOut && { timed_out: true }),
    };
  }
}
