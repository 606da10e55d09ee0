import { Readable } from "node:stream";

/** The peer closed the connection before its request was complete; nobody is left to answer. */
export class ClientGone extends Error {
  override readonly name = "ClientGone";
  constructor() {
    super("The client closed the connection before its request was complete.");
  }
}

/**
 * Passes on a source (a request, a part of a multipart body) with back-pressure. Destroying it discards the rest of the source instead of
 * destroying it: the source shares its connection with the answer that is still to be sent, and a `pipeline` that fails destroys what it reads.
 */
export class GuardedStream extends Readable {
  readonly #source: Readable;
  readonly #translate: (error: unknown) => Error;
  #ended = false;

  /** @param translate - makes what the reader sees of an error of the source. */
  constructor(source: Readable, translate: (error: unknown) => Error) {
    super();
    this.#source = source;
    this.#translate = translate;
    source.on("data", this.#onData);
    source.pause();
    source.on("end", this.#onEnd);
    source.on("error", this.#onError);
    source.on("close", this.#onClose);
    // A reader that has not begun yet must not make an error an uncaught one; whoever reads sees it all the same.
    this.on("error", () => undefined);
    if (source.destroyed && !source.readableEnded) this.destroy(this.#translate(undefined));
  }

  override _read(): void {
    this.#source.resume();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#source.off("data", this.#onData);
    // The other listeners stay: an error of the source must not become an uncaught one.
    if (!this.#ended) this.#source.resume();
    callback(error);
  }

  readonly #onData = (chunk: Buffer): void => {
    if (!this.push(chunk)) this.#source.pause();
  };
  readonly #onEnd = (): void => {
    this.#ended = true;
    this.push(null);
  };
  readonly #onError = (error: unknown): void => {
    if (!this.destroyed) this.destroy(this.#translate(error));
  };
  readonly #onClose = (): void => {
    if (!this.#ended && !this.destroyed) this.destroy(this.#translate(undefined));
  };
}
