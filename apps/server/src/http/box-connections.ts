import type { Server } from "node:http";
import type { Socket } from "node:net";

/** Connections of apps to the API, which come through sockets of their boxes. */
export class BoxConnections {
  readonly #deployments = new WeakMap<Socket, string>();
  #server: Server | undefined;

  /** From now on, the server answers them. */
  serveBy(server: Server): void {
    this.#server = server;
  }

  accept(socket: Socket, deploymentId: string): void {
    if (this.#server === undefined) {
      socket.destroy();
      return;
    }
    this.#deployments.set(socket, deploymentId);
    this.#server.emit("connection", socket);
  }

  /** The address that the server listens at. */
  serverUrl(): string | undefined {
    const address = this.#server?.address();
    if (typeof address !== "object" || address === null) return undefined;
    const { address: ip, family, port } = address;
    const host = ip === "0.0.0.0" || ip === "::" ? "127.0.0.1" : family === "IPv6" ? `[${ip}]` : ip;
    return `http://${host}:${String(port)}`;
  }

  /** `undefined` for a connection from elsewhere. */
  deploymentOf(socket: Socket): string | undefined {
    return this.#deployments.get(socket);
  }
}
