/** Lets so many through at a time; the others wait in the order in which they came. */
export interface Gate {
  /** Nothing when there is room, else a promise of it, which rejects with the signal's reason. `leave` must follow. */
  enter(signal: AbortSignal | undefined): Promise<void> | undefined;
  leave(): void;
}

export function createGate(places: number): Gate {
  let free = places;
  // A Set keeps its order, and lets go of one in the middle at once.
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
          // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the caller's own reason, whatever it is
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
