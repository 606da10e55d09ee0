import { createFrameReader, opcode } from "./frames.ts";

/** Finds the boundaries between the browser's messages, where other frames can be inserted. */
export interface ServerFrames {
  readonly atBoundary: boolean;
  /** Returns the number of bytes before the chunk's last boundary, or -1. @throws {FrameError} */
  follow(chunk: Buffer): number;
  readonly count: number;
  /** A close frame was sent: nothing may follow. */
  readonly closed: boolean;
}

export function createServerFrames(): ServerFrames {
  let followedBytes = 0;
  let framesBytes = 0;
  let boundaryBytes = 0;
  let inMessage = false;
  let controlling = false;
  let closed = false;
  let count = 0;
  const reader = createFrameReader(
    { masked: false, maxPayloadBytes: Number.MAX_SAFE_INTEGER },
    {
      header(header) {
        framesBytes += header.raw.length + header.payloadBytes;
        controlling = header.opcode >= opcode.close;
        closed ||= header.opcode === opcode.close;
        if (!controlling) inMessage = !header.final;
      },
      payload: () => undefined,
      end() {
        if (inMessage) return;
        boundaryBytes = framesBytes;
        if (!controlling) count++;
      },
    },
  );
  return {
    get count() {
      return count;
    },
    get closed() {
      return closed;
    },
    get atBoundary() {
      return boundaryBytes === followedBytes;
    },
    follow(chunk) {
      const start = followedBytes;
      followedBytes += chunk.length;
      reader.push(chunk);
      return boundaryBytes > start ? boundaryBytes - start : -1;
    },
  };
}
