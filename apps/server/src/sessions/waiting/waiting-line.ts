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
  /** Of each project, with the time at which a client's attempt began. */
  readonly #lines = new Map<string, Map<symbol, number | undefined>>();

  get size(): number {
    return [...this.#lines.values()].reduce((sum, line) => sum + line.size, 0);
  }

  /**
   * Repeats `attempt` until a place is free. While no client waits, attempts run side by side. @throws the last refusal
   * after `untilMs`, and at once if the line is too long; the reason of `signal` when the client goes.
   */
  async take<T>(
    projectId: string,
    { signal, untilMs }: { readonly signal: AbortSignal; readonly untilMs: number },
    attempt: () => Promise<T>,
  ): Promise<T> {
    signal.throwIfAborted();
    const isLast = () => performance.now() + pauseMs >= untilMs;
    if (!this.#lines.has(projectId)) {
      try {
        return await attempt();
      } catch (error) {
        if (isLast() || !isFull(error)) throw error;
      }
    }
    const line = this.#lines.get(projectId) ?? new Map<symbol, number | undefined>();
    if (line.size >= maxWaitingOfProject || this.size >= maxWaiting) return attempt();
    this.#lines.set(projectId, line);
    const own = Symbol(projectId);
    line.set(own, undefined);
    try {
      for (;;) {
        await delay(pauseMs, undefined, { signal });
        const last = isLast();
        if (!last && !isTurn(line, own)) continue;
        line.set(own, performance.now());
        try {
          return await attempt();
        } catch (error) {
          if (last || !isFull(error)) throw error;
          line.set(own, undefined);
        }
      }
    } finally {
      line.delete(own);
      if (line.size === 0) this.#lines.delete(projectId);
    }
  }
}

/** An attempt that lasts has a place, so the next client may try. */
function isTurn(line: ReadonlyMap<symbol, number | undefined>, own: symbol): boolean {
  for (const [client, beganMs] of line) {
    if (client === own) return true;
    if (beganMs === undefined || performance.now() - beganMs < pauseMs) return false;
  }
  return true;
}
