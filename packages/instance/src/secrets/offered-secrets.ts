import type { OfferedSecret } from "../protocol/offered-secret.ts";

/** Longest time between an offer and its action, which a slow client can delay. Milliseconds. */
const offerMs = 60_000;

/** Stored values that wait for the one action that may type them. */
export class OfferedSecrets {
  readonly #offers = new Map<string, { readonly secret: OfferedSecret; readonly timer: NodeJS.Timeout }>();

  offer(secret: OfferedSecret): void {
    const { ticket } = secret;
    this.take(ticket);
    const timer = setTimeout(() => this.#offers.delete(ticket), offerMs).unref();
    this.#offers.set(ticket, { secret, timer });
  }

  /** Returns the value once. */
  take(ticket: unknown): OfferedSecret | undefined {
    const offer = typeof ticket === "string" ? this.#offers.get(ticket) : undefined;
    if (offer === undefined) return undefined;
    clearTimeout(offer.timer);
    this.#offers.delete(offer.secret.ticket);
    return offer.secret;
  }
}
