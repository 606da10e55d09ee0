import type { BytesInput } from "@shoal/contract";

/** How far an upload is. */
export interface UploadProgress {
  /** Bytes that were handed to the connection, those of a multipart body's frame among them. */
  readonly sentBytes: number;
  /** Bytes in all; `undefined` when a stream is among the content. */
  readonly totalBytes: number | undefined;
}

type Source = Blob | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;

/** A request body of bytes. */
export interface Upload {
  readonly contentType: string;
  readonly sizeBytes: number | undefined;
  /** Whether it can be sent a second time. */
  readonly repeatable: boolean;
  /** Opens the sources one after another and reads each only as fast as the connection takes it. */
  open(onProgress: (sentBytes: number) => void): Promise<OpenUpload>;
}

/** A body that is being sent. */
export interface OpenUpload {
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>> | Blob;
  /** What a source failed with; the caller is to see that, and not that the connection broke for want of data. */
  failure(): { readonly error: unknown } | undefined;
  /** Lets go of the sources. */
  close(): void;
}

const sliceBytes = 256 * 1024;

/** @throws {TypeError} for what holds no bytes: an argument in the wrong place, in a program without types. */
export function sourceOf(input: BytesInput): Source {
  if (typeof input === "string") return new TextEncoder().encode(input);
  if (input instanceof ArrayBuffer) return new Uint8Array(input);
  const known = [Blob, Uint8Array, ReadableStream].some((kind) => (input as unknown) instanceof kind);
  if (!known) throw new TypeError("What is to be uploaded must be a string, a Blob or File, an ArrayBuffer, a Uint8Array or a ReadableStream.");
  return input;
}

/** @throws {TypeError} for a stream that somebody reads already. */
export function uploadOf(contentType: string, sources: readonly Source[]): Upload {
  let sizeBytes: number | undefined = 0;
  for (const source of sources) {
    if (source instanceof ReadableStream) {
      if (source.locked) throw new TypeError("The stream to upload is already being read elsewhere.");
      sizeBytes = undefined;
    } else if (sizeBytes !== undefined) {
      sizeBytes += source instanceof Blob ? source.size : source.byteLength;
    }
  }
  return {
    contentType,
    sizeBytes,
    repeatable: sizeBytes !== undefined,
    open: async (onProgress) => (inBrowser ? blobOf(sources) : openStream(sources, onProgress)),
  };
}

/** In pages a body must be a Blob: most browsers cannot send a stream, and the others only over HTTP/2. */
const inBrowser = (globalThis.navigator as Navigator | undefined)?.userAgent.startsWith("Mozilla") === true;

async function blobOf(sources: readonly Source[]): Promise<OpenUpload> {
  const parts: BlobPart[] = [];
  for (const source of sources) parts.push(source instanceof ReadableStream ? await new Response(source as BodyInit).blob() : source);
  return { body: new Blob(parts), failure: () => undefined, close: () => undefined };
}

function openStream(sources: readonly Source[], onProgress: (sentBytes: number) => void): OpenUpload {
  let failed: { readonly error: unknown } | undefined;
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  let open = true;

  let next = 0;
  /** Of `bytes`, a source that is in memory, what was handed on. */
  let bytes: Uint8Array<ArrayBuffer> | undefined;
  let at = 0;
  let sentBytes = 0;
  let controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;

  const enqueue = (chunk: Uint8Array<ArrayBuffer>) => {
    sentBytes += chunk.byteLength;
    controller.enqueue(chunk);
    onProgress(sentBytes);
  };
  const onRead = ({ done, value }: ReadableStreamReadResult<Uint8Array>) => {
    if (!open) return undefined;
    if (done) reader = undefined;
    if (done || value.byteLength === 0) return pull();
    enqueue(value as Uint8Array<ArrayBuffer>);
    return undefined;
  };
  const fail = (error: unknown) => {
    open = false;
    failed ??= { error };
    controller.error(error);
  };
  // A generator and a promise of its own would cost each chunk more than its way to the connection.
  function pull(): Promise<void> | undefined {
    if (reader !== undefined) return reader.read().then(onRead);
    if (bytes !== undefined && at < bytes.byteLength) {
      const from = at;
      at += sliceBytes;
      enqueue(bytes.subarray(from, at));
      return undefined;
    }
    const source = sources[next++];
    if (source === undefined) {
      open = false;
      controller.close();
      return undefined;
    }
    if (source instanceof Uint8Array) {
      bytes = source;
      at = 0;
    } else {
      reader = (source instanceof Blob ? source.stream() : source).getReader();
    }
    return pull();
  }

  const body = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      start(given) {
        controller = given;
      },
      pull() {
        try {
          return pull()?.catch(fail);
        } catch (error) {
          fail(error);
          return undefined;
        }
      },
      cancel: close,
    },
    { highWaterMark: 0 },
  );

  function close() {
    if (!open) return;
    open = false;
    // A connection that still waits for data is of no use to anybody.
    controller.error(new Error("The upload was given up."));
    // Of the sources only the one being read, and streams that were never reached, hold anything open.
    reader?.cancel().catch(() => undefined);
    for (const source of sources) if (source instanceof ReadableStream && !source.locked) source.cancel().catch(() => undefined);
  }
  return { body, failure: () => failed, close };
}
