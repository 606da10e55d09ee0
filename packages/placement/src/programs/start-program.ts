import { messageOf } from "@shoal/primitives";
import type { ProgramMaker, RunningProgram } from "../boxes/program.ts";
import { PlacementError } from "../interface/placement-error.ts";
import type { ProgramBox, ProgramExit, ProgramOptions } from "../interface/program.ts";
import { randomBytes } from "node:crypto";
import type { Duplex, Readable } from "node:stream";

/** @throws {PlacementError} `start_failed`. Aborting removes all processes and files. */
export async function startProgram(
  maker: ProgramMaker,
  options: ProgramOptions,
  signal?: AbortSignal,
): Promise<ProgramBox> {
  signal?.throwIfAborted();
  const id = randomBytes(6).toString("hex");
  const running = await maker.start(id, options, signal).catch((error: unknown) => {
    signal?.throwIfAborted();
    if (PlacementError.isInstance(error)) throw error;
    throw new PlacementError("start_failed", `Cannot start a program: ${messageOf(error)}`, { cause: error });
  });
  const box = new LocalProgramBox(id, running);
  if (signal?.aborted === true) {
    await box.stop();
    signal.throwIfAborted();
  }
  return box;
}

class LocalProgramBox implements ProgramBox {
  readonly id: string;
  readonly pid: number | undefined;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly channel: Duplex;
  readonly ended: Promise<ProgramExit>;
  readonly #running: RunningProgram;

  constructor(id: string, running: RunningProgram) {
    this.id = id;
    this.pid = running.pid;
    this.stdout = running.stdout;
    this.stderr = running.stderr;
    this.channel = running.channel;
    this.#running = running;
    this.ended = this.#clear();
  }

  async stop(): Promise<void> {
    this.#running.kill();
    await this.ended;
  }

  async #clear(): Promise<ProgramExit> {
    const exit = await this.#running.gone;
    await this.#running.clear().catch(() => undefined);
    return exit;
  }
}
