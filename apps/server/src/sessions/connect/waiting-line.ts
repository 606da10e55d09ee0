import { ServiceError } from "@shoal/router";
import { setTimeout as delay } from "node:timers/promises";

const pauseMs = 200;
/** Further clients are refused at once. */
const maxWaiting = 500;
const maxWaitingOfProject = 100;

/** No place is free at this moment: another attempt may succeed. */
function isFull(error: unknown): boolean {
  return ServiceError.isInstance(error) && (error.code === "too_many_requests" || error.code === "capacity_exhausted");
}

/** Clients that wait for a place for their session, first come, first served in each project. */
export class WaitingLine {
  readonly #lines = new Map<string, Set<symbol>>();

  get size(): number {
    return [...this.#lines.values()].reduce((sum, line) => sum + line.size, 0);
  }

  /**
   * Repeats `attempt` until a place is free. @throws the last refusal after `untilMs`, and at once if the line is too
   * long; the reason of `signal` when the client goes.
   */
  async take<T>(
    projectId: string,
    { signal, untilMs }: { readonly signal: AbortSignal; readonly untilMs: number },
    attempt: () => Promise<T>,
  ): Promise<T> {
    const line = this.#lines.get(projectId) ?? new Set();
    const isLong = line.size >= maxWaitingOfProject || this.size >= maxWaiting;
    if (isLong) return attempt();
    this.#lines.set(projectId, line);
    const own = Symbol(projectId);
    line.add(own);
    try {
      for (;;) {
        signal.throwIfAborted();
        const [first] = line;
        const isLast = performance.now() + pauseMs >= untilMs;
        if (first === own || isLast) {
          try {
            return await attempt();
          } catch (error) {
            if (isLast || !isFull(error)) throw error;
          }
        }
        await delay(pauseMs, undefined, { signal });
      }
    } finally {
      line.delete(own);
      if (line.size === 0) this.#lines.delete(projectId);
    }
  }
}
