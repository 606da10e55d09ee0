import { connect, createServer, type Server, type Socket } from "node:net";

/** A TCP port of the loopback interface whose connections go on to the egress gateway's socket. */
export interface EgressForwarder {
  readonly port: number;
  /** Ends every connection and frees the port. */
  close(): void;
}

/**
 * Starts to forward. Chromium cannot use a proxy on a Unix socket, and in a box there is nothing else that it could reach.
 *
 * @param egressPath - socket of the gateway; it need not exist before the first connection comes.
 * @throws when no port of 127.0.0.1 can be had.
 */
export async function startEgressForwarder(egressPath: string): Promise<EgressForwarder> {
  const sockets = new Set<Socket>();
  // Half-open: a client that has sent its request and shut its side still waits for the answer.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (inner) => {
    const outer = connect({ path: egressPath, allowHalfOpen: true });
    join(inner, outer, sockets);
  });
  await listening(server);
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The egress forwarder listens on no TCP port.");
  return {
    port: address.port,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function listening(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** `pipe` waits for slow readers and passes the end of each side on by itself; a failure of one side ends the other at once. */
function join(inner: Socket, outer: Socket, sockets: Set<Socket>): void {
  const pair = [
    [inner, outer],
    [outer, inner],
  ] as const;
  for (const [socket, other] of pair) {
    sockets.add(socket);
    socket.on("error", () => {
      other.destroy();
    });
    socket.on("close", (failed) => {
      sockets.delete(socket);
      if (failed || !socket.readableEnded) other.destroy();
    });
    socket.pipe(other);
  }
}
