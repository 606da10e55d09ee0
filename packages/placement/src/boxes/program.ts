import type { ProgramExit, ProgramOptions } from "../interface/program.ts";
import type { Duplex, Readable } from "node:stream";

export interface RunningProgram {
  /** `undefined` on another machine. */
  readonly pid: number | undefined;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly channel: Duplex;
  readonly gone: Promise<ProgramExit>;
  kill(): void;
  clear(): Promise<void>;
}

export interface ProgramMaker {
  /** Whether the box gets copies of files. */
  readonly copiesFiles?: boolean;
  /** Removes all processes and files if it fails. */
  start(id: string, options: ProgramOptions, signal?: AbortSignal): Promise<RunningProgram>;
}
