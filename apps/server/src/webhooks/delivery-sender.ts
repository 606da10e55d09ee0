import type { OutboundRule } from "@shoal/placement";
import { anySignal, codeOf } from "@shoal/primitives";
import { setTimeout as delay } from "node:timers/promises";
import type { IncomingMessage } from "node:http";
import { requestVia, retryAfterOf } from "../host/guarded-request.ts";
import { decideAddress } from "./webhook-address.ts";
import type { SigningSecrets } from "./signing-secrets.ts";

/** What a request needs. */
export interface Sendable {
  readonly webhook_id: string;
  readonly event_id: string;
  readonly payload: string;
  readonly url: string;
}

/** The result of one attempt. Contains nothing of the receiver's body, which could repeat secrets of its headers. */
export interface Attempt {
  /** Absent = it succeeded. */
  readonly error?: string;
  readonly status?: number;
  readonly durationMs: number;
  readonly retryAfterMs?: number | undefined;
  /** The receiver expects no more events. */
  readonly isGone?: true;
}

/** Milliseconds from the lookup of the name to the status line. */
export const attemptMs = 15_000;
const maxRetryAfterMs = 24 * 60 * 60 * 1000;
const gone = 410;

function problemOf(status: number, { location }: IncomingMessage["headers"], url: URL): string {
  if (status < 300 || status >= 400) return `The receiver answered ${String(status)}.`;
  const target = URL.parse(location ?? "", url)?.origin ?? "another address";
  return `The receiver redirected to ${target}. Redirects are not followed: set the final address.`;
}

/** Sends deliveries. */
export class DeliverySender {
  readonly #rule: OutboundRule;
  readonly #secrets: SigningSecrets;

  constructor(rule: OutboundRule, secrets: SigningSecrets) {
    this.#rule = rule;
    this.#secrets = secrets;
  }

  /** Rejects only with the reason of `signal`. */
  async send(delivery: Sendable, signal: AbortSignal): Promise<Attempt> {
    const began = performance.now();
    const deadline = new AbortController();
    const stop = anySignal([signal, deadline.signal]);
    const timeout = delay(attemptMs, undefined, { signal: stop, ref: false }).then(
      () => {
        deadline.abort();
        return { error: `The receiver did not answer within ${String(attemptMs / 1000)} seconds.` };
      },
      // Settles the race when the caller aborts.
      () => ({ error: "The attempt was aborted." }),
    );
    const result = await Promise.race([this.#attempt(delivery, stop), timeout]);
    deadline.abort();
    signal.throwIfAborted();
    return { ...result, durationMs: Math.round(performance.now() - began) };
  }

  async #attempt(delivery: Sendable, signal: AbortSignal): Promise<Omit<Attempt, "durationMs">> {
    const url = new URL(delivery.url);
    const decision = await decideAddress(url, this.#rule);
    if (!decision.allowed) return { error: decision.problem };
    const at = new Date();
    const signature = await this.#secrets
      .sign(delivery.webhook_id, { eventId: delivery.event_id, at, payload: delivery.payload })
      .catch(() => undefined);
    if (signature === undefined)
      return { error: "The secret cannot be decrypted. Replace it with webhooks.rotateSecret." };
    const body = Buffer.from(delivery.payload);
    try {
      const answer = await requestVia(decision.lookup, url, {
        method: "POST",
        signal,
        headers: {
          "content-type": "application/json",
          "content-length": body.length,
          "user-agent": "shoal-webhooks",
          "webhook-id": delivery.event_id,
          "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
          "webhook-signature": signature,
        },
        body,
      });
      return resultOf(answer, url);
    } catch (error) {
      // System and TLS codes only; messages might contain sent data.
      return { error: `The receiver cannot be reached (${codeOf(error) ?? "the connection broke"}).` };
    }
  }
}

function resultOf(answer: IncomingMessage, url: URL): Omit<Attempt, "durationMs"> {
  const { headers, statusCode: status = 0 } = answer;
  answer.on("error", () => undefined).destroy();
  if (status >= 200 && status < 300) return { status };
  return {
    status,
    error: problemOf(status, headers, url),
    retryAfterMs: retryAfterOf(headers["retry-after"], maxRetryAfterMs),
    ...(status === gone && { isGone: true }),
  };
}
