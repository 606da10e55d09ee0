import { PlacementError } from "../../interface/placement-error.ts";

/** A session and its copies at a time: the most that one request makes, and their parent. */
const maxRelatives = 33;
/** More than a headless shell with six pages, see `maxProcesses`. */
const processesEach = 200;

/** The kernel counts processes and threads for each user, and a session has the same user as its copies. */
export const maxProcessesOfRelatives = maxRelatives * processesEach;

/** Counts running boxes by their user. */
export class Relatives {
  readonly #counts = new Map<number, number>();

  /** @returns what the end of the box calls, once. @throws {PlacementError} `no_capacity`. */
  join(owner: number): () => void {
    const count = this.#counts.get(owner) ?? 0;
    if (count >= maxRelatives)
      throw new PlacementError(
        "no_capacity",
        `The session, its exact forks and the sessions from its exact snapshots are ${String(count)}, the limit, because they share a limit of processes. End some of them.`,
      );
    this.#counts.set(owner, count + 1);
    return () => {
      const left = (this.#counts.get(owner) ?? 1) - 1;
      if (left > 0) this.#counts.set(owner, left);
      else this.#counts.delete(owner);
    };
  }
}
