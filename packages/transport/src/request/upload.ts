import type { BytesInput } from "@shoal/contract/endpoint";

type Source = Blob | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;

export interface Upload {
  readonly contentType: string;
  readonly sizeBytes: number | undefined;
  /** False when the body contains a stream. */
  readonly repeatable: boolean;
  /** Opens the sources one after another and reads them with backpressure. */
  open(onProgress: (sentBytes: number) => void): Promise<OpenUpload>;
}

export interface OpenUpload {
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>> | Blob;
  /** The reason for the broken connection. */
  failure(): { readonly error: unknown } | undefined;
  close(): void;
}

const sliceBytes = 256 * 1024;

/** @throws {TypeError} for an unsupported type, in programs without type checks. */
export function sourceOf(input: BytesInput): Source {
  if (typeof input === "string") return new TextEncoder().encode(input);
  if (input instanceof ArrayBuffer) return new Uint8Array(input);
  const known = [Blob, Uint8Array, ReadableStream].some((kind) => (input as unknown) instanceof kind);
  if (!known)
    throw new TypeError(
      "The upload must be a string, a Blob or File, an ArrayBuffer, a Uint8Array or a ReadableStream.",
    );
  return input;
}

/** @throws {TypeError} for a stream that is already locked. */
export function uploadOf(contentType: string, sources: readonly Source[]): Upload {
  let sizeBytes: number | undefined = 0;
  for (const source of sources) {
    if (source instanceof ReadableStream) {
      if (source.locked) throw new TypeError("The upload stream is already being read.");
      sizeBytes = undefined;
    } else if (sizeBytes !== undefined) {
      sizeBytes += source instanceof Blob ? source.size : source.byteLength;
    }
  }
  return {
    contentType,
    sizeBytes,
    repeatable: sizeBytes !== undefined,
    open: async (onProgress) => (inBrowser ? blobOf(sources) : new StreamUpload(sources, onProgress)),
  };
}

/** In web pages a body must be a Blob: most browsers cannot send a stream, and the others only over HTTP/2. */
const inBrowser = (globalThis.navigator as Navigator | undefined)?.userAgent.startsWith("Mozilla") === true;

async function blobOf(sources: readonly Source[]): Promise<OpenUpload> {
  const parts: BlobPart[] = [];
  for (const source of sources)
    parts.push(source instanceof ReadableStream ? await new Response(source as BodyInit).blob() : source);
  return { body: new Blob(parts), failure: () => undefined, close: () => undefined };
}

/** Reads the sources as one stream. */
class StreamUpload implements OpenUpload {
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly #sources: readonly Source[];
  readonly #onProgress: (sentBytes: number) => void;
  #controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined;
  #failed: { readonly error: unknown } | undefined;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #isOpen = true;
  #next = 0;
  /** The current source in memory; `#at` is the position in it. */
  #bytes: Uint8Array<ArrayBuffer> | undefined;
  #at = 0;
  #sentBytes = 0;

  constructor(sources: readonly Source[], onProgress: (sentBytes: number) => void) {
    this.#sources = sources;
    this.#onProgress = onProgress;
    this.body = new ReadableStream<Uint8Array<ArrayBuffer>>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => {
          try {
            return this.#pull()?.catch(this.#fail);
          } catch (error) {
            this.#fail(error);
            return undefined;
          }
        },
        cancel: () => {
          this.close();
        },
      },
      { highWaterMark: 0 },
    );
  }

  failure(): { readonly error: unknown } | undefined {
    return this.#failed;
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    // End a connection that still waits for data.
    this.#controller?.error(new Error("The upload was given up."));
    // Only the source being read and unread streams hold resources.
    this.#reader?.cancel().catch(() => undefined);
    for (const source of this.#sources)
      if (source instanceof ReadableStream && !source.locked) source.cancel().catch(() => undefined);
  }

  // Speed: a generator and a separate promise for each chunk would take longer than sending it.
  #pull(): Promise<void> | undefined {
    if (this.#reader !== undefined) return this.#reader.read().then(this.#onRead);
    if (this.#bytes !== undefined && this.#at < this.#bytes.byteLength) {
      const from = this.#at;
      this.#at += sliceBytes;
      this.#enqueue(this.#bytes.subarray(from, this.#at));
      return undefined;
    }
    const source = this.#sources[this.#next++];
    if (source === undefined) {
      this.#isOpen = false;
      this.#controller?.close();
      return undefined;
    }
    if (source instanceof Uint8Array) {
      this.#bytes = source;
      this.#at = 0;
    } else {
      this.#reader = (source instanceof Blob ? source.stream() : source).getReader();
    }
    return this.#pull();
  }

  readonly #onRead = ({ done, value }: ReadableStreamReadResult<Uint8Array>): Promise<void> | undefined => {
    if (!this.#isOpen) return undefined;
    if (done) this.#reader = undefined;
    if (done || value.byteLength === 0) return this.#pull();
    this.#enqueue(value as Uint8Array<ArrayBuffer>);
    return undefined;
  };

  #enqueue(chunk: Uint8Array<ArrayBuffer>): void {
    this.#sentBytes += chunk.byteLength;
    this.#controller?.enqueue(chunk);
    this.#onProgress(this.#sentBytes);
  }

  readonly #fail = (error: unknown): void => {
    this.#isOpen = false;
    this.#failed ??= { error };
    this.#controller?.error(error);
  };
}
