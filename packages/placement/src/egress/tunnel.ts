import type { Socket } from "node:net";

export interface TunnelTimes {
  readonly idleMs: number;
  readonly waitingMs: number;
  readonly onIdle: () => void;
}

/** Pipes with backpressure until both sides have ended, one closes, or a timeout passes. */
export function joinTunnel(client: Socket, target: Socket, { idleMs, waitingMs, onIdle }: TunnelTimes): void {
  // All traffic passes this socket, so its timeout covers both directions.
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
      // After a regular end, its last bytes may still be in transit.
      if (!from.readableEnded || from.errored !== null) to.destroy();
      else to.setTimeout(waitingMs, () => to.destroy());
    });
    from.pipe(to);
  }
}
