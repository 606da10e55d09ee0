import type { Duplex } from "node:stream";

/** After more milliseconds, Node's timers fire at once. */
const maxTimerMs = 2 ** 31 - 1;

/** @param atMs - epoch milliseconds. Sockets close after 24 days in any case: their clients may connect again. */
export function closeAt(socket: Duplex, atMs: number): void {
  const timer = setTimeout(() => socket.destroy(), Math.min(atMs - Date.now(), maxTimerMs)).unref();
  socket.once("close", () => {
    clearTimeout(timer);
  });
}
