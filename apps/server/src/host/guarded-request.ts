import type { OutboundRule } from "@shoal/placement";
import { request as httpRequest, type Agent, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import { request as httpsRequest } from "node:https";
import type { LookupFunction } from "node:net";

export interface GuardedRequest {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Uint8Array | undefined;
  readonly signal?: AbortSignal | null | undefined;
  /** Without one, each request has a connection. */
  readonly agent?: Agent;
  /** Ends a request whose connection is silent for as long. */
  readonly silenceMs?: number;
}

/**
 * Sends a request to checked addresses only. Follows no redirect, and does not limit the answer.
 * @throws {TypeError} for an address that the rule refuses.
 */
export async function guardedRequest(rule: OutboundRule, url: URL, request: GuardedRequest): Promise<IncomingMessage> {
  const decision = await rule.decide(url);
  if (decision.allowed) return requestVia(decision.lookup, url, request);
  throw new TypeError(
    `${url.host} may not be reached: ${decision.because}. The operator can allow private hosts with allow_private_hosts.`,
  );
}

/** Like {@link guardedRequest}, after a decision of the rule. @param lookup - of the decision: resolves to checked addresses. */
export async function requestVia(
  lookup: LookupFunction,
  url: URL,
  { agent, body, headers, method = "GET", signal, silenceMs }: GuardedRequest,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const outgoing = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, {
    agent: agent ?? false,
    lookup,
    method,
    headers: { "user-agent": "shoal", ...headers },
    ...(signal && { signal }),
  });
  if (silenceMs !== undefined)
    outgoing.setTimeout(silenceMs, () => outgoing.destroy(new Error("it did not answer in time")));
  outgoing.on("response", resolve).on("error", reject).end(body);
  return promise;
}

/** Returns the milliseconds of a `retry-after` header, at most `maxMs`; `undefined` if it is absent or invalid. */
export function retryAfterOf(header: string | undefined, maxMs: number, nowMs = Date.now()): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.min(maxMs, Math.max(0, ms));
}
