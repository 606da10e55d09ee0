import type { Duplex } from "node:stream";

/** How long the other side may take to close a connection that leads nowhere any more. */
const lingerMs = 5_000;

/**
 * Joins the sockets of a client and an instance: bytes at the pace of the slower one, each half-close passed on, and neither survives the other.
 *
 * @param endClient - called when the instance sends nothing more, perhaps twice. Ends the client's socket.
 */
export function splice(client: Duplex, instance: Duplex, endClient: () => Promise<void>): void {
  client.pipe(instance);
  instance.pipe(client, { end: false });
  client.on("error", () => instance.destroy());
  // A killed instance may reset its connection; the client still gets a close frame.
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

/** Ends a socket whose other side is gone. What was written may still be on its way out, and unless the rest is read its end is never seen. */
function letGo(socket: Duplex, from: Duplex): void {
  if (!socket.writableEnded) socket.end();
  socket.unpipe(from);
  socket.resume();
  const lingering = setTimeout(() => socket.destroy(), lingerMs).unref();
  socket.once("close", () => {
    clearTimeout(lingering);
  });
}
