import {
  createFrameReader,
  encodeFrame,
  FrameError,
  opcode,
  unmask,
  type FrameHeader,
  type FrameReader,
} from "../../http/frames.ts";

/** Bytes, headers included. Relevant messages are small; larger ones are forwarded in pieces. */
export const maxInspectedBytes = 256 * 1024;

/** Largest frame in bytes: Chromium closes the connection at a larger message. */
const maxFrameBytes = 256 * 2 ** 20;

export type Verdict = "pass" | "drop" | { readonly replace: string };

export interface ClientMessagesSink {
  /** Receives bytes for the browser: whole frames, or pieces of one in order. */
  forward(bytes: Buffer): void;
  /** Inspects a whole, unmasked text message of at most {@link maxInspectedBytes}. */
  inspect(message: Buffer): Verdict;
  /** Receives an unmasked ping, pong or close frame, which the gateway answers. */
  control(code: number, payload: Buffer): void;
  /** Whether large messages need inspection too. */
  mustInspect?(): boolean;
  readonly maxInspectedBytes?: number;
}

/** Buffers and inspects small messages; forwards large ones unparsed. */
export class ClientMessages {
  readonly #sink: ClientMessagesSink;
  readonly #reader: FrameReader;
  #frame: FrameHeader | undefined;
  #frameOffset = 0;
  /** Whether the current message is large, so that its frames are forwarded as they arrive. */
  #streaming = false;
  #raw: Buffer[] = [];
  #rawBytes = 0;
  #text: Buffer[] = [];
  #control: Buffer[] = [];
  #count = 0;
  #unread = 0;
  #maxInspectedBytes = maxInspectedBytes;
  /** Messages of the gateway that wait for the end of a large message. */
  #own: string[] = [];

  constructor(sink: ClientMessagesSink) {
    this.#sink = sink;
    this.#reader = createFrameReader(
      { masked: true, maxPayloadBytes: maxFrameBytes },
      {
        header: (header) => {
          this.#begin(header);
        },
        payload: (chunk) => {
          this.#take(chunk);
        },
        end: () => {
          this.#end();
        },
      },
    );
  }

  get count(): number {
    return this.#count;
  }

  /** Messages that were forwarded in pieces. */
  get unread(): number {
    return this.#unread;
  }

  /** Whether no part of a message has arrived that is not complete. */
  get isBetweenMessages(): boolean {
    return this.#reader.isBetweenFrames && !this.#streaming && this.#rawBytes === 0;
  }

  /** @throws {FrameError} when the client violates the protocol. */
  push(chunk: Buffer): void {
    this.#reader.push(chunk);
  }

  /** Inspects messages of this size too, in bytes, headers included. */
  inspectUpTo(bytes: number): void {
    this.#maxInspectedBytes = bytes;
  }

  /** Sends a text message of the gateway, between those of the client. */
  send(text: string): void {
    if (this.#streaming) this.#own.push(text);
    else this.#sink.forward(encodeFrame(opcode.text, Buffer.from(text), { masked: true }));
  }

  #begin(header: FrameHeader): void {
    this.#frame = header;
    this.#frameOffset = 0;
    if (header.opcode === opcode.binary) throw new FrameError(1003, "CDP messages are text, not binary");
    if (header.opcode >= opcode.close) return;
    const bytes = header.headerBytes + header.payloadBytes;
    const mustInspect = this.#sink.mustInspect?.() === true;
    const limit = mustInspect
      ? Math.max(this.#sink.maxInspectedBytes ?? 0, this.#maxInspectedBytes)
      : this.#maxInspectedBytes;
    if (!this.#streaming && this.#rawBytes + bytes > limit) {
      if (mustInspect) throw uninspected();
      this.#streaming = true;
      this.#forwardHeld();
    }
    if (this.#streaming) this.#sink.forward(header.raw);
    else {
      this.#raw.push(header.raw);
      this.#rawBytes += bytes;
    }
  }

  #take(chunk: Buffer): void {
    const frame = this.#frame;
    if (frame?.mask === undefined) return;
    if (frame.opcode < opcode.close && this.#streaming) {
      if (this.#sink.mustInspect?.() === true) throw uninspected();
      this.#sink.forward(chunk);
      return;
    }
    const clear = unmask(chunk, frame.mask, this.#frameOffset);
    this.#frameOffset += chunk.length;
    if (frame.opcode >= opcode.close) this.#control.push(clear);
    else {
      this.#raw.push(chunk);
      this.#text.push(clear);
    }
  }

  #end(): void {
    const frame = this.#frame;
    if (frame === undefined) return;
    if (this.#streaming && frame.opcode < opcode.close && this.#sink.mustInspect?.() === true) throw uninspected();
    if (frame.opcode >= opcode.close) {
      const payload = Buffer.concat(this.#control);
      this.#control = [];
      this.#sink.control(frame.opcode, payload);
    } else if (frame.final) {
      this.#count++;
      if (this.#streaming) {
        this.#unread++;
        this.#endStreaming();
      } else this.#inspect();
    }
  }

  #endStreaming(): void {
    this.#streaming = false;
    for (const text of this.#own) this.send(text);
    this.#own = [];
  }

  #inspect(): void {
    const text = this.#text;
    const verdict = this.#sink.inspect(text.length === 1 && text[0] !== undefined ? text[0] : Buffer.concat(text));
    if (verdict === "pass") {
      this.#forwardHeld();
      return;
    }
    this.#forget();
    if (verdict !== "drop") this.send(verdict.replace);
  }

  #forwardHeld(): void {
    for (const bytes of joined(this.#raw)) this.#sink.forward(bytes);
    this.#forget();
  }

  #forget(): void {
    this.#raw = [];
    this.#rawBytes = 0;
    this.#text = [];
  }
}

/** Joins pieces that are next to each other in one chunk: a single write is cheaper than a list of pieces. */
export function joined(pieces: readonly Buffer[]): Buffer[] {
  const found: Buffer[] = [];
  for (const piece of pieces) {
    const last = found.at(-1);
    if (last?.buffer === piece.buffer && last.byteOffset + last.length === piece.byteOffset)
      found[found.length - 1] = Buffer.from(last.buffer, last.byteOffset, last.length + piece.length);
    else found.push(piece);
  }
  return found;
}

function uninspected(): FrameError {
  return new FrameError(1009, "handoff_active: the message is too large while a person has control; reconnect");
}
