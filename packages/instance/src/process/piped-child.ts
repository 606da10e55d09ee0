import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { constants, devNull } from "node:os";
import type { Readable } from "node:stream";
import type { Command } from "./command.ts";
import { OutputEnd } from "./output-end.ts";
import type { ChildEvents, RunningChild } from "./running-child.ts";

export interface PipedOptions {
  readonly input: boolean;
  readonly hidden: ReadonlySet<number>;
}

/**
 * Starts a program with pipes, in a session of its own in the sense of `setsid`.
 *
 * @param options.input - whether its input can be written to; else it is empty.
 * @param options.hidden - file descriptors of ours that it must not get: those of terminals are given to every program otherwise.
 * @throws what the system says when it cannot be started.
 */
export async function startPiped(command: Command, events: ChildEvents, { input, hidden }: PipedOptions): Promise<RunningChild> {
  const { file, args, cwd, env, uid, gid } = command;
  // "ignore" leaves a descriptor as it is; another one in its place covers it.
  const cover = hidden.size === 0 ? undefined : openSync(devNull, "r");
  const covers = Array.from({ length: Math.max(2, ...hidden) - 2 }, (_, index) => (hidden.has(index + 3) ? cover : ("ignore" as const)));
  const child = spawn(file, args, {
    cwd,
    env,
    detached: process.platform !== "win32",
    stdio: [input ? "pipe" : "ignore", "pipe", "pipe", ...covers],
    windowsHide: true,
    ...(uid !== undefined && { uid }),
    ...(gid !== undefined && { gid }),
  });
  if (cover !== undefined) closeSync(cover);
  const { pid, stdin, stdout, stderr } = child;
  if (pid === undefined || stdout === null || stderr === null) throw await new Promise((resolve) => child.once("error", resolve));
  child.on("error", () => undefined);
  // A broken pipe is told by the write that meets it.
  stdin?.on("error", () => undefined);

  const open = new Set<Readable>([stdout, stderr]);
  const end = new OutputEnd(open.size, () => {
    // A program in the background that goes on writing must not be ended by it, nor be made to wait.
    for (const stream of open) stream.resume();
    events.onEnd();
  });
  for (const [channel, stream] of [
    ["stdout", stdout],
    ["stderr", stderr],
  ] as const) {
    stream.on("data", (chunk: Buffer) => {
      if (end.over) return;
      end.came();
      events.onOutput(channel, chunk);
    });
    stream.on("error", () => undefined);
    stream.on("close", () => {
      open.delete(stream);
      end.streamClosed();
    });
  }
  child.once("exit", (code, signal) => {
    stdin?.destroy();
    events.onExit(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    end.exit();
  });

  return {
    pid,
    write: (data) =>
      new Promise((resolve, reject) => {
        if (stdin?.writable !== true) {
          reject(new Error("its input is closed"));
          return;
        }
        stdin.write(data, (error) => {
          if (error == null) resolve();
          else reject(error);
        });
      }),
    closeInput() {
      stdin?.end();
    },
    pause() {
      end.pause();
      for (const stream of open) stream.pause();
    },
    resume() {
      for (const stream of open) stream.resume();
      end.resume();
    },
  };
}
