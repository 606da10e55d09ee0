import type { IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";

/** A web-standard `Request` with the parts of `IncomingMessage` that this package uses. */
export class WebRequest extends Readable {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Its body is consumed from here on. */
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
    // A socket client announces its body; a `Request` may not.
    if (web.body !== null && this.headers["content-length"] === undefined)
      this.headers["transfer-encoding"] = "chunked";
    // Prevents an uncaught error; readers still receive it.
    this.on("error", () => undefined);
    if (web.body === null) this.push(null);
    else {
      // Node keeps filling a byte stream (text, blob, form) after a cancellation and then throws an unhandled error.
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
