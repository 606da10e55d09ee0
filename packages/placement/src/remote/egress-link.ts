import type { TlsIdentity } from "@shoal/primitives/pinned-tls";
import { remoteProtocols } from "@shoal/instance";
import { FrameRate } from "./frame-rate.ts";
import { connectRemote, type RemoteAddress } from "./remote-connection.ts";
import { connect } from "node:net";
import { performServerHandshake, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";

export interface EgressLinkOptions {
  readonly address: RemoteAddress;
  readonly identity: TlsIdentity;
  /** Sockets of the service for this instance: `egress` of the egress gateway, `api` of the API. */
  readonly sockets: Readonly<Record<string, string | undefined>>;
}

const firstRetryMs = 100;
const maxRetryMs = 5_000;
/** Bounds for an instance that is not trusted. Streams have flow control, so readers that wait hold little memory. */
const maxStreams = 1_024;
const maxHeaderPairs = 16;
const maxSessionMegabytes = 16;
const streamWindowBytes = 256 * 1024;
const connectionWindowBytes = 4 * 2 ** 20;

/** Connects an instance without a network to sockets of the service, through a connection that the service opens. */
export class EgressLink {
  readonly #options: EgressLinkOptions;
  readonly #rate = new FrameRate(() => this.#session?.destroy());
  #session: ServerHttp2Session | undefined;
  #timer: NodeJS.Timeout | undefined;
  #retryMs = firstRetryMs;
  #isClosed = false;

  constructor(options: EgressLinkOptions) {
    this.#options = options;
  }

  /** Opens the connection, and again whenever it breaks, until `close`. */
  open(): void {
    const { address, identity } = this.#options;
    connectRemote(address, identity, remoteProtocols.egress).then(
      (socket) => {
        if (this.#isClosed) {
          socket.destroy();
          return;
        }
        const openedMs = performance.now();
        const session = performServerHandshake(socket, {
          maxSessionMemory: maxSessionMegabytes,
          maxHeaderListPairs: maxHeaderPairs,
          settings: { maxConcurrentStreams: maxStreams, initialWindowSize: streamWindowBytes, enablePush: false },
        });
        session.setLocalWindowSize(connectionWindowBytes);
        session.on("stream", (stream, headers) => {
          this.#forward(stream, headers[":method"] === "CONNECT" ? headers[":authority"] : undefined);
        });
        session.on("error", () => socket.destroy());
        session.on("close", () => {
          // An instance may end each connection at once.
          if (performance.now() - openedMs > maxRetryMs) this.#retryMs = firstRetryMs;
          this.#openLater();
        });
        this.#session = session;
      },
      () => {
        this.#openLater();
      },
    );
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#session?.destroy();
  }

  #openLater(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.open();
    }, this.#retryMs);
    this.#timer.unref();
    this.#retryMs = Math.min(this.#retryMs * 2, maxRetryMs);
  }

  #forward(stream: ServerHttp2Stream, name: string | undefined): void {
    stream.on("error", () => undefined);
    const path = new Map(Object.entries(this.#options.sockets)).get(name ?? "");
    if (path === undefined) {
      stream.respond({ ":status": 404 }, { endStream: true });
      return;
    }
    const socket = connect({ path, allowHalfOpen: true });
    socket.on("error", () => {
      stream.close();
    });
    stream.on("close", () => socket.destroy());
    socket.on("close", () => {
      if (!stream.closed) stream.close();
    });
    stream.respond({ ":status": 200 });
    this.#rate.follow(stream);
    stream.pipe(socket);
    socket.pipe(stream);
  }
}
