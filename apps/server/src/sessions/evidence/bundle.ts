import type { EvidenceFile, EvidenceGap } from "@shoal/schemas";
import { createHash } from "node:crypto";
import { PassThrough, Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { ZipFile } from "yazl";

export interface FileOptions {
  /** Default true; false for content that is compressed already. */
  readonly compress?: boolean;
}

/** Writes an archive file by file, so that memory does not grow with it. */
export class Bundle {
  readonly files: EvidenceFile[] = [];
  readonly leftOut: EvidenceGap[] = [];
  readonly #zip: ZipFile;
  readonly #at: Date;
  readonly #signal: AbortSignal;

  constructor(zip: ZipFile, at: Date, signal: AbortSignal) {
    this.#zip = zip;
    this.#at = at;
    this.#signal = signal;
  }

  /** Aborted when the reader of the archive leaves. */
  get signal(): AbortSignal {
    return this.#signal;
  }

  /** Content that fails is cut, and the manifest says so. */
  async add(path: string, content: AsyncIterable<Uint8Array>, { compress = true }: FileOptions = {}): Promise<void> {
    this.#signal.throwIfAborted();
    const hash = createHash("sha256");
    let size = 0;
    const metered = async function* (this: Bundle): AsyncGenerator<Uint8Array> {
      try {
        for await (const chunk of content) {
          hash.update(chunk);
          size += chunk.length;
          yield chunk;
        }
      } catch {
        this.#signal.throwIfAborted();
        this.leave(path, `It is incomplete: the service could not read it beyond ${String(size)} bytes.`);
      }
    };
    const stream = Readable.from(metered.call(this), { objectMode: false });
    try {
      this.#zip.addReadStream(stream, path, { compress, mtime: this.#at });
      await finished(stream, { signal: this.#signal });
    } finally {
      stream.destroy();
    }
    this.files.push({ path, size_bytes: size, sha256: hash.digest("hex") });
  }

  async addJson(path: string, value: unknown): Promise<Buffer> {
    const content = Buffer.from(`${JSON.stringify(value, null, 2)}\n`);
    await this.add(path, once(content));
    return content;
  }

  /** Adds content if there is any. @returns false without. */
  async addIfAny(path: string, content: AsyncIterator<Uint8Array>): Promise<boolean> {
    const first = await content.next();
    if (first.done === true) return false;
    await this.add(path, continued(first.value, content));
    return true;
  }

  leave(what: string, reason: string): void {
    this.leftOut.push({ what, reason });
  }
}

export async function* once(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content;
  await Promise.resolve();
}

async function* continued(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield first;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

/** @param write - adds the files. The stream fails with its error. */
export function streamBundle(at: Date, write: (bundle: Bundle) => Promise<void>): Readable {
  const zip = new ZipFile();
  const output = new PassThrough();
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
