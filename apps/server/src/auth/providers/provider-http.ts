import type { OutboundRule } from "@shoal/placement";
import { setTimeout as sleep } from "node:timers/promises";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { LookupFunction } from "node:net";
import type { ProviderAnswer, ProviderHttp, ProviderRequest } from "./interface/credential-provider.ts";
import { ProviderFailure } from "./interface/provider-failure.ts";

const maxAnswerBytes = 2 ** 20;
/** Longer waits are for the caller. */
const maxWaitMs = 3000;
const maxRetryAfterMs = 60 * 60 * 1000;

/** Returns the time of a `retry-after` header in milliseconds; `undefined` if it is absent or invalid. */
export function retryAfterOf(header: string | undefined, now = Date.now()): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), maxRetryAfterMs);
}

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

/** A code such as `ECONNREFUSED`: other messages may contain parts of the request. */
function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "connection failed";
}

async function readBounded(answer: IncomingMessage, host: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxAnswerBytes) throw new ProviderFailure(`${host} sent more than ${String(maxAnswerBytes)} bytes.`);
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof ProviderFailure
      ? error
      : new ProviderFailure(`${host} closed the connection before the end of its answer.`, { cause: error });
  } finally {
    answer.destroy();
  }
  return Buffer.concat(chunks);
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

class GuardedHttp implements ProviderHttp {
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
        ...((status === 429 || status === 503) && { retryAfterMs: retryAfterOf(headers["retry-after"]) }),
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
    const { promise, reject, resolve } = Promise.withResolvers<IncomingMessage>();
    const outgoing = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, {
      agent: false,
      lookup,
      signal,
      method,
      headers: {
        accept: "application/json",
        "user-agent": "shoal",
        ...(content !== undefined && {
          "content-type": "application/json",
          "content-length": String(Buffer.byteLength(content)),
        }),
        ...headers,
      },
    });
    outgoing.on("response", resolve).on("error", reject).end(content);
    try {
      return await promise;
    } catch (error) {
      signal.throwIfAborted();
      throw new ProviderFailure(`${url.host} cannot be reached (${codeOf(error)}).`, { cause: error });
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

/** @param rule - allows public addresses, and private hosts that the operator permits. */
export function createProviderHttp(rule: OutboundRule): ProviderHttp {
  return new GuardedHttp(rule);
}
