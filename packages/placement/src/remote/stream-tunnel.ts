import { FrameRate } from "./frame-rate.ts";
import { type ClientHttp2Session, connect } from "node:http2";
import { socketPair } from "@shoal/primitives/node";
import type { Duplex, Readable, Writable } from "node:stream";

/** Bounds for an instance that is not trusted. Streams have flow control, so readers that wait hold little memory. */
const maxSessionMegabytes = 64;
const maxHeaderPairs = 16;
const streamWindowBytes = 2 ** 20;
const connectionWindowBytes = 16 * 2 ** 20;

/** Opens many connections to an instance that has two streams in place of a network, as HTTP/2 CONNECT requests. */
export class StreamTunnel {
  readonly #session: ClientHttp2Session;
  readonly #rate = new FrameRate(() => {
    this.close();
  });

  private constructor(session: ClientHttp2Session) {
    this.#session = session;
  }

  /** @param path - for a Unix socket, in a private folder. */
  static async open(readable: Readable, writable: Writable, path: string): Promise<StreamTunnel> {
    const [near, far] = await socketPair(path);
    const end = (): void => {
      near.destroy();
      writable.destroy();
    };
    for (const stream of [near, far, readable, writable]) stream.on("error", end);
    near.on("close", end);
    readable.pipe(near);
    near.pipe(writable);
    const session = connect("http://instance", {
      createConnection: () => far,
      maxSessionMemory: maxSessionMegabytes,
      maxHeaderListPairs: maxHeaderPairs,
      settings: { initialWindowSize: streamWindowBytes, enablePush: false },
    });
    session.on("connect", () => {
      session.setLocalWindowSize(connectionWindowBytes);
    });
    // The end of the instance's input ends its container.
    session.on("error", end);
    return new StreamTunnel(session);
  }

  /** Bytes that are written before the instance answers wait. */
  dial(): Duplex {
    const stream = this.#session.request({ ":method": "CONNECT", ":authority": "instance" });
    stream.on("error", () => undefined);
    this.#rate.follow(stream);
    return stream;
  }

  close(): void {
    this.#session.destroy();
  }
}
