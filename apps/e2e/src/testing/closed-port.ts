import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A host of this machine without a listener: its port is that of a client, so that no other program can listen there. */
export async function closedPort(): Promise<{ readonly host: string; close(): void }> {
  const accepted: Socket[] = [];
  const listener = createServer((socket) => accepted.push(socket));
  await once(listener.listen(0, "127.0.0.1"), "listening");
  const client = connect((listener.address() as AddressInfo).port, "127.0.0.1");
  await once(client, "connect");
  return {
    host: `127.0.0.1:${String(client.localPort)}`,
    close() {
      for (const socket of [client, ...accepted]) socket.destroy();
      listener.close();
    },
  };
}
