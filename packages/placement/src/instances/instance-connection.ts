import { errorOf, hasCode } from "@shoal/primitives";
import type { Dial } from "../boxes/box.ts";
import { once } from "node:events";
import { Agent } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** Milliseconds that an instance may be too busy to accept a connection. */
const maxBusyMs = 5_000;
const firstDelayMs = 5;
const maxDelayMs = 200;

/** Retries on EAGAIN, with which Linux refuses connections while the backlog is full. @throws the last error. */
export async function connectInstance(socketPath: string): Promise<Socket> {
  const beganMs = performance.now();
  for (let delayMs = firstDelayMs; ; delayMs = Math.min(delayMs * 2, maxDelayMs)) {
    const socket = connect(socketPath);
    try {
      await once(socket, "connect");
      return socket;
    } catch (error) {
      socket.destroy();
      const isBusy = hasCode(error, "EAGAIN");
      if (!isBusy || performance.now() - beganMs > maxBusyMs) throw error;
    }
    // Jitter, so that waiting connections do not retry together.
    await delay(delayMs * (0.5 + Math.random()));
  }
}

export function createInstanceAgent(dial: Dial): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
  agent.createConnection = (_options, done) => {
    dial().then(
      (socket) => done?.(null, socket),
      (error: unknown) => done?.(errorOf(error), undefined as never),
    );
    return undefined;
  };
  return agent;
}
