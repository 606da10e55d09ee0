import type { Duplex } from "node:stream";

/** More than a client sends before the answer to its handshake. */
const maxEarlyBytes = 65_536;

/** Notices that a client goes while it waits for the answer to its handshake: an unread socket does not tell. */
export class WaitingClient {
  readonly #socket: Duplex;
  readonly #gone = new AbortController();
  readonly #early: Buffer[] = [];
  #bytes = 0;

  constructor(socket: Duplex) {
    this.#socket = socket;
    socket.on("data", this.#onData).once("end", this.#onGone).once("close", this.#onGone);
  }

  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  /** @returns what the client has sent meanwhile. Further data waits in the socket. */
  release(): Buffer {
    this.#socket.off("data", this.#onData).off("end", this.#onGone).off("close", this.#onGone).pause();
    return Buffer.concat(this.#early);
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#bytes += chunk.byteLength;
    if (this.#bytes > maxEarlyBytes) this.#onGone();
    else this.#early.push(chunk);
  };

  readonly #onGone = (): void => {
    this.#gone.abort(new Error("The client has gone."));
    this.#socket.destroy();
  };
}
