import { answerBytes, type AnswerLimits, AnswerProblem } from "@shoal/placement";
import { anySignal } from "@shoal/primitives";
import type { ErrorBody } from "@shoal/schemas";
import { Readable } from "node:stream";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";

type Bounds = Omit<AnswerLimits, "ms">;

/** Of most operations. A page's text and outline are one string each; a file of a folder has about seven values. */
const usual: Bounds = { bytes: 2 * 2 ** 20, values: 20_000, depth: 64 };
/** Of operations that return the output of programs. */
const output: Bounds = { ...usual, bytes: 4 * 2 ** 20 };
const outputs = /\/(?:process\/exec|playwright\/execute)$/;
const refusal: Bounds = { ...usual, bytes: 64 * 1024, values: 1_000 };
const jsonTypes: ReadonlySet<string | null> = new Set(["application/json", "*/*"]);
/** `new Response` refuses a body with these. */
const withoutBody: ReadonlySet<number> = new Set([204, 205, 304]);

export interface Patience {
  /** Milliseconds from the head of a JSON answer to its end. */
  readonly jsonMs: number;
  /** Milliseconds of a whole call that returns bytes, such as a recording. */
  readonly bytesMs: number;
}

const usualPatience: Patience = { jsonMs: 30_000, bytesMs: 120_000 };

/**
 * Tools call this server's API, which passes the answers of sessions on. They are bounded here in size, structure and
 * time, before the transport parses them on the main thread. Downloads are bounded by the tools.
 */
export function boundedFetch({ bytesMs, jsonMs }: Patience = usualPatience): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    // The transport accepts JSON for each operation whose answer it parses.
    if (!jsonTypes.has(request.headers.get("accept")))
      return fetch(request, { signal: anySignal([request.signal, AbortSignal.timeout(bytesMs)]) });
    const response = await fetch(request);
    if (response.body === null || withoutBody.has(response.status)) return response;
    try {
      const body = Readable.fromWeb(response.body as NodeReadableStream<Uint8Array>);
      const bytes = await answerBytes(body, { ...limitsOf(response, new URL(request.url).pathname), ms: jsonMs });
      const { headers, status, statusText } = response;
      return new Response(new Uint8Array(bytes), { headers, status, statusText });
    } catch (error) {
      request.signal.throwIfAborted();
      if (!(error instanceof AnswerProblem)) throw error;
      return refused(error);
    }
  };
}

function limitsOf({ ok }: Response, path: string): Bounds {
  if (!ok) return refusal;
  return outputs.test(path) ? output : usual;
}

function refused({ message }: AnswerProblem): Response {
  const hint = "Ask for less at once, or write the result to a file and read parts of it.";
  const body: ErrorBody = { code: "bad_gateway", message: `${message} ${hint}`, hint };
  return Response.json(body, { status: 502, headers: { "x-should-retry": "false" } });
}
