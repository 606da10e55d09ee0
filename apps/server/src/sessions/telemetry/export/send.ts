import type { OutboundRule } from "@shoal/placement";
import { anySignal, codeOf } from "@shoal/primitives";
import { readAtMost } from "@shoal/primitives/node";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { requestVia, retryAfterOf } from "../../../host/guarded-request.ts";
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
      const timeout = AbortSignal.timeout(requestTimeoutMs);
      try {
        const answer = await requestVia(decision.lookup, url, {
          method: "POST",
          agent: url.protocol === "https:" ? agents["https:"] : agents["http:"],
          signal: anySignal([signal, timeout]),
          headers: { ...to.headers, "content-type": contentType, "content-length": body.length },
          body,
        });
        const { statusCode: status = 0, headers } = answer;
        // Longer answers are not valid for logs.
        const content = (await readAtMost(answer, maxAnswerBytes)) ?? new Uint8Array();
        if (status >= 200 && status < 300) return { outcome: "taken", answer: content };
        if (!retryable.has(status)) return { outcome: "refused", why: `it answered ${String(status)}` };
        const retryAfterMs = retryAfterOf(headers["retry-after"], maxRetryAfterMs);
        return {
          outcome: "later",
          why: `it answered ${String(status)}`,
          ...(retryAfterMs !== undefined && { retryAfterMs }),
        };
      } catch (error) {
        return {
          outcome: "later",
          why:
            timeout.aborted || signal.aborted
              ? "it did not answer in time" // System and TLS codes only; messages might contain sent data.
              : (codeOf(error) ?? "the connection broke"),
        };
      }
    },
    close() {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}
