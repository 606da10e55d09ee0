import { useSyncExternalStore } from "react";

const tickMs = 1000;
const listeners = new Set<() => void>();
let nowMs = Date.now();
let timer: number | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  nowMs = Date.now();
  timer ??= window.setInterval(() => {
    nowMs = Date.now();
    for (const tick of listeners) tick();
  }, tickMs);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Epoch milliseconds, updated each second. All users share one timer. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => nowMs);
