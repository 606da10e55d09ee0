import { ServiceError } from "@shoal/router";
import type { ExecResult, ProcessStatus, SpawnedProcess, SpawnProcess } from "@shoal/schemas";
import { randomUUID } from "node:crypto";
import { stat } from "node:fs/promises";
import { hasCode, invalidInput } from "../fs/errors.ts";
import { type Command, type CommandRequest, type CommandSurroundings, findCommand } from "./command.ts";
import type { ProcessLimits } from "./limits.ts";
import { ProcessInput } from "./process-input.ts";
import { ProcessOutput, type SharedOutput } from "./output.ts";
import { startPiped } from "./piped-child.ts";
import { commandMark, type InSession, type StartedCommand } from "./escaped-processes.ts";
import { readProcess } from "./process-entries.ts";
import { signalLeftovers, signalTree, usageOf } from "./process-tree.ts";
import type { ChildEvents, RunningChild } from "./running-child.ts";

/** A process that has a name. */
export interface NamedProcess {
  readonly output: ProcessOutput;
  /** `undefined` while it runs. */
  readonly exitCode: number | undefined;
  status(): Promise<ProcessStatus>;
  /**
   * Writes to its input and, after all of it, closes that.
   *
   * @returns bytes that were written: fewer than there are when it did not read them in time, or the signal aborted; nothing is closed then.
   * @throws {ServiceError} 409 when it reads no more, 429 when too much waits.
   */
  write(data: Buffer, options: { readonly close: boolean; readonly signal: AbortSignal }): Promise<number>;
  /** Signals it and all that it started; of one that has ended, what it left running. */
  kill(signal: NodeJS.Signals): void;
  /** `undefined` without a terminal. */
  readonly resize: ((columns: number, rows: number) => void) | undefined;
}

/** All processes of one session. */
export interface Processes {
  exec(request: ExecRequest, signal: AbortSignal): Promise<ExecResult>;
  spawn(request: SpawnRequest): Promise<SpawnedProcess>;
  /** @throws {ServiceError} 404. */
  find(id: string): NamedProcess;
  /** Kills all of them; readers get what was written, and the end. */
  close(): Promise<void>;
}

export type ExecRequest = CommandRequest & { readonly timeout_sec?: number | null | undefined };
export type SpawnRequest = ExecRequest & Pick<SpawnProcess, "allocate_tty" | "rows" | "cols">;

/** What the processes of a session are started with. */
export interface ProcessesOptions {
  readonly limits: ProcessLimits;
  /** Told of every process that was started, before anything else can happen to it. */
  readonly onStarted: (pid: number) => void;
  readonly inSession: InSession;
}

/** A program that runs, and how all that it has started is found. */
interface StartedChild {
  readonly child: RunningChild;
  readonly command: StartedCommand;
}

/** A usage that is younger than this is told again: the time between two is too short to tell a share. */
const freshMs = 100;

export function createProcesses(surroundings: CommandSurroundings, { limits, onStarted, inSession }: ProcessesOptions): Processes {
  const named = new Map<string, NamedProcess>();
  const running = new Set<{ readonly command: StartedCommand; readonly ended: Promise<void> }>();
  const shared: SharedOutput = { bytes: 0, maxBytes: limits.outputBytesPerSession, ended: new Set() };
  const terminals = new Set<number>();
  let starting = 0;
  let closed = false;
  let threads: Promise<unknown> | undefined;

  /** Starts a program and counts it until it has ended. */
  async function start(
    request: ExecRequest,
    events: ChildEvents,
    launch: (command: Command, events: ChildEvents) => Promise<RunningChild>,
  ): Promise<StartedChild> {
    if (closed) throw shuttingDown();
    if (running.size + starting >= limits.running) {
      throw new ServiceError(
        429,
        "too_many_processes",
        `The session runs ${limits.running} processes, the most it can. End one with browsers.process.kill, or wait for one to end.`,
      );
    }
    starting++;
    try {
      // Node starts its threads for files at the first use of one, and aborts when it cannot: commands may leave no room for them.
      threads ??= stat(surroundings.root.directory).catch(() => undefined);
      await threads;
      const found = await findCommand(request, surroundings);
      const mark = randomUUID();
      const ended = Promise.withResolvers<void>();
      const marked = { ...found, env: { ...found.env, [commandMark]: mark } };
      const child = await launch(marked, {
        ...events,
        onExit(exitCode) {
          running.delete(entry);
          clearTimeout(timer);
          events.onExit(exitCode);
          ended.resolve();
        },
      }).catch((error: unknown) => {
        throw startError(error, found);
      });
      onStarted(child.pid);
      const command = { pid: child.pid, mark, startTicks: startTicksOf(child.pid) };
      const entry = { command, ended: ended.promise };
      running.add(entry);
      const timer =
        request.timeout_sec == null ? undefined : setTimeout(signalTree, request.timeout_sec * 1000, command, "SIGKILL", inSession).unref();
      if (isTrue(closed)) signalTree(command, "SIGKILL", inSession);
      return { child, command };
    } finally {
      starting--;
    }
  }

  async function exec(request: ExecRequest, signal: AbortSignal): Promise<ExecResult> {
    const chunks = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
    const end = Promise.withResolvers<void>();
    let bytes = 0;
    let exitCode = 0;
    let exitedMs = 0;
    let tooLong = false;
    let isCut = false;
    const kill = (): void => {
      if (exitedMs === 0) signalTree(command, "SIGKILL", inSession);
    };
    const cut = (): void => {
      isCut = exitedMs === 0;
      kill();
    };
    const events: ChildEvents = {
      onOutput(channel, chunk) {
        bytes += chunk.length;
        if (bytes <= limits.execBytes) chunks[channel].push(chunk);
        else if (!tooLong) {
          tooLong = true;
          kill();
        }
      },
      onExit(code) {
        exitCode = code;
        exitedMs = performance.now();
      },
      onEnd: end.resolve,
    };
    const startedMs = performance.now();
    const { command } = await start(request, events, (found, told) => startPiped(found, told, { input: false, hidden: terminals }));
    signal.addEventListener("abort", cut);
    if (signal.aborted) cut();
    await end.promise;
    signal.removeEventListener("abort", cut);
    if (isTrue(isCut)) signal.throwIfAborted();
    if (isTrue(tooLong)) {
      throw new ServiceError(
        413,
        "payload_too_large",
        `The command was killed: it wrote more than ${limits.execBytes / 2 ** 20} MiB, the most that browsers.process.exec takes. Start it with browsers.process.spawn and follow its output, or have it write to a file.`,
      );
    }
    const durationMs = exitedMs - startedMs;
    return {
      exit_code: exitCode,
      stdout_b64: Buffer.concat(chunks.stdout).toString("base64"),
      stderr_b64: Buffer.concat(chunks.stderr).toString("base64"),
      duration_ms: Math.round(durationMs),
      ...(request.timeout_sec != null && exitCode === 137 && durationMs >= request.timeout_sec * 1000 && { timed_out: true }),
    };
  }

  async function spawn(request: SpawnRequest): Promise<SpawnedProcess> {
    const { allocate_tty = false, cols, rows } = request;
    if (!allocate_tty && (cols !== undefined || rows !== undefined))
      throw invalidInput(cols === undefined ? "body.rows" : "body.cols", "needs allocate_tty: only a terminal has a size");
    if (named.size >= limits.handles) {
      throw new ServiceError(
        429,
        "too_many_processes",
        `The session has started ${limits.handles} processes, the most that it can name. Run short commands with browsers.process.exec, or go on in another session.`,
      );
    }
    const process_id = randomUUID();
    const output = new ProcessOutput(limits, shared);
    const sampler = createSampler();
    let exitCode: number | undefined;
    let waitingBytes = 0;
    const events: ChildEvents = {
      onOutput(channel, chunk) {
        output.push(channel, chunk);
      },
      onExit(code) {
        exitCode = code;
      },
      onEnd() {
        if (child.terminalFd !== undefined) terminals.delete(child.terminalFd);
        output.finish(exitCode ?? 0);
      },
    };
    const startedAt = new Date();
    const { child, command } = await start(request, events, async (found, told) => {
      if (!allocate_tty) return startPiped(found, told, { input: true, hidden: terminals });
      // Loaded by the first terminal: few sessions have one.
      const { startInTerminal } = await import("./terminal-child.ts");
      return startInTerminal(found, told, { columns: cols ?? 80, rows: rows ?? 24 });
    });
    if (child.terminalFd !== undefined) terminals.add(child.terminalFd);
    output.start(child);
    const input = new ProcessInput((data) => child.write(data));
    named.set(process_id, {
      output,
      get exitCode() {
        return exitCode;
      },
      async status() {
        if (exitCode !== undefined) return { state: "exited", exit_code: exitCode, cpu_pct: 0, mem_bytes: 0 };
        const usage = await sampler(child.pid);
        return { state: "running", exit_code: null, ...usage };
      },
      async write(data, { close, signal }) {
        const gone = () =>
          new ServiceError(
            409,
            "process_ended",
            exitCode === undefined
              ? "The process has closed its standard input, or it was closed before."
              : `The process has ended with exit code ${String(exitCode)}.`,
          );
        if (exitCode !== undefined) throw gone();
        if (waitingBytes + data.length > limits.inputBytes) {
          throw new ServiceError(
            429,
            "too_many_requests",
            `The process has not read ${waitingBytes} bytes of its input yet, and at most ${limits.inputBytes} may wait. Send more when it reads.`,
          );
        }
        waitingBytes += data.length;
        let written: number;
        try {
          written = await input.write(data, AbortSignal.any([signal, AbortSignal.timeout(limits.inputMs)]));
        } catch {
          throw gone();
        } finally {
          waitingBytes -= data.length;
        }
        if (close && written === data.length) child.closeInput();
        return written;
      },
      kill(signal) {
        if (exitCode === undefined) signalTree(command, signal, inSession);
        else signalLeftovers(command, signal, inSession);
      },
      resize: child.resize,
    });
    return { process_id, pid: child.pid, started_at: startedAt.toISOString() };
  }

  return {
    exec,
    spawn,
    find(id) {
      const found = named.get(id);
      if (found === undefined)
        throw new ServiceError(404, "not_found", `Process ${id} was not found. Start one with browsers.process.spawn, which names it.`);
      return found;
    },
    async close() {
      closed = true;
      const all = [...running];
      for (const { command } of all) signalTree(command, "SIGKILL", inSession);
      await Promise.all(all.map(({ ended }) => ended));
    },
  };
}

/** Tells what a process uses: its share of a processor since the last look, or since its start. */
function createSampler(): (pid: number) => Promise<Pick<ProcessStatus, "cpu_pct" | "mem_bytes">> {
  let last = { atMs: performance.now(), cpuMs: 0 };
  let share: number | undefined;
  return async (pid) => {
    const usage = await usageOf(pid);
    if (usage === undefined) return {};
    const now = performance.now();
    const elapsedMs = now - last.atMs;
    if (share === undefined || elapsedMs >= freshMs) {
      // What a child of a child used is counted when it ends, and may have been counted while it ran.
      share = Math.round((Math.max(0, usage.cpuMs - last.cpuMs) / Math.max(1, elapsedMs)) * 1000) / 10;
      last = { atMs: now, cpuMs: usage.cpuMs };
    }
    return { cpu_pct: share, mem_bytes: usage.memoryBytes };
  };
}

/** The process is a child of this one that has not been waited for yet, so the number is its own. */
function startTicksOf(pid: number): number {
  return process.platform === "linux" ? (readProcess(pid)?.startTicks ?? 0) : 0;
}

function startError(error: unknown, { file }: Command): unknown {
  if (ServiceError.isInstance(error)) return error;
  const what = (reason: string) => invalidInput("body.command", `${file} cannot be started: ${reason}`);
  if (hasCode(error, "EAGAIN", "EMFILE", "ENFILE", "ENOMEM"))
    return new ServiceError(
      429,
      "too_many_processes",
      `${file} cannot be started: the session has as many processes and threads, or as much memory, as it may have. End some of its processes.`,
      { cause: error },
    );
  if (hasCode(error, "E2BIG")) return what("its arguments and environment are longer than the system takes together.");
  if (hasCode(error, "EACCES", "EPERM")) return what("the operating system does not permit it.");
  if (hasCode(error, "ENOENT", "ENOEXEC", "ENOTDIR")) return what("it is no program that this system can run, or its interpreter does not exist.");
  return error;
}

function shuttingDown(): ServiceError {
  return new ServiceError(503, "shutting_down", "The session is ending; nothing can be started in it any more.");
}

/** As a function, for the compiler takes what it saw before an `await` for what holds after it. */
function isTrue(value: boolean): boolean {
  return value;
}
