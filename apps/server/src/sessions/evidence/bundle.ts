import type { EvidenceFile, EvidenceGap } from "@shoal/schemas";
import { createHash } from "node:crypto";
import { PassThrough, Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { setImmediate } from "node:timers/promises";
import { ZipFile } from "yazl";

export interface FileOptions {
  /** Default true; false for content that is compressed already. */
  readonly compress?: boolean;
  /** Longer content is cut. */
  readonly maxBytes?: number;
}

/** A stream without data for so long is cut. The time of a slow reader does not count. */
const maxWaitMs = 60_000;

/** Writes an archive file by file, so that memory does not grow with it. */
export class Bundle {
  readonly files: EvidenceFile[] = [];
  readonly leftOut: EvidenceGap[] = [];
  readonly #zip: ZipFile;
  readonly #at: Date;
  readonly #signal: AbortSignal;
  readonly #paths = new Set<string>();

  constructor(zip: ZipFile, at: Date, signal: AbortSignal) {
    this.#zip = zip;
    this.#at = at;
    this.#signal = signal;
  }

  /** Aborted when the reader of the archive leaves. */
  get signal(): AbortSignal {
    return this.#signal;
  }

  /** Content that fails is cut, and the manifest says so. @returns its size. */
  async add(
    path: string,
    content: AsyncIterable<Uint8Array>,
    { compress = true, maxBytes = Infinity }: FileOptions = {},
  ): Promise<number> {
    // The box chooses some names, and a verifier refuses archives with two files of one name.
    if (this.#paths.has(path)) throw new Error("The archive has a file of this name.");
    this.#paths.add(path);
    const hash = createHash("sha256");
    let size = 0;
    const metered = async function* (this: Bundle): AsyncGenerator<Uint8Array> {
      try {
        for await (const chunk of arriving(content)) {
          const taken = chunk.subarray(0, maxBytes - size);
          hash.update(taken);
          size += taken.length;
          yield taken;
          if (taken.length < chunk.length) {
            this.leave(path, `It is incomplete: it is longer than ${String(maxBytes)} bytes.`);
            return;
          }
        }
      } catch {
        this.leave(path, `It is incomplete: the service could not read it beyond ${String(size)} bytes.`);
      }
    };
    // The generator sees the error, but the stream may fail before the archive reads it.
    if (content instanceof Readable) content.on("error", () => undefined);
    const stream = Readable.from(metered.call(this), { objectMode: false });
    try {
      this.#signal.throwIfAborted();
      this.#zip.addReadStream(stream, path, { compress, mtime: this.#at });
      await finished(stream, { signal: this.#signal });
      // Otherwise timers and requests would wait for all files that are in memory.
      await setImmediate();
    } finally {
      stream.destroy();
      // The generator does not run if the archive never reads it.
      if (content instanceof Readable) content.destroy();
    }
    this.files.push({ path, size_bytes: size, sha256: hash.digest("hex") });
    return size;
  }

  async addJson(path: string, value: unknown): Promise<Buffer> {
    const content = Buffer.from(`${JSON.stringify(value, null, 2)}\n`);
    await this.add(path, once(content));
    return content;
  }

  leave(what: string, reason: string): void {
    this.leftOut.push({ what, reason });
  }
}

export async function* once(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content;
  await Promise.resolve();
}

/** @returns `undefined` without items. */
export async function unlessEmpty<Item>(items: AsyncGenerator<Item>): Promise<AsyncGenerator<Item> | undefined> {
  const first = await items.next();
  return first.done === true ? undefined : startingWith(first.value, items);
}

async function* startingWith<Item>(first: Item, rest: AsyncGenerator<Item>): AsyncGenerator<Item> {
  yield first;
  yield* rest;
}

async function* arriving(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const stop = (): void => {
    if (content instanceof Readable) content.destroy(new Error("The content does not arrive."));
  };
  let timer = setTimeout(stop, maxWaitMs);
  try {
    for await (const chunk of content) {
      clearTimeout(timer);
      yield chunk;
      timer = setTimeout(stop, maxWaitMs);
    }
  } finally {
    clearTimeout(timer);
  }
}

/** @param write - adds the files. The stream fails with its error. */
export function streamBundle(at: Date, write: (bundle: Bundle) => Promise<void>): Readable {
  const zip = new ZipFile();
  const output = new PassThrough();
  // A reader that comes later sees the error, too.
  output.on("error", () => undefined);
  const cut = new AbortController();
  const fail = (error: unknown): void => {
    output.destroy(error instanceof Error ? error : new Error("The archive failed."));
  };
  zip.on("error", fail);
  output.once("close", () => {
    cut.abort();
  });
  zip.outputStream.pipe(output);
  write(new Bundle(zip, at, cut.signal)).then(() => {
    zip.end();
  }, fail);
  return output;
}
