import type { Duplex } from "node:stream";

const lingerMs = 5_000;

/**
 * Joins two sockets with backpressure, passes on half-closes, and closes both when one closes.
 * @param endClient - ends the client's socket; called, perhaps twice, when the instance ends.
 */
export function splice(client: Duplex, instance: Duplex, endClient: () => Promise<void>): void {
  client.pipe(instance);
  instance.pipe(client, { end: false });
  client.on("error", () => instance.destroy());
  // A killed instance may reset its connection; the client still receives a close frame.
  instance.on("error", () => instance.destroy());
  instance.on("end", () => void endClient());
  client.on("close", () => {
    if (client.readableEnded) letGo(instance, client);
    else instance.destroy();
  });
  instance.on("close", () => {
    void endClient().then(() => {
      letGo(client, instance);
    });
  });
}

/** Flushes writes, and reads the rest, without which the socket's end would not be seen. */
function letGo(socket: Duplex, from: Duplex): void {
  if (!socket.writableEnded) socket.end();
  socket.unpipe(from);
  socket.resume();
  const lingering = setTimeout(() => socket.destroy(), lingerMs).unref();
  socket.once("close", () => {
    clearTimeout(lingering);
  });
}
