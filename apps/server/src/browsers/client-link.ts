import { createServerFrames, encodeClose, encodeFrame, opcode } from "@shoal/instance";
import type { Duplex } from "node:stream";

/** How long a client may take to read and answer a close frame. */
const closeTimeoutMs = 500;
const pingsPerTimeout = 4;

/** A client's WebSocket that was spliced with one to a session's instance, or to another server. */
export interface ClientLinkParts {
  readonly client: Duplex;
  readonly inner: Duplex;
  /** Bytes that the client was sent already, from the first frame on. */
  readonly sent: Buffer;
  /** How long the client may send nothing, not even the answer to a ping. */
  readonly timeoutMs: number;
  /** Called before a silent client is disconnected. */
  readonly onTimeout: () => void;
}

/**
 * Adds frames of the service to a spliced WebSocket, between two messages of the instance: pings, which find clients that vanished without a
 * word, and a close frame. TCP keep-alive does not find them behind a reverse proxy. Create it after the splice, whose writes must come first.
 */
export class ClientLink {
  readonly #parts: ClientLinkParts;
  readonly #frames = createServerFrames();
  readonly #timer: NodeJS.Timeout;
  /** Whether the instance sends valid frames; between others nothing can be added. */
  #isValid = true;
  #isPingDue = false;
  #closeFrame: Buffer | undefined;
  #lastSignMs = performance.now();

  constructor(parts: ClientLinkParts) {
    this.#parts = parts;
    const { client, inner, sent, timeoutMs } = parts;
    this.#follow(sent);
    inner.on("data", (chunk: Buffer) => {
      const boundary = this.#follow(chunk);
      if (this.#closeFrame !== undefined) {
        this.#sendLast(chunk, boundary);
        return;
      }
      // A client that still takes a large message cannot be pinged, and is not silent either.
      if (!this.#isBetweenMessages) this.#noteSign();
      this.#sendPing();
    });
    client.on("data", () => {
      this.#noteSign();
    });
    this.#timer = setInterval(() => {
      this.#look();
    }, timeoutMs / pingsPerTimeout).unref();
    client.once("close", () => {
      clearInterval(this.#timer);
    });
  }

  /** Ends the connection with a close frame; without one where the instance does not finish its message. Repeated calls do nothing. */
  close(code: number, reason: string): void {
    if (this.#closeFrame !== undefined) return;
    const { client, inner } = this.#parts;
    this.#closeFrame = encodeClose(code, reason);
    const timer = setTimeout(() => client.destroy(), closeTimeoutMs);
    client.once("close", () => {
      clearTimeout(timer);
    });
    // Nothing that the client still sends goes to the instance.
    client.unpipe();
    client.resume();
    inner.unpipe(client);
    if (this.#isBetweenMessages) this.#sendClose();
    else if (client.writableNeedDrain) client.once("drain", () => inner.resume());
    else inner.resume();
  }

  /** Ends the connection because that of the instance has ended: with a close frame, unless the instance sent one, or was cut off within a message. */
  endAfterInstance(code: number, reason: string): void {
    const { client } = this.#parts;
    if (this.#closeFrame !== undefined || client.writableEnded) return;
    client.end(this.#isBetweenMessages && !this.#frames.closed ? encodeClose(code, reason) : undefined);
  }

  /** Sends the rest of the message that is on its way, then the close frame. */
  #sendLast(chunk: Buffer, boundary: number): void {
    const { client, inner } = this.#parts;
    if (client.writableEnded || client.destroyed) return;
    client.write(boundary === -1 ? chunk : chunk.subarray(0, boundary));
    if (boundary !== -1) this.#sendClose();
    else if (client.writableNeedDrain) {
      inner.pause();
      client.once("drain", () => inner.resume());
    }
  }

  #sendClose(): void {
    const { client, inner } = this.#parts;
    client.end(this.#closeFrame);
    inner.resume();
  }

  get #isBetweenMessages(): boolean {
    return this.#isValid && this.#frames.atBoundary;
  }

  #noteSign(): void {
    this.#lastSignMs = performance.now();
  }

  /** @returns how many bytes of a chunk lie before the last end of a message in it; -1 where there is none. */
  #follow(chunk: Buffer): number {
    if (!this.#isValid) return -1;
    try {
      return this.#frames.follow(chunk);
    } catch {
      this.#isValid = false;
      return -1;
    }
  }

  #look(): void {
    const { client, onTimeout, timeoutMs } = this.#parts;
    const silentMs = performance.now() - this.#lastSignMs;
    if (silentMs >= timeoutMs) {
      onTimeout();
      client.destroy();
      return;
    }
    if (silentMs < timeoutMs / pingsPerTimeout / 2) return;
    this.#isPingDue = true;
    this.#sendPing();
  }

  #sendPing(): void {
    const { client } = this.#parts;
    if (!this.#isPingDue || !this.#isBetweenMessages || this.#closeFrame !== undefined || client.writableEnded) return;
    this.#isPingDue = false;
    client.write(encodeFrame(opcode.ping, Buffer.alloc(0)));
  }
}
