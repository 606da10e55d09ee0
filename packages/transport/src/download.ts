import { contractError } from "./answer.ts";
import type { AttemptClock } from "./clock.ts";
import { connectionError } from "./exchange.ts";
import type { DownloadOptions } from "./options.ts";
import type { Plan, Settings } from "./plan.ts";

/** Bytes that are being downloaded. Read the stream to its end, or cancel it: until then it holds a connection. */
export interface Download {
  /** Rejects with a `ConnectionError` when the connection breaks before the end. */
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Bytes in all, where the service said. */
  readonly sizeBytes: number | undefined;
  readonly contentType: string;
  /** Last part of the name that the service suggests, where it does. */
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
    // Not percent-encoded after all: the plain form stands.
  }
  // A server must not be able to choose the folder that a client writes to.
  const last = name.split(/[/\\]/).at(-1) ?? "";
  return last === "" || last === "." || last === ".." ? undefined : last.replace(/\p{Cc}/gu, "");
}

const unread = "the download was not read to its end";

/** Hands an answer's bytes on, counts them, and lets go of the connection at the end. */
export function downloadOf(settings: Settings, plan: Plan, response: Response, clock: AttemptClock): Download {
  const { headers } = response;
  const contentType = headers.get("content-type") ?? "application/octet-stream";
  // A login page or a proxy's notice must not end up as the file's content.
  if (contentType.startsWith("text/html")) throw contractError(plan, response, "headers.content-type", "expected bytes, got a page (text/html)");
  const length = headers.get("content-length");
  const sizeBytes = length === null || headers.has("content-encoding") || !/^\d+$/.test(length) ? undefined : Number(length);
  const { onDownloadProgress }: DownloadOptions = plan.options;
  const reader = response.body?.getReader();
  let receivedBytes = 0;
  let open = true;

  const ended = () => {
    open = false;
    clock.end();
  };
  const fail = (error?: unknown) => {
    if (!open) return;
    ended();
    const reason: unknown = clock.signal.aborted
      ? clock.signal.reason
      : connectionError(settings, `${plan.bounds.operation} lost the connection to ${settings.baseUrl} after ${receivedBytes} bytes`, error);
    controller.error(reason);
    clock.abort(reason);
  };
  const finish = () => {
    ended();
    controller.close();
  };
  const noData = () => `no data came (${receivedBytes} bytes until then)`;
  const onRead = ({ done, value }: ReadableStreamReadResult<Uint8Array<ArrayBuffer>>) => {
    if (!open) return;
    clock.limit(Infinity, unread);
    if (done) {
      finish();
      return;
    }
    receivedBytes += value.byteLength;
    controller.enqueue(value);
    if (onDownloadProgress === undefined) return;
    try {
      onDownloadProgress({ receivedBytes, totalBytes: sizeBytes });
    } catch (error) {
      ended();
      controller.error(error);
      clock.abort(error);
    }
  };
  let controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      start(given) {
        controller = given;
        // Not every `fetch` that a caller may give listens to the signal.
        clock.whenAborted(fail);
      },
      // One promise and no function for each of a million chunks.
      pull() {
        // Only while somebody waits: a slow reader is not the service's fault.
        clock.limit(plan.timeoutMs, noData);
        if (reader !== undefined) return reader.read().then(onRead, fail);
        finish();
        return undefined;
      },
      async cancel(reason) {
        ended();
        await reader?.cancel(reason).catch(() => undefined);
        clock.abort(reason);
      },
    },
    { highWaterMark: 0 },
  );
  clock.limit(Infinity, unread);
  return { stream, sizeBytes, contentType, fileName: fileNameIn(headers), headers };
}
