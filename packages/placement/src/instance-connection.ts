import { once } from "node:events";
import { Agent } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** How long an instance may be too busy to accept a connection. */
const maxBusyMs = 5_000;
const firstDelayMs = 5;
const maxDelayMs = 200;

/**
 * Connects to the Unix socket of an instance. Linux refuses a connection with EAGAIN while too many others wait to be accepted: it is tried again.
 *
 * @throws the error of the last try.
 */
export async function connectInstance(socketPath: string): Promise<Socket> {
  const beganMs = performance.now();
  for (let delayMs = firstDelayMs; ; delayMs = Math.min(delayMs * 2, maxDelayMs)) {
    const socket = connect(socketPath);
    try {
      await once(socket, "connect");
      return socket;
    } catch (error) {
      socket.destroy();
      const isBusy = error instanceof Error && "code" in error && error.code === "EAGAIN";
      if (!isBusy || performance.now() - beganMs > maxBusyMs) throw error;
    }
    // At random, so that those who wait do not all come back at once.
    await delay(delayMs * (0.5 + Math.random()));
  }
}

/** Keeps connections to one instance for its requests. */
export function createInstanceAgent(socketPath: string): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
  agent.createConnection = (_options, done) => {
    connectInstance(socketPath).then(
      (socket) => done?.(null, socket),
      (error: unknown) => done?.(error instanceof Error ? error : new Error(String(error)), undefined as never),
    );
    return undefined;
  };
  return agent;
}
