import { createFrameReader, opcode } from "./frames.ts";

/** Finds the boundaries between the browser's messages, where other frames can be inserted. */
export interface ServerFrames {
  readonly atBoundary: boolean;
  /** Returns the number of bytes before the chunk's last boundary, or -1. @throws {FrameError} */
  follow(chunk: Buffer): number;
  readonly count: number;
  /** Of any kind, also parts of messages and empty frames. */
  readonly frames: number;
  /** Messages that answer a command of CDP: they begin with its id, or with an error. */
  readonly answers: number;
  /** A close frame was sent: nothing may follow. */
  readonly closed: boolean;
}

const answerStart = '{"id":';
const errorStart = '{"erro';

export function createServerFrames(): ServerFrames {
  let followedBytes = 0;
  let framesBytes = 0;
  let boundaryBytes = 0;
  let inMessage = false;
  let controlling = false;
  let closed = false;
  let count = 0;
  let answers = 0;
  let frames = 0;
  /** First bytes of the current message, which decide whether it is an answer; `undefined` once decided. */
  let start: string | undefined;
  const reader = createFrameReader(
    { masked: false, maxPayloadBytes: Number.MAX_SAFE_INTEGER },
    {
      header(header) {
        framesBytes += header.headerBytes + header.payloadBytes;
        frames++;
        controlling = header.opcode >= opcode.close;
        closed ||= header.opcode === opcode.close;
        if (controlling) return;
        if (!inMessage) start = "";
        inMessage = !header.final;
      },
      payload(chunk) {
        if (start === undefined || controlling) return;
        start += chunk.toString("latin1", 0, answerStart.length - start.length);
        if (start.length < answerStart.length) return;
        if (start === answerStart || start === errorStart) answers++;
        start = undefined;
      },
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
    get frames() {
      return frames;
    },
    get answers() {
      return answers;
    },
    get closed() {
      return closed;
    },
    get atBoundary() {
      return boundaryBytes === followedBytes;
    },
    follow(chunk) {
      const before = followedBytes;
      followedBytes += chunk.length;
      reader.push(chunk);
      return boundaryBytes > before ? boundaryBytes - before : -1;
    },
  };
}
