/** Between the service and the program in a box: 4 bytes length (big-endian), 1 byte kind, then the content. */
export const frameKinds = {
  /** JSON. */
  message: 1,
  /** Payload or output of an action: JSON that only its owner parses. */
  value: 2,
  /** Part of a file. */
  bytes: 3,
} as const;

export type FrameKind = keyof typeof frameKinds;

export interface Frame {
  readonly kind: FrameKind;
  readonly content: Buffer;
}

/** Bytes that the service accepts. The largest message describes apps: up to 1 MiB, with payloads of schedules. */
export const maxFrameBytes: FrameLimits = { message: 2 * 2 ** 20, value: 4.5 * 2 ** 20, bytes: 2 ** 20 };

/** Environment variables of an app are up to 6.5 MB, in JSON several times that. */
export const maxFrameBytesInside: FrameLimits = { ...maxFrameBytes, message: 64 * 2 ** 20 };

export type FrameLimits = Readonly<Record<FrameKind, number>>;

const headBytes = 5;

/** The head has to be followed by the content. */
export function frameHead(kind: FrameKind, length: number): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUInt32BE(length);
  head.writeUInt8(frameKinds[kind], 4);
  return head;
}

export function encodeFrame(kind: FrameKind, content: Buffer): Buffer {
  return Buffer.concat([frameHead(kind, content.length), content]);
}

export function encodeMessage(message: object): Buffer {
  return encodeFrame("message", Buffer.from(JSON.stringify(message)));
}

/** Splits a stream into frames. */
export class FrameReader {
  #held: Buffer[] = [];
  #heldBytes = 0;
  #wanted = headBytes;
  #kind: FrameKind | undefined;
  readonly #limits: FrameLimits;

  constructor(limits: FrameLimits) {
    this.#limits = limits;
  }

  /** @throws {RangeError} for an unknown kind or a frame that is too long. */
  *read(chunk: Buffer): Generator<Frame> {
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    while (this.#heldBytes >= this.#wanted) {
      const content = this.#take();
      if (this.#kind === undefined) this.#begin(content);
      else {
        yield { kind: this.#kind, content };
        this.#kind = undefined;
        this.#wanted = headBytes;
      }
    }
  }

  #begin(head: Buffer): void {
    const length = head.readUInt32BE();
    const number = head.readUInt8(4);
    const kind = (Object.keys(frameKinds) as FrameKind[]).find((name) => frameKinds[name] === number);
    if (kind === undefined) throw new RangeError(`Unknown frame ${String(number)}.`);
    const limit = this.#limits[kind];
    if (length > limit) throw new RangeError(`A ${kind} has ${String(length)} bytes; the limit is ${String(limit)}.`);
    this.#kind = kind;
    this.#wanted = length;
  }

  #take(): Buffer {
    const all = this.#held.length === 1 ? (this.#held[0] ?? Buffer.alloc(0)) : Buffer.concat(this.#held);
    const rest = all.subarray(this.#wanted);
    this.#held = rest.length === 0 ? [] : [rest];
    this.#heldBytes = rest.length;
    return all.subarray(0, this.#wanted);
  }
}
