import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";

/** A request, ready to be sent. */
export interface PlainRequest {
  readonly method: string;
  readonly url: string;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** An answer that has come whole. */
export interface PlainAnswer {
  readonly status: number;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** No answer came in time. */
export class SendTimeout extends Error {
  override readonly name = "SendTimeout";
}

/**
 * Sends one request, once, and waits for the whole answer. Over Node's own client rather than `fetch`, whose first use loads and compiles
 * half a megabyte: more than everything else that a short command does.
 *
 * @param timeoutMs - for the whole answer.
 * @throws {SendTimeout}
 */
export function sendPlain(
  { method, url, headers, body }: PlainRequest,
  { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<PlainAnswer> {
  return new Promise((resolve, reject) => {
    const send = url.startsWith("https:") ? httpsRequest : httpRequest;
    const outgoing = send(
      url,
      { method, headers: { ...headers, ...(body !== undefined && { "content-length": String(Buffer.byteLength(body)) }) } },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("error", fail);
        incoming.on("end", () => {
          done();
          const entries = Object.entries(incoming.headers).map(
            ([name, value]) => [name, Array.isArray(value) ? value.join(", ") : (value ?? "")] as const,
          );
          resolve({ status: incoming.statusCode ?? 0, headers: Object.fromEntries(entries), text: Buffer.concat(chunks).toString("utf8") });
        });
      },
    );
    // An answer that stops half way is "aborted" to the request, not to the answer.
    const fail = (error: Error) => {
      done();
      reject(error);
    };
    const timer = setTimeout(() => outgoing.destroy(new SendTimeout(`no answer within ${String(timeoutMs)} ms`)), Math.min(timeoutMs, 2 ** 31 - 1));
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
