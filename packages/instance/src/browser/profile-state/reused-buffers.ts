import type { FileHandle } from "node:fs/promises";
import type { Writable } from "node:stream";

const bufferBytes = 2 ** 20;

/**
 * Writes to a stream from two buffers: one is filled while the stream works on the other. A new buffer for
 * each piece of a large file costs more CPU than reading it, through page faults and the garbage collector.
 */
export class ReusedBuffers {
  readonly #stream: Writable;
  readonly #closed: Promise<never>;
  #filling = Buffer.allocUnsafeSlow(bufferBytes);
  #other = Buffer.allocUnsafeSlow(bufferBytes);
  #filledBytes = 0;
  #writing: Promise<void> = Promise.resolve();

  /** @param stream - must not use the bytes of a write after its callback. */
  constructor(stream: Writable) {
    this.#stream = stream;
    // A stream that is destroyed may never call back.
    this.#closed = new Promise((_resolve, reject) => {
      stream.once("close", () => {
        reject(new Error("The stream was closed before everything was written."));
      });
    });
    this.#closed.catch(() => undefined);
  }

  /** Copies the bytes. @throws {Error} once the stream is closed. */
  async add(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      const copied = bytes.copy(this.#filling, this.#filledBytes, at);
      at += copied;
      await this.#filled(copied);
    }
  }

  /**
   * Reads the next `sizeBytes` of a file. @returns the number of bytes that the file lacked.
   * @throws {Error} once the stream is closed.
   */
  async addFile(file: FileHandle, sizeBytes: number): Promise<number> {
    for (let left = sizeBytes; left > 0;) {
      const most = Math.min(left, bufferBytes - this.#filledBytes);
      const { bytesRead } = await file.read(this.#filling, this.#filledBytes, most, null);
      if (bytesRead === 0) return left;
      left -= bytesRead;
      await this.#filled(bytesRead);
    }
    return 0;
  }

  /** Ends the stream after the last write. */
  async end(): Promise<void> {
    await this.#flush();
    await this.#writing;
    this.#stream.end();
  }

  async #filled(bytes: number): Promise<void> {
    this.#filledBytes += bytes;
    if (this.#filledBytes === bufferBytes) await this.#flush();
  }

  async #flush(): Promise<void> {
    await this.#writing;
    const piece = this.#filling.subarray(0, this.#filledBytes);
    [this.#filling, this.#other] = [this.#other, this.#filling];
    this.#filledBytes = 0;
    this.#writing = piece.length === 0 ? Promise.resolve() : Promise.race([this.#written(piece), this.#closed]);
    this.#writing.catch(() => undefined);
  }

  #written(piece: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#stream.write(piece, (error) => {
        if (error) reject(error);
        else resolve();
      });
    });
  }
}
