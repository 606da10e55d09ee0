import type { ProgramExit, ProgramOptions } from "../interface/program.ts";
import type { Duplex, Readable } from "node:stream";

export interface RunningProgram {
  readonly pid: number;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly channel: Duplex;
  readonly gone: Promise<ProgramExit>;
  kill(): void;
  clear(): Promise<void>;
}

export interface ProgramMaker {
  start(id: string, options: ProgramOptions): Promise<RunningProgram>;
}
