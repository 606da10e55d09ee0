import { connect, createServer } from "node:net";
import { parentPort, workerData } from "node:worker_threads";

/** Forwards ports to sockets in a separate thread, so that a busy app does not block the programs that it started. */
const ports = workerData as readonly { readonly port: number; readonly path: string }[];

function open({ port, path }: (typeof ports)[number]): Promise<void> {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (inner) => {
    const outer = connect({ path, allowHalfOpen: true });
    for (const [socket, other] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      socket.on("error", () => undefined);
      socket.on("close", () => {
        if (!socket.readableEnded) other.destroy();
      });
      socket.pipe(other);
    }
  });
  return new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
}
void Promise.all(ports.map(open)).then(() => parentPort?.postMessage("listening"));
