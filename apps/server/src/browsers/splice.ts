import type { Duplex } from "node:stream";

/** How long the other side may take to close a connection that leads nowhere any more. */
const lingerMs = 5_000;

/** Joins two sockets: bytes at the pace of the slower one, each half-close passed on, and neither survives the other. */
export function splice(one: Duplex, other: Duplex): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on("error", () => {
      to.destroy();
    });
    from.on("close", () => {
      if (!from.readableEnded) {
        to.destroy();
        return;
      }
      // What was already read may still be on its way out, so it is not destroyed at once. Nobody is left for what comes in; yet unless it is read, the end of the connection is never seen.
      if (!to.writableEnded) to.end();
      to.unpipe(from);
      to.resume();
      const lingering = setTimeout(() => to.destroy(), lingerMs).unref();
      to.once("close", () => {
        clearTimeout(lingering);
      });
    });
    from.pipe(to);
  }
}
