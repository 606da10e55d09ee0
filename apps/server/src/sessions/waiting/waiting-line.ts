import { ServiceError } from "@shoal/router";
import { setTimeout as delay } from "node:timers/promises";

const pauseMs = 200;
/** Further clients are refused at once. */
const maxWaiting = 500;
const maxWaitingOfProject = 100;

/** No place is free at this moment: another attempt may succeed. */
function isFull(error: unknown): error is ServiceError {
  return ServiceError.isInstance(error) && (error.code === "too_many_requests" || error.code === "capacity_exhausted");
}

interface Line {
  /** With the time at which a client's attempt began. */
  readonly clients: Map<symbol, number | undefined>;
  lastRefusal: ServiceError;
}

/** Clients that wait for a place for their session, first come, first served in each project. */
export class WaitingLine {
  /** Of each project. */
  readonly #lines = new Map<string, Line>();

  get size(): number {
    return [...this.#lines.values()].reduce((sum, { clients }) => sum + clients.size, 0);
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
    let line = this.#lines.get(projectId);
    if (line === undefined) {
      try {
        return await attempt();
      } catch (error) {
        if (isLast() || !isFull(error)) throw error;
        line = this.#lines.get(projectId) ?? { clients: new Map(), lastRefusal: error };
      }
    }
    const { clients } = line;
    // Without an attempt, because the next place is for the first client of the line.
    if (clients.size >= maxWaitingOfProject || this.size >= maxWaiting) throw line.lastRefusal;
    this.#lines.set(projectId, line);
    const own = Symbol(projectId);
    clients.set(own, undefined);
    try {
      for (;;) {
        await delay(pauseMs, undefined, { signal });
        const last = isLast();
        if (!last && !isTurn(clients, own)) continue;
        clients.set(own, performance.now());
        try {
          return await attempt();
        } catch (error) {
          if (last || !isFull(error)) throw error;
          line.lastRefusal = error;
          clients.set(own, undefined);
        }
      }
    } finally {
      clients.delete(own);
      if (clients.size === 0) this.#lines.delete(projectId);
    }
  }
}

/** An attempt that lasts has a place, so the next client may try. */
function isTurn(clients: ReadonlyMap<symbol, number | undefined>, own: symbol): boolean {
  for (const [client, beganMs] of clients) {
    if (client === own) return true;
    if (beganMs === undefined || performance.now() - beganMs < pauseMs) return false;
  }
  return true;
}
