/** Limits concurrency. Waiting callers enter in the order of their arrival. */
export interface Gate {
  /** Takes a place; returns a promise only when the caller has to wait. Rejects with the reason of the signal. `leave` must follow. */
  enter(signal: AbortSignal | undefined): Promise<void> | undefined;
  leave(): void;
}

export function createGate(places: number): Gate {
  let free = places;
  // A Set keeps the order and removes a waiter in constant time.
  const waiting = new Set<() => void>();
  return {
    enter(signal) {
      if (free > 0) {
        free -= 1;
        return undefined;
      }
      return new Promise((resolve, reject) => {
        const onAbort = () => {
          waiting.delete(onTurn);
          // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- the caller's own reason
          reject(signal?.reason);
        };
        const onTurn = () => {
          signal?.removeEventListener("abort", onAbort);
          resolve();
        };
        waiting.add(onTurn);
        signal?.addEventListener("abort", onAbort, { once: true });
      });
    },
    leave() {
      const [next] = waiting;
      if (next === undefined) {
        free += 1;
        return;
      }
      waiting.delete(next);
      next();
    },
  };
}
