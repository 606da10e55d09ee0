import { refusalOfPeer, type TlsCredentials, type TlsIdentity } from "@shoal/primitives/pinned-tls";
import { constants } from "node:crypto";
import type { Duplex } from "node:stream";
import { createServer, type Server, type TLSSocket } from "node:tls";
import { log } from "../system/log.ts";
import { EgressDoor } from "./egress-door.ts";
import { remoteProtocols } from "./protocols.ts";

export interface RemoteDoorOptions {
  /** Pin of the only key that may connect. */
  readonly servicePin: string;
  /** Of {@link EgressDoor}. */
  readonly sockets: Readonly<Record<string, string>>;
  readonly identity: TlsIdentity;
  readonly onConnection: (socket: TLSSocket) => void;
  readonly onError: (error: Error) => void;
  /** The service is gone: it keeps at least one connection open. */
  readonly onAbandoned: () => void;
  /** Milliseconds without a connection of the service; 60,000 by default. */
  readonly abandonedMs?: number;
}

const secureContext = {
  minVersion: "TLSv1.3",
  // A resumed connection would skip the certificates.
  secureOptions: constants.SSL_OP_NO_TICKET,
} as const;
const handshakeMs = 10_000;
const keepAliveMs = 15_000;
const maxConnections = 4_096;
const refusalEveryMs = 1_000;

/** Serves one instance to one service over mutual TLS. Both sides know the other's key, and nothing else is accepted. */
export class RemoteDoor {
  readonly #options: RemoteDoorOptions;
  readonly #server: Server;
  readonly #egress: EgressDoor;
  #refusedAtMs = -Infinity;
  #credentials: TlsCredentials;
  #connections = 0;
  #timer: NodeJS.Timeout;

  constructor(options: RemoteDoorOptions) {
    this.#options = options;
    this.#egress = new EgressDoor(options.sockets);
    this.#credentials = options.identity.credentials;
    this.#server = createServer({
      ...secureContext,
      ...this.#credentials,
      requestCert: true,
      // `refusalOfPeer` decides by the key.
      rejectUnauthorized: false,
      ALPNProtocols: Object.values(remoteProtocols),
      handshakeTimeout: handshakeMs,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: keepAliveMs,
    });
    this.#server.maxConnections = maxConnections;
    this.#server.on("connection", () => {
      this.#renewCertificate();
    });
    this.#server.on("secureConnection", (socket) => {
      this.#receive(socket);
    });
    this.#server.on("tlsClientError", (error, socket) => {
      this.#refuse(socket, error.message);
    });
    this.#server.on("error", options.onError);
    this.#timer = this.#abandonedLater();
  }

  /** SHA-256 of the public key with which it proves itself. */
  get pin(): string {
    return this.#options.identity.pin;
  }

  /** @param port - 0 selects a free one. @returns the port. */
  async listen(host: string, port: number): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen({ host, port }, resolve));
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : port;
  }

  /** Serves a connection that did not arrive on a port. */
  accept(connection: Duplex): void {
    this.#server.emit("connection", connection);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#server.close();
    this.#egress.close();
  }

  /** For the next connection. */
  #renewCertificate(): void {
    const { credentials } = this.#options.identity;
    if (credentials === this.#credentials) return;
    this.#credentials = credentials;
    this.#server.setSecureContext({ ...secureContext, ...credentials });
  }

  #receive(socket: TLSSocket): void {
    socket.on("error", () => undefined);
    const refusal = refusalOfPeer(socket, this.#options.servicePin);
    if (refusal !== undefined) {
      this.#refuse(socket, refusal);
      return;
    }
    clearTimeout(this.#timer);
    this.#connections += 1;
    socket.once("close", () => {
      this.#connections -= 1;
      if (this.#connections > 0) return;
      clearTimeout(this.#timer);
      this.#timer = this.#abandonedLater();
    });
    if (socket.alpnProtocol === remoteProtocols.egress) this.#egress.use(socket);
    else if (socket.alpnProtocol === remoteProtocols.instance) this.#options.onConnection(socket);
    else this.#refuse(socket, "it named no protocol");
  }

  #refuse(socket: TLSSocket, reason: string): void {
    const from = socket.remoteAddress;
    socket.destroy();
    const nowMs = performance.now();
    // Any machine of the network may connect, and must not fill the log.
    if (nowMs - this.#refusedAtMs < refusalEveryMs) return;
    this.#refusedAtMs = nowMs;
    log("warn", "refused a connection", { from, reason });
  }

  #abandonedLater(): NodeJS.Timeout {
    const { abandonedMs = 60_000, onAbandoned } = this.#options;
    return setTimeout(onAbandoned, abandonedMs);
  }
}
