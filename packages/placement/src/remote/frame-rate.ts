import { joinChunks } from "@shoal/primitives/node";
import type { Duplex } from "node:stream";
import { Pace } from "../streams/pace.ts";

/** Frames of all streams of a connection, well above those of a busy browser. */
const rate = { burst: 20_000, perSecond: 20_000 };
/** Of frames above the rate. Each costs some microseconds and a hundred bytes. */
const maxDebtMs = 5_000;

/**
 * Reads the streams of an HTTP/2 connection slowly that carry very many small frames, and cuts off a connection that sends
 * on: the windows of HTTP/2 limit bytes, not frames.
 */
export class FrameRate {
  readonly #pace = new Pace(rate);
  readonly #cutOff: () => void;

  constructor(cutOff: () => void) {
    this.#cutOff = cutOff;
  }

  follow(stream: Duplex): void {
    joinChunks(stream);
    const push = stream.push.bind(stream);
    stream.push = (chunk: unknown, encoding?: BufferEncoding): boolean => {
      if (this.#pace.spend(1) > maxDebtMs) this.#cutOff();
      return push(chunk, encoding);
    };
  }
}
