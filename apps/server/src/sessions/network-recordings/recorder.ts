import type { AnswerHead, ExchangeEnd, ExchangeRecorder, ExchangeRequest, RecordedExchange } from "@shoal/placement";
import type { Writable } from "node:stream";
import { type Frame, writeFrame } from "./frames.ts";

export interface RecordingLimits {
  /** Of one answer. */
  readonly answerBytes: number;
  /** Of the recording. */
  readonly bytes: number;
  readonly requests: number;
  /** Of requests and heads of answers, which replays hold in memory. */
  readonly indexBytes: number;
  /** Chunks of all answers. Replays hold an entry of each one in memory. */
  readonly chunks: number;
  /** That wait for the disk. */
  readonly pendingBytes: number;
}

export const usualRecordingLimits: RecordingLimits = {
  answerBytes: 32 * 2 ** 20,
  bytes: 256 * 2 ** 20,
  requests: 20_000,
  indexBytes: 16 * 2 ** 20,
  chunks: 200_000,
  pendingBytes: 16 * 2 ** 20,
};

export interface RecordedTotals {
  readonly sizeBytes: number;
  readonly requests: number;
  /** Requests whose answer is missing, because of a limit. */
  readonly leftOut: number;
  /** A limit of the whole recording was reached. */
  readonly isTruncated: boolean;
}

const ignored: RecordedExchange = {
  ...{ head: () => undefined, data: () => undefined, end: () => undefined, drop: () => undefined },
};

/** Writes exchanges as frames. An answer that passes a limit is left out whole, so that no replay shows a part of it. */
export class Recorder implements ExchangeRecorder {
  readonly #sink: Writable;
  readonly #limits: RecordingLimits;
  readonly #open = new Set<RecordedExchange>();
  #sizeBytes = 0;
  #requests = 0;
  #indexBytes = 0;
  #chunks = 0;
  #leftOut = 0;
  #isTruncated = false;
  #isClosed = false;

  constructor(sink: Writable, limits: RecordingLimits) {
    this.#sink = sink;
    this.#limits = limits;
  }

  get totals(): RecordedTotals {
    return {
      sizeBytes: this.#sizeBytes,
      requests: this.#requests,
      leftOut: this.#leftOut,
      isTruncated: this.#isTruncated,
    };
  }

  begin(request: ExchangeRequest): RecordedExchange {
    if (this.#isClosed) return ignored;
    const x = this.#requests;
    if (x >= this.#limits.requests) this.#isTruncated = true;
    if (x >= this.#limits.requests || !this.#writeIndexed({ x, request })) {
      this.#leftOut += 1;
      return ignored;
    }
    this.#requests += 1;
    const exchange = this.#exchange(x);
    this.#open.add(exchange);
    return exchange;
  }

  /** Answers that arrive later are not recorded. */
  close(): void {
    for (const exchange of this.#open) exchange.end("open", "");
    this.#isClosed = true;
    this.#sink.end();
  }

  #exchange(x: number): RecordedExchange {
    let atMs = performance.now();
    let answered = 0;
    const sinceLast = (): number => {
      const nowMs = performance.now();
      const passed = Math.round(nowMs - atMs);
      atMs = nowMs;
      return passed;
    };
    const leaveOut = (): void => {
      this.#open.delete(exchange);
      this.#leftOut += 1;
      this.#write(writeFrame({ x, isLeftOut: true }));
    };
    const exchange: RecordedExchange = {
      head: (head: AnswerHead) => {
        if (this.#open.has(exchange) && !this.#writeIndexed({ x, head, ms: sinceLast() })) leaveOut();
      },
      data: (chunk, messages) => {
        if (!this.#open.has(exchange)) return;
        answered += chunk.length;
        if (this.#chunks >= this.#limits.chunks) this.#isTruncated = true;
        if (answered > this.#limits.answerBytes || this.#chunks >= this.#limits.chunks || !this.#hasRoom(chunk.length))
          leaveOut();
        else {
          this.#chunks += 1;
          this.#write(writeFrame({ x, bytes: chunk.length, ms: sinceLast(), messages }), chunk);
        }
      },
      end: (end: ExchangeEnd, body: string) => {
        if (this.#open.delete(exchange)) this.#write(writeFrame({ x, end, body }));
      },
      drop: () => {
        if (this.#open.delete(exchange)) this.#write(writeFrame({ x, isLeftOut: true }));
      },
    };
    return exchange;
  }

  /** @returns whether there is room for it. */
  #writeIndexed(frame: Frame): boolean {
    const written = writeFrame(frame);
    if (this.#indexBytes + written.length > this.#limits.indexBytes) {
      this.#isTruncated = true;
      return false;
    }
    if (!this.#hasRoom(written.length)) return false;
    this.#indexBytes += written.length;
    this.#write(written);
    return true;
  }

  #hasRoom(length: number): boolean {
    const { bytes, pendingBytes } = this.#limits;
    if (this.#sizeBytes + length > bytes) {
      this.#isTruncated = true;
      return false;
    }
    return this.#sink.writableLength <= pendingBytes;
  }

  #write(frame: Uint8Array, bytes: Uint8Array = new Uint8Array()): void {
    const written = Buffer.concat([frame, bytes]);
    this.#sizeBytes += written.length;
    // It fails when the disk is full; the recording has then failed as a whole.
    if (this.#sink.writable) this.#sink.write(written);
  }
}
