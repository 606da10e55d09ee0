import type { OutboundRule } from "@shoal/placement";
import { anySignal } from "@shoal/primitives";
import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { logsUrl } from "../../../resources/telemetry-destinations/destination-rules.ts";
import type { DestinationAddress } from "../../../resources/telemetry-destinations/destinations.ts";

export type SendResult =
  | { readonly outcome: "taken"; readonly answer: Uint8Array }
  /** A retry may succeed. `why` is for the operator and contains no data of the destination. */
  | { readonly outcome: "later"; readonly why: string; readonly retryAfterMs?: number }
  /** A retry would fail. */
  | { readonly outcome: "refused"; readonly why: string };

export interface Sender {
  /** Does not follow redirects. Never rejects. */
  send(
    to: DestinationAddress,
    body: Uint8Array,
    options: { readonly contentType: string; readonly signal: AbortSignal },
  ): Promise<SendResult>;
  close(): void;
}

const requestTimeoutMs = 10_000;
const maxAnswerBytes = 64 * 1024;
const maxRetryAfterMs = 600_000;
/** https://opentelemetry.io/docs/specs/otlp/#retryable-response-codes */
const retryable: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Returns milliseconds, at most ten minutes. */
export function retryAfterOf(header: string | undefined, nowMs = Date.now()): number | undefined {
  if (header === undefined) return undefined;
  const waitMs = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - nowMs;
  return Number.isNaN(waitMs) ? undefined : Math.min(maxRetryAfterMs, Math.max(0, waitMs));
}

async function beginningOf(answer: IncomingMessage): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length;
    // Longer answers are not valid for logs.
    if (size > maxAnswerBytes) return new Uint8Array();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** System and TLS codes only; messages might contain sent data. */
function reasonOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string"
    ? error.code
    : "the connection broke";
}

export function createSender(rule: OutboundRule): Sender {
  // A pooled connection was checked when it was opened.
  const keep = { keepAlive: true, maxFreeSockets: 16, timeout: 30_000 };
  const agents = { "http:": new HttpAgent(keep), "https:": new HttpsAgent(keep) };

  return {
    async send(to, body, { contentType, signal }) {
      if (to.headers === undefined)
        return {
          outcome: "refused",
          why: "its headers cannot be decrypted: their master key is missing or unavailable",
        };
      const url = logsUrl(to.endpoint);
      const decision = await rule.decide(url);
      if (!decision.allowed) return { outcome: "later", why: `its address is not allowed: ${decision.because}` };
      const { lookup } = decision;
      const timeout = AbortSignal.timeout(requestTimeoutMs);
      const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
      try {
        const isTls = url.protocol === "https:";
        const outgoing = (isTls ? httpsRequest : httpRequest)(url, {
          method: "POST",
          agent: isTls ? agents["https:"] : agents["http:"],
          lookup,
          signal: anySignal([signal, timeout]),
          headers: { "user-agent": "shoal", ...to.headers, "content-type": contentType, "content-length": body.length },
        });
        outgoing.on("response", resolve).on("error", reject).end(body);
        const answer = await promise;
        const { statusCode: status = 0, headers } = answer;
        const content = await beginningOf(answer);
        if (status >= 200 && status < 300) return { outcome: "taken", answer: content };
        if (!retryable.has(status)) return { outcome: "refused", why: `it answered ${String(status)}` };
        const retryAfterMs = retryAfterOf(headers["retry-after"]);
        return {
          outcome: "later",
          why: `it answered ${String(status)}`,
          ...(retryAfterMs !== undefined && { retryAfterMs }),
        };
      } catch (error) {
        return {
          outcome: "later",
          why: timeout.aborted || signal.aborted ? "it did not answer in time" : reasonOf(error),
        };
      }
    },
    close() {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}
