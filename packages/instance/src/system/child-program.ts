import { type ChildProcess, spawn } from "node:child_process";
import { disableInspectorSignal } from "./inspector-signal.ts";
import { killGroup } from "./kill-group.ts";

export interface ChildProgramOptions {
  /** The program file of the instance. */
  readonly program: string;
  readonly directory: string;
  readonly args: readonly string[];
  readonly nodeOptions?: readonly string[];
  readonly environment?: NodeJS.ProcessEnv;
}

export interface ChildProgram {
  readonly process: ChildProcess;
  /** Ends its whole process group. */
  readonly kill: () => void;
}

/** Starts another part of the instance's program with a channel for messages, in a separate process group. */
export function startChildProgram(options: ChildProgramOptions): ChildProgram {
  const { SHOAL_INSTANCE: _, ...environment } = { ...process.env, ...options.environment };
  const nodeOptions = ["--disable-warning=ExperimentalWarning", disableInspectorSignal, ...(options.nodeOptions ?? [])];
  const child = spawn(process.execPath, [...nodeOptions, options.program, ...options.args], {
    cwd: options.directory,
    detached: process.platform !== "win32",
    env: environment,
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  return {
    process: child,
    kill() {
      killGroup(child);
    },
  };
}
