import type { Exit } from "../boxes/box.ts";
import { killStrays } from "../boxes/strays.ts";
import { parentOf } from "../host/process-table.ts";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
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
}

interface Pipes {
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly info: Readable;
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
  #firstInside: number | undefined;

  constructor(child: ChildProcess, pid: number, parts: { readonly pipes: Pipes; readonly sessionDir: string }) {
    this.pid = pid;
    this.pipes = parts.pipes;
    this.#child = child;
    this.#sessionDir = parts.sessionDir;
    this.reported = readChildPid(parts.pipes.info).then((found) => {
      this.#firstInside = found;
    });
    const exited = new Promise<Exit>((resolve) => {
      child.once("exit", (code, signal) => {
        resolve({ code, signal });
      });
    });
    this.gone = this.#follow(exited);
  }

  get firstInside(): number | undefined {
    return this.#firstInside;
  }

  /** If bubblewrap was killed, the kernel needs a moment to kill the other processes. */
  async #follow(exited: Promise<Exit>): Promise<Exit> {
    const exit = await exited;
    await this.reported;
    // Killed early, bubblewrap may leave its first process waiting forever.
    if (this.#firstInside === undefined) await killStrays(this.#sessionDir);
    const deadlineMs = performance.now() + lingerMs;
    while (
      this.#firstInside !== undefined &&
      parentOf(this.#firstInside) !== undefined &&
      performance.now() < deadlineMs
    )
      await sleep(2);
    return exit;
  }

  kill(): void {
    const child = this.#child;
    if (child.exitCode !== null || child.signalCode !== null) return;
    try {
      // This ends all processes of the namespace, and bubblewrap waits for them.
      if (this.#firstInside !== undefined && parentOf(this.#firstInside) === this.pid)
        process.kill(this.#firstInside, "SIGKILL");
      else child.kill("SIGKILL");
    } catch {
      // It has just ended.
    }
  }
}

export async function startSandboxed(sandboxed: SandboxedCommand): Promise<SandboxedProcess> {
  const [program, ...rest] = sandboxed.command;
  const child = spawn(program, rest, {
    cwd: "/",
    // A separate group does not receive a terminal's Ctrl-C: the service ends its sessions itself.
    detached: true,
    stdio: ["pipe", "pipe", "pipe", "pipe", "pipe", "pipe", ...(sandboxed.hasChannel ? (["pipe"] as const) : [])],
    env: sandboxed.env,
  });
  if (child.pid === undefined) {
    const reason: unknown = await once(child, "error").then(([error]: unknown[]) => error);
    throw new Error(`Cannot start bubblewrap (${program}).`, { cause: reason });
  }
  // Node's types cover three pipes.
  const [stdin, stdout, stderr, info, filter, options, channel] = child.stdio as unknown as readonly [
    Writable,
    Readable,
    Readable,
    Readable,
    Writable,
    Writable,
    Duplex | undefined,
  ];
  for (const pipe of [stdin, filter, options, channel]) pipe?.on("error", () => undefined);
  child.on("error", () => undefined);
  filter.end(sandboxed.filter);
  options.end(sandboxed.options);
  return new SandboxedProcess(child, child.pid, {
    pipes: { stdout, stderr, info, channel },
    sessionDir: sandboxed.sessionDir,
  });
}

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
