import { createFrameReader, encodeFrame, FrameError, opcode, unmask, type FrameHeader } from "./frames.ts";

/** Largest message that is looked into, in bytes with its headers. What has to be seen is small; larger ones pass in pieces as they come. */
export const maxInspectedBytes = 256 * 1024;

/** Largest frame, in bytes: Chromium closes the connection at a larger message. */
const maxFrameBytes = 256 * 2 ** 20;

/** What becomes of a client's message: passed on as it is, passed on changed, or not at all. */
export type Verdict = "pass" | "drop" | { readonly replace: string };

export interface ClientMessagesSink {
  /** Bytes for the browser, whole frames or pieces of one in order. */
  forward(bytes: Buffer): void;
  /** A whole text message of at most {@link maxInspectedBytes}, without mask. */
  inspect(message: Buffer): Verdict;
  /** A ping, pong or close frame, without mask. The gateway answers them: it alone knows whether the connection goes on. */
  control(code: number, payload: Buffer): void;
}

/** What a client has sent. */
export interface ClientMessages {
  /** @throws {FrameError} where the client breaks the protocol. */
  push(chunk: Buffer): void;
  /** Passes a text message of the gateway on, between those of the client. */
  send(text: string): void;
  /** Whole messages so far. */
  readonly count: number;
}

/**
 * Follows what a client sends: small messages are held until they are whole, looked at and passed on; large ones pass unparsed.
 * `push` throws a FrameError where the client breaks the protocol.
 */
export function createClientMessages(sink: ClientMessagesSink): ClientMessages {
  let frame: FrameHeader | undefined;
  let frameOffset = 0;
  let streaming = false;
  let raw: Buffer[] = [];
  let rawBytes = 0;
  let text: Buffer[] = [];
  let control: Buffer[] = [];
  let count = 0;
  /** Messages of the gateway that wait for the end of one that is passed in pieces. */
  let own: string[] = [];

  function send(text: string): void {
    if (streaming) own.push(text);
    else sink.forward(encodeFrame(opcode.text, Buffer.from(text), { masked: true }));
  }
  function forwardHeld(): void {
    for (const bytes of raw) sink.forward(bytes);
    forget();
  }
  function forget(): void {
    raw = [];
    rawBytes = 0;
    text = [];
  }
  function complete(): void {
    const verdict = sink.inspect(text.length === 1 && text[0] !== undefined ? text[0] : Buffer.concat(text));
    if (verdict === "pass") {
      forwardHeld();
      return;
    }
    forget();
    if (verdict !== "drop") sink.forward(encodeFrame(opcode.text, Buffer.from(verdict.replace), { masked: true }));
  }

  const reader = createFrameReader(
    { masked: true, maxPayloadBytes: maxFrameBytes },
    {
      header(header) {
        frame = header;
        frameOffset = 0;
        if (header.opcode === opcode.binary) throw new FrameError(1003, "CDP messages are text, not binary");
        if (header.opcode >= opcode.close) return;
        if (!streaming && rawBytes + header.raw.length + header.payloadBytes > maxInspectedBytes) {
          streaming = true;
          forwardHeld();
        }
        if (streaming) sink.forward(header.raw);
        else {
          raw.push(header.raw);
          rawBytes += header.raw.length + header.payloadBytes;
        }
      },
      payload(chunk) {
        if (frame?.mask === undefined) return;
        if (frame.opcode < opcode.close && streaming) {
          sink.forward(chunk);
          return;
        }
        const clear = unmask(chunk, frame.mask, frameOffset);
        frameOffset += chunk.length;
        if (frame.opcode >= opcode.close) control.push(clear);
        else {
          raw.push(chunk);
          text.push(clear);
        }
      },
      end() {
        if (frame === undefined) return;
        if (frame.opcode >= opcode.close) {
          const payload = Buffer.concat(control);
          control = [];
          sink.control(frame.opcode, payload);
        } else if (frame.final) {
          count++;
          if (streaming) {
            streaming = false;
            for (const text of own) send(text);
            own = [];
          } else complete();
        }
      },
    },
  );
  return {
    push(chunk) {
      reader.push(chunk);
    },
    send,
    get count() {
      return count;
    },
  };
}
