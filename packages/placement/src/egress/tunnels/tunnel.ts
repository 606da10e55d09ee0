import type { Socket } from "node:net";
import type { TunnelContent } from "./tunnel-content.ts";

export interface TunnelTimes {
  readonly idleMs: number;
  readonly waitingMs: number;
  readonly onIdle: () => void;
  /** Decides about the first bytes of the client, which wait for the decision. Absent = all pass. */
  readonly content?: TunnelContent | undefined;
}

/** Pipes with backpressure until both sides have ended, one closes, or a timeout passes. */
export function joinTunnel(client: Socket, target: Socket, options: TunnelTimes): void {
  const { content, idleMs, onIdle, waitingMs } = options;
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
    if (from === client && content !== undefined) pipeJudged(client, target, content);
    else from.pipe(to);
  }
}

function pipeJudged(client: Socket, target: Socket, content: TunnelContent): void {
  function close(): void {
    client.destroy();
    target.destroy();
  }
  function onEnd(): void {
    // Incomplete: its host is unknown.
    if (content.held.length > 0) close();
    else target.end();
  }
  function onData(chunk: Buffer): void {
    const verdict = content.add(chunk);
    if (verdict === "more") return;
    client.off("data", onData);
    client.off("end", onEnd);
    if (verdict === "refuse") close();
    else {
      client.pause();
      target.write(content.held);
      client.pipe(target);
    }
  }
  client.on("data", onData);
  client.once("end", onEnd);
}
