import { Readable } from "node:stream";

/** The client closed the connection before its request was complete. */
export class ClientGone extends Error {
  override readonly name = "ClientGone";
  constructor() {
    super("The client closed the connection before its request was complete.");
  }
}

/**
 * Passes on a request or a part with backpressure. Destroying it drains the source: the answer still needs its
 * connection.
 */
export class GuardedStream extends Readable {
  readonly #source: Readable;
  readonly #translate: (error: unknown) => Error;
  #ended = false;

  /** @param translate - converts an error of the source for the reader. */
  constructor(source: Readable, translate: (error: unknown) => Error) {
    super();
    this.#source = source;
    this.#translate = translate;
    source.on("data", this.#onData);
    source.pause();
    source.on("end", this.#onEnd);
    source.on("error", this.#onError);
    source.on("close", this.#onClose);
    // Prevents an uncaught error; readers still receive it.
    this.on("error", () => undefined);
    if (source.destroyed && !source.readableEnded) this.destroy(this.#translate(undefined));
  }

  override _read(): void {
    this.#source.resume();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#source.off("data", this.#onData);
    // The other listeners stay, so that an error of the source is not uncaught.
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
