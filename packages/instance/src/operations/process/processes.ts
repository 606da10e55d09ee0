import type { Page } from "@shoal/contract";
import { ServiceError } from "@shoal/router";
import type { ExecResult, ListedProcess, SpawnedProcess, SpawnProcess } from "@shoal/schemas";
import { randomUUID } from "node:crypto";
import { invalidInput } from "../fs/errors.ts";
import { startPiped } from "./children/piped-child.ts";
import type { CommandSurroundings } from "./command.ts";
import { Execution } from "./execution.ts";
import type { ProcessLimits } from "./limits.ts";
import { NamedProcess } from "./named-process.ts";
import { ProcessOutput, type SharedOutput } from "./output.ts";
import { readProcesses } from "./tracking/process-entries.ts";
import {
  type Launch,
  RunningCommands,
  type RunningCommandsOptions,
  type StartedChild,
  type TimedRequest,
} from "./tracking/running-commands.ts";

export type SpawnRequest = TimedRequest & Pick<SpawnProcess, "allocate_tty" | "rows" | "cols">;

export interface ProcessesOptions extends Pick<RunningCommandsOptions, "onStarted" | "inSession"> {
  readonly limits: ProcessLimits;
}

const maxListedCharacters = 200;

export class Processes {
  readonly #limits: ProcessLimits;
  readonly #commands: RunningCommands;
  readonly #named = new Map<string, NamedProcess>();
  readonly #shared: SharedOutput;
  /** Descriptors of terminals, which other programs must not inherit. */
  readonly #terminals = new Set<number>();

  constructor(surroundings: CommandSurroundings, { limits, onStarted, inSession }: ProcessesOptions) {
    this.#limits = limits;
    this.#commands = new RunningCommands(surroundings, { limit: limits.running, onStarted, inSession });
    this.#shared = { bytes: 0, maxBytes: limits.outputBytesPerSession, ended: new Set() };
  }

  get running(): number {
    return this.#commands.count;
  }

  exec(request: TimedRequest, signal: AbortSignal): Promise<ExecResult> {
    const launch: Launch = (command, events) => startPiped(command, events, { input: false, hidden: this.#terminals });
    return new Execution({ commands: this.#commands, launch, maxBytes: this.#limits.execBytes }).run(request, signal);
  }

  async spawn(request: SpawnRequest): Promise<SpawnedProcess> {
    this.#checkSpawn(request);
    const process_id = randomUUID();
    const output = new ProcessOutput(this.#limits, this.#shared);
    const exit: { code: number | undefined } = { code: undefined };
    const startedAt = new Date();
    const started: StartedChild = await this.#commands.start(
      request,
      {
        onOutput(channel, chunk) {
          output.push(channel, chunk);
        },
        onExit(code) {
          exit.code = code;
        },
        onEnd: () => {
          if (started.child.terminalFd !== undefined) this.#terminals.delete(started.child.terminalFd);
          output.finish(exit.code ?? 0);
        },
      },
      this.#launcherFor(request),
    );
    const { child } = started;
    if (child.terminalFd !== undefined) this.#terminals.add(child.terminalFd);
    output.start(child);
    this.#named.set(
      process_id,
      new NamedProcess(started, {
        command: commandLine(request),
        startedAt,
        output,
        exit,
        commands: this.#commands,
        limits: this.#limits,
      }),
    );
    return { process_id, pid: child.pid, started_at: startedAt.toISOString() };
  }

  #checkSpawn({ allocate_tty = false, cols, rows }: SpawnRequest): void {
    if (!allocate_tty && (cols !== undefined || rows !== undefined))
      throw invalidInput(
        cols === undefined ? "body.rows" : "body.cols",
        "needs allocate_tty: only a terminal has a size",
      );
    if (this.#named.size >= this.#limits.handles) {
      throw new ServiceError(
        429,
        "too_many_processes",
        `The session has started ${this.#limits.handles} processes, the limit.`,
        {
          limit: this.#limits.handles,
          hint: "Run short commands with browsers.process.exec, or continue in another session.",
        },
      );
    }
  }

  #launcherFor({ allocate_tty = false, cols, rows }: SpawnRequest): Launch {
    if (!allocate_tty)
      return (command, events) => startPiped(command, events, { input: true, hidden: this.#terminals });
    return async (command, events) => {
      // Loaded on first use: few sessions have terminals.
      const { startInTerminal } = await import("./children/terminal-child.ts");
      return startInTerminal(command, events, { columns: cols ?? 80, rows: rows ?? 24 });
    };
  }

  /** Running processes first, and then the newest first. */
  list({ limit, offset }: { readonly limit: number; readonly offset: number }): Page<ListedProcess> {
    const newestFirst = [...this.#named].reverse();
    const found = [
      ...newestFirst.filter(([, { exitCode }]) => exitCode === undefined),
      ...newestFirst.filter(([, { exitCode }]) => exitCode !== undefined),
    ];
    const all = process.platform === "linux" ? readProcesses() : undefined;
    const hasMore = found.length > offset + limit;
    return {
      items: found.slice(offset, offset + limit).map(([process_id, listed]) => ({ process_id, ...listed.listed(all) })),
      hasMore,
      nextOffset: hasMore ? offset + limit : undefined,
    };
  }

  find(id: string): NamedProcess {
    const found = this.#named.get(id);
    if (found === undefined)
      throw new ServiceError(404, "not_found", `Process ${id} was not found.`, {
        hint: "Start one with browsers.process.spawn, which returns its id.",
      });
    return found;
  }

  /** Kills all processes. Readers get the remaining output and the end. */
  close(): Promise<void> {
    return this.#commands.close();
  }
}

function commandLine({ args = [], command }: SpawnRequest): string {
  let line = command;
  for (const arg of args) {
    if (line.length > maxListedCharacters) break;
    line += ` ${arg.slice(0, maxListedCharacters)}`;
  }
  return line.slice(0, maxListedCharacters).toWellFormed();
}
