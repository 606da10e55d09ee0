import type { OutgoingHttpHeaders } from "node:http";
import { Writable } from "node:stream";

type WriteCallback = (error: Error | null | undefined) => void;

/** Statuses whose `Response` must not have a body. */
const bodiless = new Set([101, 204, 205, 304]);

/** Collects writes in the style of Node's `ServerResponse` into a web-standard `Response`. */
export class WebResponse extends Writable {
  readonly req: { readonly method: string };
  /** Resolves with the status and headers; the body follows at the pace of its reader. */
  readonly web: Promise<Response>;
  /** Replaces the connection, which is closed after everything is written. */
  readonly socket = {
    destroySoon: (): void => {
      if (this.#controller === undefined) this.destroy();
      else
        this.write("", () => {
          this.destroy();
        });
    },
  };
  statusCode = 200;
  headersSent = false;
  readonly #headers = new Headers();
  readonly #settle = Promise.withResolvers<Response>();
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #wanted: (() => void) | undefined;
  #isWanted = false;

  constructor(method: string) {
    super({ decodeStrings: true });
    this.req = { method };
    this.web = this.#settle.promise;
    this.web.catch(() => undefined);
    this.on("error", () => undefined);
  }

  setHeader(name: string, value: number | string | readonly string[]): this {
    this.#headers.delete(name);
    for (const item of [value].flat()) this.#headers.append(name, String(item));
    return this;
  }

  writeHead(status: number, headers: OutgoingHttpHeaders = {}): this {
    this.statusCode = status;
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) this.setHeader(name, value);
    this.headersSent = true;
    return this;
  }

  flushHeaders(): void {
    if (this.#controller !== undefined || this.writableEnded) return;
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => {
          this.#isWanted = true;
          this.#wanted?.();
        },
        cancel: () => {
          this.destroy();
        },
      },
      // Zero, so that unread data counts as backpressure here.
      { highWaterMark: 0 },
    );
    this.#settle.resolve(new Response(body, { status: this.statusCode, headers: this.#headers }));
  }

  override write(chunk: unknown, encoding?: BufferEncoding | WriteCallback, callback?: WriteCallback): boolean {
    this.flushHeaders();
    return typeof encoding === "string" ? super.write(chunk, encoding, callback) : super.write(chunk, encoding);
  }

  /** Answers sent in one piece need no stream. */
  override end(given?: string | (() => void)): this {
    const text = typeof given === "function" ? undefined : given;
    if (this.#controller !== undefined || this.destroyed) return text === undefined ? super.end() : super.end(text);
    const without = text === undefined || this.req.method === "HEAD" || bodiless.has(this.statusCode);
    this.#settle.resolve(new Response(without ? null : text, { status: this.statusCode, headers: this.#headers }));
    return super.end();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    const give = (): void => {
      this.#wanted = undefined;
      if (this.destroyed) {
        callback();
        return;
      }
      if (chunk.length > 0) {
        this.#isWanted = false;
        this.#controller?.enqueue(new Uint8Array(chunk));
      }
      callback();
    };
    if (this.#isWanted) give();
    else this.#wanted = give;
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.#controller?.close();
    callback();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    if (!this.writableFinished) {
      // The same error as `fetch` when the connection is lost.
      const failure = error ?? new TypeError("terminated: the service closed the connection");
      this.#settle.reject(failure);
      try {
        this.#controller?.error(failure);
      } catch {
        // The reader has cancelled the body.
      }
    }
    callback(error);
  }
}
