import { closeSync, constants, openSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { ReadStream } from "node:tty";
import { ServiceError } from "@shoal/router";
import type { Command } from "../command.ts";
import { nativeTerminalFile } from "./native-terminal.ts";
import { OutputEnd } from "./output-end.ts";
import { roomForThreads } from "../tracking/process-tree.ts";
import type { ChildEvents, RunningChild } from "../tracking/running-child.ts";

/** node-pty's native module on Linux and macOS. Its JavaScript is not used: it drops output 200 ms after the exit. */
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

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** Other programs may start processes while a terminal starts. */
const spareThreads = 16;
const endOfTransmission = Buffer.from([4]);

/** @throws {ServiceError} 501 without support for terminals, 429 at the limit of processes. */
export function startInTerminal(command: Command, events: ChildEvents, size: TerminalSize): RunningChild {
  const native = loadNative();
  // The native module waits in a thread for each terminal, and aborts this process when it cannot start one.
  if (roomForThreads() < spareThreads)
    throw new ServiceError(429, "too_many_processes", "The session has reached its limit of processes and threads.", {
      hint: "End some of its processes.",
    });
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
  // EIO is the regular end of a terminal.
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

/** Closing the program's side would end the terminal, and SIGHUP would change the exit code of an exiting program. */
function openProgramSide(pty: string): number | undefined {
  try {
    return openSync(pty, constants.O_RDWR | constants.O_NOCTTY);
  } catch {
    return undefined;
  }
}

function loadNative(): NativeTerminal {
  const file = nativeTerminalFile();
  if (file === undefined) {
    throw new ServiceError(
      501,
      "not_implemented",
      `Terminals are not available in this service: it runs on ${process.platform}-${process.arch}, or was installed without optional packages (@lydell/node-pty-${process.platform}-${process.arch}).`,
      { hint: "Omit allocate_tty." },
    );
  }
  // Only loading is checked: package.json pins the version, and with it the shape.
  return createRequire(import.meta.url)(file) as NativeTerminal;
}

/** Path of the helper program that macOS needs; ignored on Linux. */
function helperBeside(file: string | undefined): string {
  return file === undefined ? "" : `${dirname(file)}/spawn-helper`;
}
