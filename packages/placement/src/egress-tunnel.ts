import type { Socket } from "node:net";

/** Milliseconds without a byte after which a tunnel is closed. */
export interface TunnelTimes {
  readonly idleMs: number;
  /** Once a side has ended. */
  readonly waitingMs: number;
  readonly onIdle: () => void;
}

/** Passes bytes both ways, each side waiting for the other, until both have ended, one is closed, or nothing passes for too long. */
export function joinTunnel(client: Socket, target: Socket, { idleMs, waitingMs, onIdle }: TunnelTimes): void {
  // Every byte of either direction passes the client's socket.
  client.setTimeout(idleMs, () => {
    onIdle();
    client.destroy();
  });
  for (const [from, to] of [
    [client, target],
    [target, client],
  ] as const) {
    from.on("error", () => undefined);
    from.once("end", () => {
      client.setTimeout(waitingMs);
    });
    from.once("close", () => {
      // What it has sent may still be on its way, if it ended in order.
      if (!from.readableEnded || from.errored !== null) to.destroy();
      else to.setTimeout(waitingMs, () => to.destroy());
    });
    from.pipe(to);
  }
}
