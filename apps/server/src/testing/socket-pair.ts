import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/**
 * Connects two sockets, and destroys them after the test.
 * @param allowHalfOpen - of the far one: true for sockets of an HTTP server, false for those of `connect`.
 */
export async function socketPair(allowHalfOpen: boolean): Promise<{ near: Socket; far: Socket }> {
  const server = createServer({ allowHalfOpen }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const near = connect({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", allowHalfOpen: true });
  near.on("error", () => undefined);
  const [far] = (await once(server, "connection")) as [Socket];
  server.close();
  onTestFinished(() => {
    near.destroy();
    far.destroy();
  });
  return { near, far };
}
