/** RFC 6455, section 5.2. */
export const opcode = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** A violation of RFC 6455; `code` is the close code for it. */
export class FrameError extends Error {
  override readonly name = "FrameError";
  readonly code: 1002 | 1003 | 1009;
  constructor(code: FrameError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/** Its buffers are made when they are read: a sender of empty frames would make the service create millions of them. */
export class FrameHeader {
  readonly final: boolean;
  readonly opcode: number;
  readonly payloadBytes: number;
  readonly headerBytes: number;
  readonly #bytes: Buffer;
  readonly #start: number;
  readonly #isMasked: boolean;

  constructor(
    {
      final,
      opcode: code,
      payloadBytes,
      headerBytes,
    }: Pick<FrameHeader, "final" | "headerBytes" | "opcode" | "payloadBytes">,
    { bytes, isMasked, start }: { readonly bytes: Buffer; readonly start: number; readonly isMasked: boolean },
  ) {
    this.final = final;
    this.opcode = code;
    this.payloadBytes = payloadBytes;
    this.headerBytes = headerBytes;
    this.#bytes = bytes;
    this.#start = start;
    this.#isMasked = isMasked;
  }

  get raw(): Buffer {
    return this.#bytes.subarray(this.#start, this.#start + this.headerBytes);
  }

  /** Four bytes; `undefined` in frames of a server. */
  get mask(): Buffer | undefined {
    return this.#isMasked ? this.raw.subarray(-4) : undefined;
  }
}

/** Receives the parts of each frame: header, payload in pieces (still masked), end. */
export interface FrameSink {
  header(header: FrameHeader): void;
  payload(chunk: Buffer): void;
  end(): void;
}

export interface FrameReaderOptions {
  /** True for frames of clients, which must be masked; frames of servers must not be. */
  readonly masked: boolean;
  readonly maxPayloadBytes: number;
}

export interface FrameReader {
  /** @throws {FrameError} at the first violation of the protocol. Push nothing after that. */
  push(chunk: Buffer): void;
  readonly isBetweenFrames: boolean;
}

const maxControlPayloadBytes = 125;
const empty = Buffer.alloc(0);

/** Splits a byte stream into frames. Buffers at most a header, never a payload. */
export function createFrameReader(options: FrameReaderOptions, sink: FrameSink): FrameReader {
  let header = empty;
  let remainingBytes = 0;
  let inPayload = false;
  let inMessage = false;

  function begin(frame: FrameHeader): void {
    const isControl = frame.opcode >= 8;
    if (!isControl) {
      if (inMessage !== (frame.opcode === opcode.continuation))
        throw new FrameError(1002, inMessage ? "a new message began inside another" : "a continuation of no message");
      inMessage = !frame.final;
    }
    remainingBytes = frame.payloadBytes;
    inPayload = true;
    sink.header(frame);
  }

  return {
    get isBetweenFrames() {
      return !inPayload && header.length === 0;
    },
    push(chunk) {
      let offset = 0;
      while (offset < chunk.length || (inPayload && remainingBytes === 0)) {
        if (inPayload) {
          const end = Math.min(chunk.length, offset + remainingBytes);
          if (end > offset) sink.payload(chunk.subarray(offset, end));
          remainingBytes -= end - offset;
          offset = end;
          if (remainingBytes > 0) return;
          inPayload = false;
          sink.end();
        } else {
          const held = header.length;
          const bytes = held === 0 ? chunk : Buffer.concat([header, chunk.subarray(offset, offset + 14)]);
          const start = held === 0 ? offset : 0;
          const frame = parseFrameHeader(bytes, start, options);
          if (frame === undefined) {
            header = Buffer.from(bytes.subarray(start));
            return;
          }
          header = empty;
          offset += frame.headerBytes - held;
          begin(frame);
        }
      }
    },
  };
}

function parseFrameHeader(bytes: Buffer, start: number, options: FrameReaderOptions): FrameHeader | undefined {
  const [first, second] = [bytes[start], bytes[start + 1]];
  if (first === undefined) return undefined;
  const code = first & 0x0f;
  const final = (first & 0x80) !== 0;
  if ((first & 0x70) !== 0) throw new FrameError(1002, "reserved bits are set, but no extension was agreed on");
  if ((code > 2 && code < 8) || code > 10) throw new FrameError(1002, `unknown opcode ${String(code)}`);
  if (code >= 8 && !final) throw new FrameError(1002, "a control frame in pieces");
  if (second === undefined) return undefined;
  const masked = (second & 0x80) !== 0;
  if (masked !== options.masked)
    throw new FrameError(1002, masked ? "a server's frame is masked" : "a client's frame is not masked");
  const short = second & 0x7f;
  if (code >= 8 && short > maxControlPayloadBytes)
    throw new FrameError(1002, "a control frame with more than 125 bytes");
  const maskStart = short === 126 ? 4 : short === 127 ? 10 : 2;
  if (bytes.length < start + maskStart) return undefined;
  const payloadBytes =
    short === 126
      ? bytes.readUInt16BE(start + 2)
      : short === 127
        ? bytes.readUInt32BE(start + 2) * 2 ** 32 + bytes.readUInt32BE(start + 6)
        : short;
  if (payloadBytes > options.maxPayloadBytes)
    throw new FrameError(
      1009,
      `a frame of ${String(payloadBytes)} bytes; at most ${String(options.maxPayloadBytes)} are allowed`,
    );
  const headerBytes = maskStart + (masked ? 4 : 0);
  if (bytes.length < start + headerBytes) return undefined;
  return new FrameHeader({ final, opcode: code, payloadBytes, headerBytes }, { bytes, start, isMasked: masked });
}

/** The mask is zero: masks protect proxies from hostile pages, and neither exists here. */
export function encodeFrame(
  code: number,
  payload: Buffer,
  options: { readonly masked: boolean } = { masked: false },
): Buffer {
  const extended = payload.length > 0xffff ? 8 : payload.length > maxControlPayloadBytes ? 2 : 0;
  const header = Buffer.alloc(2 + extended + (options.masked ? 4 : 0));
  header[0] = 0x80 | code;
  header[1] = (options.masked ? 0x80 : 0) | (extended === 8 ? 127 : extended === 2 ? 126 : payload.length);
  if (extended === 8) header.writeBigUInt64BE(BigInt(payload.length), 2);
  else if (extended === 2) header.writeUInt16BE(payload.length, 2);
  return Buffer.concat([header, payload]);
}

export function encodeClose(code: number, reason: string): Buffer {
  const text = Buffer.from(reason);
  const cut =
    text.length <= 123
      ? text
      : Buffer.from(
          text
            .subarray(0, 120)
            .toString()
            .replace(/\uFFFD$/, ""),
        );
  const payload = Buffer.alloc(2 + cut.length);
  payload.writeUInt16BE(code);
  cut.copy(payload, 2);
  return encodeFrame(opcode.close, payload);
}

export function unmask(chunk: Buffer, mask: Buffer, offset: number): Buffer {
  const result = Buffer.allocUnsafe(chunk.length);
  for (let i = 0; i < chunk.length; i++) result[i] = (chunk[i] ?? 0) ^ (mask[(offset + i) & 3] ?? 0);
  return result;
}
