import { closeSync, constants, openSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { ReadStream } from "node:tty";
import { ServiceError } from "@shoal/router";
import type { Command } from "./command.ts";
import { nativeTerminalFile } from "./native-terminal.ts";
import { OutputEnd } from "./output-end.ts";
import { roomForThreads } from "./process-tree.ts";
import type { ChildEvents, RunningChild } from "./running-child.ts";

/** What the native module of node-pty offers on Linux and macOS. Its JavaScript is left out: it cuts output off 200 ms after the exit. */
interface NativeTerminal {
  fork(
    file: string,
    args: readonly string[],
    env: readonly string[],
    cwd: string,
    columns: number,
    rows: number,
    uid: number,
    gid: number,
    utf8: boolean,
    helper: string,
    onExit: (code: number, signal: number) => void,
  ): { readonly fd: number; readonly pid: number; /** Path of the side that programs have. */ readonly pty: string };
  resize(fd: number, columns: number, rows: number): void;
}

/** Size of a terminal, in characters. */
export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** Room that a new terminal must find; other programs may take of it at the same moment. */
const spareThreads = 16;
const endOfTransmission = Buffer.from([4]);

/**
 * Starts a program in a terminal of its own, in a session of its own.
 *
 * @throws {ServiceError} 501 where there is no such thing as a terminal, 429 where the session has as many processes as it may.
 */
export function startInTerminal(command: Command, events: ChildEvents, size: TerminalSize): RunningChild {
  const native = loadNative();
  // The native module waits for each terminal in a thread, and takes this process with it when it gets none.
  if (roomForThreads() < spareThreads)
    throw new ServiceError(429, "too_many_processes", "The session has as many processes and threads as it may have. End some of its processes.");
  const { file, args, cwd, env, uid, gid } = command;
  const pairs = Object.entries({ TERM: "xterm-256color", ...env, PWD: cwd }).map(([name, value]) => `${name}=${value}`);
  let closed = false;
  const { fd, pid, pty } = native.fork(
    file,
    args,
    pairs,
    cwd,
    size.columns,
    size.rows,
    uid ?? -1,
    gid ?? -1,
    true,
    helperBeside(nativeTerminalFile()),
    (code, signal) => {
      events.onExit(signal === 0 ? code : 128 + signal);
      end.exit();
      if (held !== undefined) closeSync(held);
    },
  );
  const held = openProgramSide(pty);
  const terminal = new ReadStream(fd);

  const end = new OutputEnd(1, () => {
    terminal.resume();
    events.onEnd();
  });
  terminal.on("data", (chunk: Buffer) => {
    if (end.over) return;
    end.came();
    events.onOutput("stdout", chunk);
  });
  // EIO, when nobody has it open any more, is how a terminal ends.
  terminal.on("error", () => undefined);
  terminal.on("close", () => {
    closed = true;
    end.streamClosed();
  });

  const write = (data: Buffer) =>
    new Promise<void>((resolve, reject) => {
      if (closed || !terminal.writable) {
        reject(new Error("its terminal is closed"));
        return;
      }
      terminal.write(data, (error) => {
        if (error == null) resolve();
        else reject(error);
      });
    });
  return {
    pid,
    terminalFd: fd,
    write,
    closeInput() {
      write(endOfTransmission).catch(() => undefined);
    },
    pause() {
      end.pause();
      terminal.pause();
    },
    resume() {
      terminal.resume();
      end.resume();
    },
    resize(columns, rows) {
      if (!closed) native.resize(fd, columns, rows);
    },
  };
}

/**
 * Has the program's side of a terminal open as well. Where nobody has, the terminal ends, and Linux sends SIGHUP to the program: to one that has closed its output
 * and is about to exit, as `cat` does, which then has another exit code than it gave itself.
 */
function openProgramSide(pty: string): number | undefined {
  try {
    return openSync(pty, constants.O_RDWR | constants.O_NOCTTY);
  } catch {
    // Of another user, or gone already.
    return undefined;
  }
}

function loadNative(): NativeTerminal {
  const file = nativeTerminalFile();
  if (file === undefined) {
    throw new ServiceError(
      501,
      "not_implemented",
      `Terminals are not available in this service: it runs on ${process.platform}-${process.arch}, or was installed without optional packages (@lydell/node-pty-${process.platform}-${process.arch}). Leave allocate_tty out.`,
    );
  }
  // What is checked here is only that it loads; its shape is that of the exact version in package.json.
  return createRequire(import.meta.url)(file) as NativeTerminal;
}

/** macOS needs a program beside the module; elsewhere it is ignored. */
function helperBeside(file: string | undefined): string {
  return file === undefined ? "" : `${dirname(file)}/spawn-helper`;
}
