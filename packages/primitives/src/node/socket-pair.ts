import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/**
 * Two connected sockets. HTTP/2 needs one of them in place of other streams: over them, Node 24 fails an
 * assertion when a session ends while it writes.
 * @param path - for a Unix socket, in a private folder; it is removed at once.
 */
export async function socketPair(path: string): Promise<readonly [Socket, Socket]> {
  const server = createServer();
  await once(server.listen(path), "listening");
  const accepted = once(server, "connection") as Promise<[Socket]>;
  const near = connect(path);
  try {
    const [[far]] = await Promise.all([accepted, once(near, "connect")]);
    return [near, far];
  } finally {
    server.close();
  }
}
