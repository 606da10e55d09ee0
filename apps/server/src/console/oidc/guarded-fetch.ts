import type { OutboundRule } from "@shoal/placement";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";

export type GuardedFetch = (url: string, init: GuardedInit) => Promise<Response>;

export interface GuardedInit {
  readonly method: string;
  readonly headers?: ConstructorParameters<typeof Headers>[0];
  readonly body?: unknown;
  readonly signal?: AbortSignal | null | undefined;
}

const maxAnswerBytes = 2 ** 20;

/** A `fetch` for small answers. Connects to checked addresses only and returns redirects instead of following them. */
export function createGuardedFetch(rule: OutboundRule): GuardedFetch {
  return async (text, { body, headers, method, signal }) => {
    const url = new URL(text);
    const decision = await rule.decide(url);
    if (!decision.allowed)
      throw new TypeError(
        `${url.host} may not be reached: ${decision.because}. The operator can allow private hosts with allow_private_hosts.`,
      );
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    (url.protocol === "https:" ? httpsRequest : httpRequest)(url, {
      agent: false,
      lookup: decision.lookup,
      method,
      headers: { "user-agent": "shoal", ...Object.fromEntries(new Headers(headers)) },
      ...(signal && { signal }),
    })
      .on("response", resolve)
      .on("error", reject)
      .end(textOf(body));
    return toResponse(await promise, url);
  };
}

function textOf(body: unknown): string | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === "string" || body instanceof URLSearchParams) return String(body);
  throw new TypeError("The body of a request must be a text or URLSearchParams.");
}

async function toResponse(answer: IncomingMessage, url: URL): Promise<Response> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > maxAnswerBytes) throw new TypeError(`${url.host} sent more than ${String(maxAnswerBytes)} bytes.`);
  }
  const { headersDistinct, statusCode: status = 502 } = answer;
  const headers = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const isEmpty = status === 204 || status === 205 || status === 304;
  return new Response(isEmpty ? null : Buffer.concat(chunks), { status, headers });
}
