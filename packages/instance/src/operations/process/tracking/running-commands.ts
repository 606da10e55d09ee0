import { hasCode } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import { randomUUID } from "node:crypto";
import { stat } from "node:fs/promises";
import { invalidInput } from "../../fs/errors.ts";
import type { ChildEvents, RunningChild } from "./running-child.ts";
import { type Command, type CommandRequest, type CommandSurroundings, findCommand } from "../command.ts";
import { commandMark, type InSession, type StartedCommand } from "./escaped-processes.ts";
import { readProcess } from "./process-entries.ts";
import { signalLeftovers, signalTree } from "./process-tree.ts";

export interface StartedChild {
  readonly child: RunningChild;
  readonly command: StartedCommand;
}

export type Launch = (command: Command, events: ChildEvents) => Promise<RunningChild>;
export type TimedRequest = CommandRequest & { readonly timeout_sec?: number | null | undefined };

export interface RunningCommandsOptions {
  readonly limit: number;
  /** Called for each new process before anything else happens to it. */
  readonly onStarted: (pid: number) => void;
  readonly inSession: InSession;
}

export class RunningCommands {
  readonly #surroundings: CommandSurroundings;
  readonly #options: RunningCommandsOptions;
  readonly #running = new Set<{ readonly command: StartedCommand; readonly ended: Promise<void> }>();
  #starting = 0;
  #closed = false;
  #threads: Promise<unknown> | undefined;

  constructor(surroundings: CommandSurroundings, options: RunningCommandsOptions) {
    this.#surroundings = surroundings;
    this.#options = options;
  }

  get count(): number {
    return this.#running.size + this.#starting;
  }

  /** @throws {ServiceError} 400 for an invalid command, 429 at a limit, 503 when the session ends. */
  async start(request: TimedRequest, events: ChildEvents, launch: Launch): Promise<StartedChild> {
    if (this.#closed)
      throw new ServiceError(503, "shutting_down", "The session is ending; nothing can be started in it any more.");
    const { limit } = this.#options;
    if (this.count >= limit) {
      throw new ServiceError(429, "too_many_processes", `The session runs ${limit} processes, the limit.`, {
        limit,
        hint: "End one with browsers.process.kill, or wait for one to end.",
      });
    }
    this.#starting++;
    try {
      // Node starts its file threads on first use, and aborts when commands have used up the limit.
      this.#threads ??= stat(this.#surroundings.root.directory).catch(() => undefined);
      await this.#threads;
      return await this.#launch(request, events, launch);
    } finally {
      this.#starting--;
    }
  }

  async #launch(request: TimedRequest, events: ChildEvents, launch: Launch): Promise<StartedChild> {
    const found = await findCommand(request, this.#surroundings);
    const mark = randomUUID();
    const ended = Promise.withResolvers<void>();
    const marked = { ...found, env: { ...found.env, [commandMark]: mark } };
    const child = await launch(marked, {
      ...events,
      onExit: (exitCode) => {
        this.#running.delete(entry);
        clearTimeout(timer);
        events.onExit(exitCode);
        ended.resolve();
      },
    }).catch((error: unknown) => {
      throw startError(error, found);
    });
    this.#options.onStarted(child.pid);
    const command = { pid: child.pid, mark, startTicks: startTicksOf(child.pid) };
    const entry = { command, ended: ended.promise };
    this.#running.add(entry);
    const timer = this.#killAfter(command, request.timeout_sec);
    if (this.#closed) this.kill(command);
    return { child, command };
  }

  #killAfter(command: StartedCommand, seconds: number | null | undefined): NodeJS.Timeout | undefined {
    if (seconds == null || seconds === 0) return undefined;
    return setTimeout(() => {
      this.kill(command);
    }, seconds * 1000).unref();
  }

  kill(command: StartedCommand): void {
    this.signal(command, "SIGKILL");
  }

  signal(command: StartedCommand, signal: NodeJS.Signals): void {
    signalTree(command, signal, this.#options.inSession);
  }

  signalLeftovers(command: StartedCommand, signal: NodeJS.Signals): void {
    signalLeftovers(command, signal, this.#options.inSession);
  }

  /** Kills all commands; resolves when they have ended. */
  async close(): Promise<void> {
    this.#closed = true;
    const all = [...this.#running];
    for (const { command } of all) this.kill(command);
    await Promise.all(all.map(({ ended }) => ended));
  }
}

/** The process is an unreaped child, so its id is not reused. */
function startTicksOf(pid: number): number {
  return process.platform === "linux" ? (readProcess(pid)?.startTicks ?? 0) : 0;
}

function startError(error: unknown, { file }: Command): unknown {
  if (ServiceError.isInstance(error)) return error;
  const refused = (reason: string) => invalidInput("body.command", `${file} cannot be started: ${reason}`);
  if (hasCode(error, "EAGAIN", "EMFILE", "ENFILE", "ENOMEM"))
    return new ServiceError(
      429,
      "too_many_processes",
      `${file} cannot be started: the session has reached its limit of processes, threads or memory.`,
      { hint: "End some of its processes.", cause: error },
    );
  if (hasCode(error, "E2BIG"))
    return refused("its arguments and environment are longer than the system takes together.");
  if (hasCode(error, "EACCES", "EPERM")) return refused("the operating system does not permit it.");
  if (hasCode(error, "ENOENT", "ENOEXEC", "ENOTDIR"))
    return refused("it is not a program for this system, or its interpreter does not exist.");
  return error;
}
