import type { ProgramMaker, RunningProgram } from "../boxes/program.ts";
import { PlacementError } from "../interface/placement-error.ts";

/** For hosts where programs could only run without isolation, while the sessions have it. */
export class NoPrograms implements ProgramMaker {
  readonly #reason: string;

  constructor(reason: string) {
    this.#reason = reason;
  }

  async start(): Promise<RunningProgram> {
    throw new PlacementError("start_failed", `This server cannot run apps: ${this.#reason}`);
  }
}
