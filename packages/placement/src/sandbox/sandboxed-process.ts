import type { StandardPipes } from "./forkable/pipes.ts";
import type { Exit } from "../boxes/box.ts";
import { killStrays } from "../boxes/strays.ts";
import { identityOf, isRunning, type ProcessIdentity } from "../host/process-table.ts";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync } from "node:fs";
import type { Duplex, Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

/** Of bubblewrap; the channel is for the program. */
export const sandboxDescriptors = { info: 3, filter: 4, options: 5, channel: 6 } as const;

/** Milliseconds for the last processes to end after the first was killed. */
const lingerMs = 2_000;

export interface SandboxedCommand {
  readonly command: readonly [program: string, ...rest: string[]];
  readonly options: Buffer;
  readonly filter: Buffer | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly sessionDir: string;
  readonly hasChannel: boolean;
  /** In place of sockets that Node would create. */
  readonly streams?: StandardPipes;
}

interface Pipes {
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly channel: Duplex | undefined;
}

export class SandboxedProcess {
  readonly pid: number;
  readonly pipes: Pipes;
  readonly gone: Promise<Exit>;
  /** Settles when bubblewrap has reported its first process. */
  readonly reported: Promise<void>;
  readonly #child: ChildProcess;
  readonly #sessionDir: string;
  #first: ProcessIdentity | undefined;

  constructor(
    child: ChildProcess,
    pid: number,
    parts: {
      readonly pipes: Pipes;
      readonly sessionDir: string;
      /** The first process inside. */
      readonly first: Promise<number | undefined>;
    },
  ) {
    this.pid = pid;
    this.pipes = parts.pipes;
    this.#child = child;
    this.#sessionDir = parts.sessionDir;
    this.reported = parts.first.then((found) => {
      this.#first = found === undefined ? undefined : identityOf(found);
    });
    const exited = new Promise<Exit>((resolve) => {
      child.once("exit", (code, signal) => {
        resolve({ code, signal });
      });
    });
    this.gone = this.#follow(exited);
  }

  get firstInside(): number | undefined {
    return this.#first?.pid;
  }

  /**
   * If bubblewrap was killed, the kernel needs a moment to kill the other processes. Those of a forkable box do not end
   * with it, nor copies with CRIU.
   */
  async #follow(exited: Promise<Exit>): Promise<Exit> {
    const exit = await exited;
    await this.reported;
    // Killed early, bubblewrap may leave its first process waiting forever.
    if (this.#first === undefined) await killStrays(this.#sessionDir);
    else killIfRunning(this.#first);
    const deadlineMs = performance.now() + lingerMs;
    while (this.#first !== undefined && isRunning(this.#first) && performance.now() < deadlineMs) await sleep(2);
    return exit;
  }

  kill(): void {
    const child = this.#child;
    if (child.exitCode !== null || child.signalCode !== null) return;
    // This ends all processes of the namespace, and bubblewrap waits for them.
    if (this.#first !== undefined && isRunning(this.#first)) killIfRunning(this.#first);
    else child.kill("SIGKILL");
  }
}

function killIfRunning(first: ProcessIdentity): void {
  try {
    if (isRunning(first)) process.kill(first.pid, "SIGKILL");
  } catch {
    // It has just ended.
  }
}

export async function startSandboxed(sandboxed: SandboxedCommand): Promise<SandboxedProcess> {
  const [program, ...rest] = sandboxed.command;
  const child = spawn(program, rest, {
    cwd: "/",
    // A separate group does not receive a terminal's Ctrl-C: the service ends its sessions itself.
    detached: true,
    stdio: [
      ...(sandboxed.streams?.inside ?? (["pipe", "pipe", "pipe"] as const)),
      ...["pipe" as const, "pipe" as const, "pipe" as const, ...(sandboxed.hasChannel ? (["pipe"] as const) : [])],
    ],
    env: sandboxed.env,
  });
  for (const descriptor of sandboxed.streams?.inside ?? []) closeSync(descriptor);
  if (child.pid === undefined) {
    const reason: unknown = await once(child, "error").then(([error]: unknown[]) => error);
    throw new Error(`Cannot start bubblewrap (${program}).`, { cause: reason });
  }
  // Node's types cover three pipes.
  const [first, second, third, info, filter, options, channel] = child.stdio as unknown as readonly [
    Writable | null,
    Readable | null,
    Readable | null,
    Readable,
    Writable,
    Writable,
    Duplex | undefined,
  ];
  const stdin = first ?? sandboxed.streams?.stdin;
  const stdout = second ?? sandboxed.streams?.stdout;
  const stderr = third ?? sandboxed.streams?.stderr;
  if (stdout === undefined || stderr === undefined) throw new Error("Bubblewrap has no standard streams.");
  for (const pipe of [stdin, filter, options, channel]) pipe?.on("error", () => undefined);
  child.on("error", () => undefined);
  filter.end(sandboxed.filter);
  options.end(sandboxed.options);
  return new SandboxedProcess(child, child.pid, {
    pipes: { stdout, stderr, channel },
    sessionDir: sandboxed.sessionDir,
    first: readChildPid(info),
  });
}

/** Starts processes from images. @param firstOf - is called with the end of the program, which waits for them. */
export async function startRestored(
  [program, ...rest]: readonly [program: string, ...rest: string[]],
  { sessionDir, streams }: { readonly sessionDir: string; readonly streams: StandardPipes },
  firstOf: (ended: Promise<unknown>) => Promise<number>,
): Promise<SandboxedProcess> {
  const { inside, stderr, stdout } = streams;
  const child = spawn(program, rest, { cwd: "/", detached: true, stdio: [...inside], env: { PATH: toolPath } });
  for (const descriptor of inside) closeSync(descriptor);
  if (child.pid === undefined) {
    const reason: unknown = await once(child, "error").then(([error]: unknown[]) => error);
    throw new Error(`Cannot start ${program}.`, { cause: reason });
  }
  child.on("error", () => undefined);
  const restored = firstOf(new Promise((resolve) => child.once("exit", resolve)));
  const first = restored.catch(() => undefined);
  const sandboxed = new SandboxedProcess(child, child.pid, {
    pipes: { stdout, stderr, channel: undefined },
    ...{ sessionDir, first },
  });
  try {
    await restored;
    return sandboxed;
  } catch (error) {
    sandboxed.kill();
    await sandboxed.gone;
    throw error;
  }
}

const toolPath = "/usr/sbin:/usr/bin:/sbin:/bin";

async function readChildPid(info: Readable): Promise<number | undefined> {
  try {
    const parsed: unknown = JSON.parse(await text(info));
    return typeof parsed === "object" && parsed !== null && "child-pid" in parsed
      ? Number(parsed["child-pid"])
      : undefined;
  } catch {
    return undefined;
  }
}
