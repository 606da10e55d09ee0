import { createFrameReader, opcode } from "./frames.ts";

/** Follows what the browser sends and finds the places between two messages where a frame of one's own may stand. */
export interface ServerFrames {
  /** Whether the next byte begins a new message. */
  readonly atBoundary: boolean;
  /**
   * Follows a chunk.
   *
   * @returns how many of its bytes lie before the last boundary that it reaches; -1 when it reaches none.
   * @throws {FrameError} when it is no WebSocket.
   */
  follow(chunk: Buffer): number;
  /** Whole messages so far. */
  readonly count: number;
  /** Whether there was a close frame: nothing may follow it. */
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
