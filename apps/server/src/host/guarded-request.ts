import type { OutboundRule } from "@shoal/placement";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";

export interface GuardedRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | null | undefined;
}

/**
 * Sends a request to checked addresses only. Follows no redirect, and does not limit the answer.
 * @throws {TypeError} for an address that the rule refuses.
 */
export async function guardedRequest(
  rule: OutboundRule,
  url: URL,
  { body, headers, method = "GET", signal }: GuardedRequest,
): Promise<IncomingMessage> {
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
    headers: { "user-agent": "shoal", ...headers },
    ...(signal && { signal }),
  })
    .on("response", resolve)
    .on("error", reject)
    .end(body);
  return promise;
}
