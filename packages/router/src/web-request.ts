import type { IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";

/** A web-standard `Request` in the shape that handlers of Node's requests read: as much of `IncomingMessage` as this package uses. */
export class WebRequest extends Readable {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** The request that it stands for. Its body is read from here on. */
  readonly web: Request;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #cancels = false;

  constructor(web: Request) {
    super();
    const { host, pathname, search } = new URL(web.url);
    this.web = web;
    this.method = web.method;
    this.url = pathname + search;
    this.headers = { host, ...Object.fromEntries(web.headers) };
    // Whoever sends a request over a socket announces its body; here nobody has.
    if (web.body !== null && this.headers["content-length"] === undefined) this.headers["transfer-encoding"] = "chunked";
    // Whoever reads sees an error all the same.
    this.on("error", () => undefined);
    if (web.body === null) this.push(null);
    else {
      // Node fills the stream of a text, a blob or a form without looking, and fails, unhandled, when it was cancelled. Such a stream is one of bytes and is left to itself.
      this.#cancels = !isByteStream(web.body);
      this.#reader = web.body.getReader();
    }
  }

  override _read(): void {
    this.#reader?.read().then(
      ({ done, value }) => {
        if (!this.destroyed) this.push(done ? null : value);
      },
      (error: unknown) => {
        this.destroy(error instanceof Error ? error : new Error("The request's body broke off.", { cause: error }));
      },
    );
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    // A body that has ended already needs no end.
    if (this.#cancels) this.#reader?.cancel(error).catch(() => undefined);
    this.#reader = undefined;
    callback(error);
  }
}

function isByteStream(stream: ReadableStream<Uint8Array>): boolean {
  try {
    stream.getReader({ mode: "byob" }).releaseLock();
    return true;
  } catch {
    return false;
  }
}
