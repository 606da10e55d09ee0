import { unlinkSync } from "node:fs";
import { type ClientHttp2Session, connect } from "node:http2";
import { createServer, type Server, type Socket } from "node:net";
import type { TLSSocket } from "node:tls";

/**
 * Sockets of the service inside a machine without a network: `egress` for its egress gateway, `api` for its API. Their
 * connections travel inside the connection that the service opened, so that the instance needs no way out.
 */
export class EgressDoor {
  readonly #servers: readonly Server[];
  readonly #waiting = new Map<Socket, string>();
  #session: ClientHttp2Session | undefined;

  /** @param paths - by name. */
  constructor(paths: Readonly<Record<string, string>>) {
    this.#servers = Object.entries(paths).map(([name, path]) => {
      removeOld(path);
      // Half-open: a client that closed its sending side still waits for the answer.
      return createServer({ allowHalfOpen: true }, (inner) => {
        this.#forward(inner, name);
      }).listen(path);
    });
  }

  /** The newest connection of the service replaces older ones. */
  use(socket: TLSSocket): void {
    const session = connect("http://egress", { createConnection: () => socket });
    session.on("error", () => {
      socket.destroy();
    });
    session.on("close", () => {
      if (this.#session === session) this.#session = undefined;
    });
    this.#session?.close();
    this.#session = session;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const [inner, name] of waiting) this.#forward(inner, name);
  }

  close(): void {
    for (const server of this.#servers) server.close();
    this.#session?.destroy();
    for (const inner of this.#waiting.keys()) inner.destroy();
  }

  #forward(inner: Socket, name: string): void {
    const session = this.#session;
    inner.on("error", () => undefined);
    if (session === undefined || session.closed || session.destroyed) {
      // The service opens its connection just after the start, and again when it broke.
      this.#waiting.set(inner, name);
      inner.once("close", () => this.#waiting.delete(inner));
      return;
    }
    const outer = session.request({ ":method": "CONNECT", ":authority": name });
    outer.on("error", () => inner.destroy());
    inner.on("close", () => {
      if (!outer.closed) outer.close();
    });
    outer.on("close", () => {
      inner.destroySoon();
    });
    outer.pipe(inner);
    inner.pipe(outer);
  }
}

function removeOld(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // A restarted program finds its old socket.
  }
}
