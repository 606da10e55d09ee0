import { connect, createServer, type Server, type Socket } from "node:net";

/** Refused tunnels that are remembered, and for how long. */
const maxRefusals = 200;
const refusalMs = 10_000;
/** Of a tunnel whose gateway hangs up, as it does where the connection to the site fails. A browser would take that for an empty answer of the site. */
const hungUpStatus = 596;

/** A TCP port of the loopback interface whose connections go on to the egress gateway's socket. */
export interface EgressForwarder {
  readonly port: number;
  /** Status with which the gateway has refused a tunnel to `host:port` in the last seconds. */
  refusedTunnel(target: string): number | undefined;
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
  const refused = new Map<string, { readonly status: number; readonly atMs: number }>();
  // Half-open: a client that has sent its request and shut its side still waits for the answer.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (inner) => {
    const outer = connect({ path: egressPath, allowHalfOpen: true });
    noteRefusal(inner, outer, (target, status) => {
      refused.delete(target);
      refused.set(target, { status, atMs: performance.now() });
      for (const oldest of refused.keys()) {
        if (refused.size <= maxRefusals) break;
        refused.delete(oldest);
      }
    });
    join(inner, outer, sockets);
  });
  await listening(server);
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The egress forwarder listens on no TCP port.");
  return {
    port: address.port,
    refusedTunnel(target) {
      const found = refused.get(target);
      return found !== undefined && performance.now() - found.atMs < refusalMs ? found.status : undefined;
    },
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

/** Looks at how the gateway answers a connection's first request, where that asks for a tunnel: browsers do not tell. One without an answer gets one. */
function noteRefusal(inner: Socket, outer: Socket, note: (target: string, status: number) => void): void {
  let target: string | undefined;
  inner.once("data", (request: Buffer) => {
    target = /^CONNECT (\S{1,300}) /.exec(request.toString("latin1", 0, 320))?.[1]?.toLowerCase();
  });
  outer.once("data", (answer: Buffer) => {
    outer.off("end", onHungUp);
    const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(answer.toString("latin1", 0, 12))?.[1]);
    if (target !== undefined && status >= 300) note(target, status);
  });
  // Before `pipe` listens, which ends the other side.
  outer.once("end", onHungUp);
  function onHungUp(): void {
    if (target === undefined || inner.readableEnded || !inner.writable) return;
    note(target, hungUpStatus);
    inner.write(`HTTP/1.1 ${String(hungUpStatus)} No Answer\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  }
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
