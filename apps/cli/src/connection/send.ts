import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";

export interface PlainRequest {
  readonly method: string;
  readonly url: string;
  /** In lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface PlainAnswer {
  readonly status: number;
  /** In lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export class SendTimeout extends Error {
  override readonly name = "SendTimeout";
}

/**
 * Without retries. Uses Node's HTTP client because the first `fetch` loads half a megabyte, which would dominate a
 * short command.
 * @param timeoutMs - limit until the response is complete. @throws {SendTimeout}
 */
export function sendPlain(
  { method, url, headers, body }: PlainRequest,
  { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<PlainAnswer> {
  return new Promise((resolve, reject) => {
    const send = url.startsWith("https:") ? httpsRequest : httpRequest;
    const outgoing = send(
      url,
      {
        method,
        headers: { ...headers, ...(body !== undefined && { "content-length": String(Buffer.byteLength(body)) }) },
      },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("error", fail);
        incoming.on("end", () => {
          done();
          const entries = Object.entries(incoming.headers).map(
            ([name, value]) => [name, Array.isArray(value) ? value.join(", ") : (value ?? "")] as const,
          );
          resolve({
            status: incoming.statusCode ?? 0,
            headers: Object.fromEntries(entries),
            text: Buffer.concat(chunks).toString("utf8"),
          });
        });
      },
    );
    // A truncated response emits its error here and not on the request.
    const fail = (error: Error) => {
      done();
      reject(error);
    };
    const timer = setTimeout(
      () => outgoing.destroy(new SendTimeout(`no answer within ${String(timeoutMs)} ms`)),
      Math.min(timeoutMs, 2 ** 31 - 1),
    );
    const onAbort = () => outgoing.destroy(new Error("stopped"));
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    outgoing.on("error", fail);
    outgoing.end(body);
  });
}
