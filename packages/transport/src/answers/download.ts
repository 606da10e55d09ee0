import { connectionError, contractError } from "../exchange/failures.ts";
import { TransferClock } from "../exchange/transfer-clock.ts";
import type { DownloadOptions } from "../surface/options.ts";
import type { Plan, Settings } from "../request/plan.ts";
import { safeFileName } from "./file-name.ts";

/** A running download. It occupies a connection until the stream ends or is cancelled. */
export interface Download {
  /** Fails with a `ConnectionError` when the connection breaks before the end. */
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Size of the download, if the service sent it. */
  readonly sizeBytes: number | undefined;
  readonly contentType: string;
  /** File name from the response: without folders, never hidden or reserved. It may exist: do not replace that file. */
  readonly fileName: string | undefined;
  readonly headers: Headers;
}

/** @see {@link https://www.rfc-editor.org/rfc/rfc6266 | RFC 6266} */
function fileNameIn(headers: Headers): string | undefined {
  const disposition = headers.get("content-disposition") ?? "";
  const extended = /;\s*filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i.exec(disposition)?.[1];
  const plain = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(disposition);
  let name = plain?.[1]?.replace(/\\(.)/g, "$1") ?? plain?.[2] ?? "";
  try {
    if (extended !== undefined) name = decodeURIComponent(extended);
  } catch {
    // Invalid percent-encoding: use the plain form.
  }
  return safeFileName(name);
}

const unread = "the caller did not read the download to its end";

/** Passes the bytes of a response on, counts them, and limits the time without data while the caller waits for some. */
class DownloadSource implements UnderlyingDefaultSource<Uint8Array<ArrayBuffer>> {
  readonly #settings: Settings;
  readonly #plan: Plan;
  readonly #sizeBytes: number | undefined;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined;
  readonly #clock: TransferClock;
  #controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined;
  #receivedBytes = 0;
  #isOpen = true;

  constructor(settings: Settings, plan: Plan, body: Response["body"], sizeBytes: number | undefined) {
    this.#settings = settings;
    this.#plan = plan;
    this.#sizeBytes = sizeBytes;
    this.#reader = body?.getReader();
    this.#clock = new TransferClock(plan.bounds);
    this.#clock.limit(Infinity, unread);
  }

  start(controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>): void {
    this.#controller = controller;
    this.#clock.whenAborted(this.#fail);
  }

  // One promise and no closure per chunk: a download may have a million of them.
  pull(): Promise<void> | undefined {
    this.#clock.limit(this.#plan.timeoutMs, this.#stalled);
    if (this.#reader !== undefined) return this.#reader.read().then(this.#onRead, this.#fail);
    this.#finish();
    return undefined;
  }

  async cancel(reason: unknown): Promise<void> {
    this.#end();
    await this.#reader?.cancel(reason).catch(() => undefined);
  }

  readonly #stalled = () => `no data arrived (${this.#receivedBytes} bytes so far)`;

  readonly #onRead = ({ done, value }: ReadableStreamReadResult<Uint8Array<ArrayBuffer>>): void => {
    if (!this.#isOpen) return;
    // A slow reader is not the service's fault.
    this.#clock.limit(Infinity, unread);
    if (done) {
      this.#finish();
      return;
    }
    this.#receivedBytes += value.byteLength;
    this.#controller?.enqueue(value);
    const { onDownloadProgress }: DownloadOptions = this.#plan.options;
    if (onDownloadProgress === undefined) return;
    try {
      onDownloadProgress({ receivedBytes: this.#receivedBytes, totalBytes: this.#sizeBytes });
    } catch (error) {
      this.#close(error);
    }
  };

  readonly #fail = (error?: unknown): void => {
    if (!this.#isOpen) return;
    const { signal } = this.#clock;
    const what = `${this.#plan.bounds.operation} lost the connection to ${this.#settings.baseUrl} after ${this.#receivedBytes} bytes`;
    this.#close(signal.aborted ? signal.reason : connectionError(this.#settings, what, error));
  };

  #close(error: unknown): void {
    this.#end();
    this.#controller?.error(error);
    this.#reader?.cancel(error).catch(() => undefined);
  }

  #finish(): void {
    this.#end();
    this.#controller?.close();
  }

  #end(): void {
    this.#isOpen = false;
    this.#clock.end();
  }
}

/** @throws {ContractError} for an HTML page: a login page or a proxy's notice must not become the content of a file. */
export function downloadOf(settings: Settings, plan: Plan, response: Response): Download {
  const { headers } = response;
  const contentType = headers.get("content-type") ?? "application/octet-stream";
  if (contentType.startsWith("text/html"))
    throw contractError(plan, response, "headers.content-type", "expected bytes, got a page (text/html)");
  const length = headers.get("content-length");
  const sizeBytes =
    length === null || headers.has("content-encoding") || !/^\d+$/.test(length) ? undefined : Number(length);
  const source = new DownloadSource(settings, plan, response.body, sizeBytes);
  const stream = new ReadableStream(source, { highWaterMark: 0 });
  return { stream, sizeBytes, contentType, fileName: fileNameIn(headers), headers };
}
