import { Socket } from "node:net";

const loopback = "127.0.0.1";

/**
 * Limits the connections of this process to ports of 127.0.0.1 that the instance has named: requests of clients leave
 * through the egress forwarder only, with every network rule of the session.
 */
export class SocketLimits {
  readonly #ports = new Set<number>();

  allow(port: number): void {
    this.#ports.add(port);
  }

  /** Applies to TCP, TLS and Unix sockets of the whole process from now on. */
  apply(): void {
    const connect = Reflect.get(Socket.prototype, "connect") as (this: Socket, ...args: unknown[]) => Socket;
    const isAllowed = (args: unknown[]): boolean => this.#isAllowed(args);
    Object.assign(Socket.prototype, {
      connect(this: Socket, ...args: unknown[]): Socket {
        if (isAllowed(args)) return connect.apply(this, args);
        const refusal = new Error("Connections leave the session only through its network rules.");
        process.nextTick(() => this.destroy(refusal));
        return this;
      },
    });
  }

  #isAllowed(args: unknown[]): boolean {
    // `net.connect` passes one array that it has normalized, `tls.connect` an object.
    const [options] = Array.isArray(args[0]) ? (args[0] as readonly unknown[]) : args;
    if (typeof options !== "object" || options === null) return false;
    const { host, path, port } = options as { host?: unknown; path?: unknown; port?: unknown };
    return (path === undefined || path === null) && host === loopback && this.#ports.has(Number(port));
  }
}
