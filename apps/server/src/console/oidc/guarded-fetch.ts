import type { OutboundRule } from "@shoal/placement";
import { readAtMost } from "@shoal/primitives/node";
import type { IncomingMessage } from "node:http";
import { guardedRequest } from "../../host/guarded-request.ts";

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
    const answer = await guardedRequest(rule, url, {
      method,
      headers: Object.fromEntries(new Headers(headers)),
      body: textOf(body),
      signal,
    });
    return toResponse(answer, url);
  };
}

function textOf(body: unknown): string | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === "string" || body instanceof URLSearchParams) return String(body);
  throw new TypeError("The body of a request must be a text or URLSearchParams.");
}

async function toResponse(answer: IncomingMessage, url: URL): Promise<Response> {
  const content = await readAtMost(answer, maxAnswerBytes);
  if (content === undefined) throw new TypeError(`${url.host} sent more than ${String(maxAnswerBytes)} bytes.`);
  const { headersDistinct, statusCode: status = 502 } = answer;
  const headers = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const isEmpty = status === 204 || status === 205 || status === 304;
  return new Response(isEmpty ? null : content, { status, headers });
}
