import type { Server } from "node:http";

/** Cuts all connections. Also for a server that does not listen. */
export async function closeServer(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
    server.closeAllConnections();
  });
}
