import { unlinkSync } from "node:fs";
import { type ClientHttp2Session, connect } from "node:http2";
import { createServer, type Server, type Socket } from "node:net";
import type { TLSSocket } from "node:tls";

/**
 * The socket of the egress gateway inside a machine without a network. Its connections travel to the service inside the
 * connection that the service opened, so that the instance needs no way out.
 */
export class EgressDoor {
  readonly #server: Server;
  readonly #waiting = new Set<Socket>();
  #session: ClientHttp2Session | undefined;

  constructor(path: string) {
    // Half-open: a client that closed its sending side still waits for the answer.
    this.#server = createServer({ allowHalfOpen: true }, (inner) => {
      this.#forward(inner);
    });
    removeOld(path);
    this.#server.listen(path);
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
    for (const inner of this.#waiting) this.#forward(inner);
    this.#waiting.clear();
  }

  close(): void {
    this.#server.close();
    this.#session?.destroy();
    for (const inner of this.#waiting) inner.destroy();
  }

  #forward(inner: Socket): void {
    const session = this.#session;
    inner.on("error", () => undefined);
    if (session === undefined || session.closed || session.destroyed) {
      // The service opens its connection just after the start, and again when it broke.
      this.#waiting.add(inner);
      inner.once("close", () => this.#waiting.delete(inner));
      return;
    }
    const outer = session.request({ ":method": "CONNECT", ":authority": "egress" });
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
