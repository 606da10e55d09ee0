import { Transform, type TransformCallback } from "node:stream";

/** Replaces an origin in a text, also where chunks divide it. */
export class OriginRewriter extends Transform {
  readonly #from: string;
  readonly #to: string;
  #held = "";

  constructor(from: string, to: string) {
    super();
    this.#from = `${from}/`;
    this.#to = `${to}/`;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    // One character for each byte.
    const text = this.#held + chunk.toString("latin1");
    const last = text.lastIndexOf(this.#from);
    const settled = Math.max(last < 0 ? 0 : last + this.#from.length, text.length - this.#from.length + 1);
    this.#held = text.slice(settled);
    done(null, Buffer.from(text.slice(0, settled).replaceAll(this.#from, this.#to), "latin1"));
  }

  override _flush(done: TransformCallback): void {
    done(null, Buffer.from(this.#held, "latin1"));
  }
}
