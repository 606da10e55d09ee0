import { type ChildProcess, spawn, type StdioOptions } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { constants, devNull } from "node:os";
import type { Readable, Writable } from "node:stream";
import type { Command } from "../command.ts";
import { OutputEnd } from "./output-end.ts";
import type { ChildEvents, RunningChild } from "../tracking/running-child.ts";

export interface PipedOptions {
  readonly input: boolean;
  readonly hidden: ReadonlySet<number>;
}

/** @param options.hidden - descriptors of terminals, which the program must not inherit. */
export async function startPiped(command: Command, events: ChildEvents, options: PipedOptions): Promise<RunningChild> {
  const child = spawnPiped(command, options);
  const { pid, stdin, stdout, stderr } = child;
  if (pid === undefined || stdout === null || stderr === null)
    throw await new Promise((resolve) => child.once("error", resolve));
  child.on("error", () => undefined);
  const running = new PipedChild({ pid, stdin, stdout, stderr }, events);
  child.once("exit", (code, signal) => {
    running.exited(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
  });
  return running;
}

function spawnPiped({ file, args, cwd, env, uid, gid }: Command, { input, hidden }: PipedOptions): ChildProcess {
  // "ignore" would leave an inherited descriptor open; another descriptor in its place hides it.
  const cover = hidden.size === 0 ? undefined : openSync(devNull, "r");
  const covers = Array.from({ length: Math.max(2, ...hidden) - 2 }, (_, index) =>
    hidden.has(index + 3) ? cover : ("ignore" as const),
  );
  const stdio: StdioOptions = [input ? "pipe" : "ignore", "pipe", "pipe", ...covers];
  try {
    return spawn(file, args, {
      cwd,
      env,
      detached: process.platform !== "win32",
      stdio,
      windowsHide: true,
      ...(uid !== undefined && { uid }),
      ...(gid !== undefined && { gid }),
    });
  } finally {
    // `spawn` throws if the arguments are too long.
    if (cover !== undefined) closeSync(cover);
  }
}

interface Pipes {
  readonly pid: number;
  readonly stdin: Writable | null;
  readonly stdout: Readable;
  readonly stderr: Readable;
}

class PipedChild implements RunningChild {
  readonly pid: number;
  readonly #stdin: Writable | null;
  readonly #events: ChildEvents;
  readonly #open: Set<Readable>;
  readonly #end: OutputEnd;

  constructor({ pid, stdin, stdout, stderr }: Pipes, events: ChildEvents) {
    this.pid = pid;
    this.#stdin = stdin;
    this.#events = events;
    this.#open = new Set([stdout, stderr]);
    this.#end = new OutputEnd(this.#open.size, () => {
      this.#ended();
    });
    // The next write reports a broken pipe.
    stdin?.on("error", () => undefined);
    this.#follow("stdout", stdout);
    this.#follow("stderr", stderr);
  }

  #follow(channel: "stdout" | "stderr", stream: Readable): void {
    stream.on("data", (chunk: Buffer) => {
      if (this.#end.over) return;
      this.#end.came();
      this.#events.onOutput(channel, chunk);
    });
    stream.on("error", () => undefined);
    stream.on("close", () => {
      this.#open.delete(stream);
      this.#end.streamClosed();
    });
  }

  exited(exitCode: number): void {
    this.#stdin?.destroy();
    this.#events.onExit(exitCode);
    this.#end.exit();
  }

  #ended(): void {
    // Closing the pipe would kill a background program that keeps writing; not reading would block it.
    for (const stream of this.#open) stream.resume();
    this.#events.onEnd();
  }

  write(data: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#stdin?.writable !== true) {
        reject(new Error("its input is closed"));
        return;
      }
      this.#stdin.write(data, (error) => {
        if (error == null) resolve();
        else reject(error);
      });
    });
  }

  closeInput(): void {
    this.#stdin?.end();
  }

  pause(): void {
    this.#end.pause();
    for (const stream of this.#open) stream.pause();
  }

  resume(): void {
    for (const stream of this.#open) stream.resume();
    this.#end.resume();
  }
}
