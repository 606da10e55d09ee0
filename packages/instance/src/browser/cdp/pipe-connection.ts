import type { Readable, Writable } from "node:stream";
import { CborError, decodeCbor, encodeCbor, envelopeHeaderBytes, eventNameOf, messageBytesAt } from "./cbor.ts";
import type { CdpConnection } from "./cdp-connection.ts";
import { type CdpCommand, type CdpMessage, MessageConnection } from "./message-connection.ts";

/** In bytes: an incompressible screenshot of an 8K page. A longer one means a corrupt stream. */
const maxMessageBytes = 160 * 2 ** 20;

/**
 * Chromium's processes exchange CBOR internally; JSON would cost a busy browser a third more. Every command is rejected
 * once a stream has ended.
 */
export function connectPipe(commands: Writable, messages: Readable): CdpConnection {
  return new PipeConnection(commands, messages);
}

class PipeConnection extends MessageConnection {
  readonly #commands: Writable;
  readonly #messages: Readable;
  #chunks: Buffer[] = [];
  #heldBytes = 0;
  #neededBytes = envelopeHeaderBytes;

  constructor(commands: Writable, messages: Readable) {
    super();
    this.#commands = commands;
    this.#messages = messages;
    messages.on("data", this.#hold);
    for (const stream of [commands, messages]) {
      // A browser that died shows as EPIPE here; the process reports its exit.
      stream.on("error", this.#close);
      stream.on("close", this.#close);
    }
  }

  /** Commands that follow one another at once go to the browser in one piece. */
  protected override transmit(command: CdpCommand): void {
    this.#commands.cork();
    this.#commands.write(encodeCbor(command));
    process.nextTick(() => {
      this.#commands.uncork();
    });
  }

  readonly #close = (): void => {
    this.end();
  };

  readonly #hold = (chunk: Buffer): void => {
    this.#chunks.push(chunk);
    this.#heldBytes += chunk.length;
    if (this.#heldBytes < this.#neededBytes) return;
    try {
      this.#takeComplete();
    } catch (error) {
      if (!(error instanceof CborError)) throw error;
      this.#messages.destroy();
    }
  };

  /** Processes the complete messages. @throws {CborError} when the stream is corrupt. */
  #takeComplete(): void {
    const [first] = this.#chunks;
    const bytes =
      this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks, this.#heldBytes);
    let start = 0;
    this.#neededBytes = envelopeHeaderBytes;
    while (bytes.length - start >= envelopeHeaderBytes) {
      const length = messageBytesAt(bytes, start);
      if (length > maxMessageBytes) throw new CborError(`a message of ${String(length)} bytes`);
      this.#neededBytes = length;
      if (bytes.length - start < length) break;
      this.#neededBytes = envelopeHeaderBytes;
      start += length;
      this.#receive(bytes.subarray(start - length, start));
    }
    this.#heldBytes = bytes.length - start;
    this.#chunks = this.#heldBytes === 0 ? [] : [bytes.subarray(start)];
  }

  #receive(bytes: Buffer): void {
    // A busy page emits tens of thousands of events without a listener; decoding them would cost as much as all others.
    const name = eventNameOf(bytes);
    if (name !== undefined && !this.hasListener(name)) return;
    // The shape of CDP; `take` checks the fields.
    this.take(decodeCbor(bytes) as CdpMessage);
  }
}
