import type { OutboundRule } from "@shoal/placement";
import { codeOf } from "@shoal/primitives";
import { readAtMost } from "@shoal/primitives/node";
import { setTimeout as sleep } from "node:timers/promises";
import type { IncomingMessage } from "node:http";
import type { LookupFunction } from "node:net";
import { requestVia, retryAfterOf } from "../../host/guarded-request.ts";
import type { ProviderAnswer, ProviderHttp, ProviderRequest } from "./interface/credential-provider.ts";
import { ProviderFailure } from "./interface/provider-failure.ts";

const maxAnswerBytes = 2 ** 20;
/** Longer waits are for the caller. */
const maxWaitMs = 3000;
const maxRetryAfterMs = 60 * 60 * 1000;

function problemOf(status: number, { location }: IncomingMessage["headers"], url: URL): string {
  if (status >= 300 && status < 400) {
    const target = URL.parse(location ?? "", url);
    return `redirected to ${target?.origin ?? "another address"}; redirects are not followed, so set the final address`;
  }
  if (status === 401 || status === 403)
    return `refused the token (${String(status)}); check that it is valid and may read these items`;
  if (status === 404) return "has nothing at this path (404); check the settings of the provider";
  if (status === 429) return "received too many requests (429)";
  return status >= 500
    ? `failed with status ${String(status)}; try again later`
    : `rejected the request with status ${String(status)}; check the settings of the provider`;
}

async function readBounded(answer: IncomingMessage, host: string): Promise<Buffer> {
  const bytes = await readAtMost(answer, maxAnswerBytes).catch((error: unknown) => {
    throw new ProviderFailure(`${host} closed the connection before the end of its answer.`, { cause: error });
  });
  if (bytes === undefined) throw new ProviderFailure(`${host} sent more than ${String(maxAnswerBytes)} bytes.`);
  return bytes;
}

function parsed(bytes: Buffer, host: string): unknown {
  if (bytes.length === 0) return undefined;
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    // The cause would quote the answer.
    throw new ProviderFailure(`${host} sent an answer that is not JSON; check the address of the provider.`);
  }
}

/** Sends requests to public addresses, and to private hosts that the operator permits. */
export class GuardedHttp implements ProviderHttp {
  readonly #rule: OutboundRule;

  constructor(rule: OutboundRule) {
    this.#rule = rule;
  }

  async send(request: ProviderRequest): Promise<ProviderAnswer> {
    try {
      return await this.#once(request);
    } catch (error) {
      const waitMs = error instanceof ProviderFailure ? error.retryAfterMs : undefined;
      if (waitMs === undefined || waitMs > maxWaitMs) throw error;
      await sleep(waitMs, undefined, { signal: request.signal }).catch(() => {
        request.signal.throwIfAborted();
      });
      return this.#once(request);
    }
  }

  async #once(request: ProviderRequest): Promise<ProviderAnswer> {
    const { accepts = [], signal } = request;
    const url = new URL(request.url);
    const answer = await this.#open(url, request);
    const { headers, statusCode: status = 0 } = answer;
    if ((status < 200 || status >= 300) && !accepts.includes(status)) {
      answer.destroy();
      throw new ProviderFailure(`${url.host} ${problemOf(status, headers, url)}.`, {
        status,
        ...((status === 429 || status === 503) && {
          retryAfterMs: retryAfterOf(headers["retry-after"], maxRetryAfterMs),
        }),
      });
    }
    try {
      return { status, json: parsed(await readBounded(answer, url.host), url.host) };
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  }

  async #open(url: URL, { body, headers = {}, method = "GET", signal }: ProviderRequest): Promise<IncomingMessage> {
    signal.throwIfAborted();
    const lookup = await this.#lookupOf(url);
    const content = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
    try {
      return await requestVia(lookup, url, {
        method,
        body: content,
        signal,
        headers: {
          accept: "application/json",
          ...(content !== undefined && {
            "content-type": "application/json",
            "content-length": String(Buffer.byteLength(content)),
          }),
          ...headers,
        },
      });
    } catch (error) {
      signal.throwIfAborted();
      throw new ProviderFailure(`${url.host} cannot be reached (${codeOf(error) ?? "connection failed"}).`, {
        cause: error,
      });
    }
  }

  async #lookupOf(url: URL): Promise<LookupFunction> {
    if (!/^https?:$/.test(url.protocol))
      throw new ProviderFailure(`${url.protocol} addresses are not supported; use https.`);
    const decision = await this.#rule.decide(url, "private");
    if (decision.allowed) return decision.lookup;
    throw new ProviderFailure(
      decision.needsTls === true
        ? `${url.host} is a public address, and http would reveal the token; use https.`
        : `${url.host} may not be reached: ${decision.because}. An operator can permit private hosts with credential_provider_hosts.`,
    );
  }
}
