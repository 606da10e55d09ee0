import type { Handoff, ReleaseHandoff, RequestHandoff } from "@shoal/schemas";
import type { Call, CallOptions } from "@shoal/transport";
import type { BrowserHandoff } from "../browser-handoff.ts";

/** A requested handoff, with its end. */
export interface StartedHandoff extends Handoff {
  /** Waits for the end: `released`, `expired` or `canceled`. */
  done(options?: CallOptions): Promise<Handoff>;
}

/** Control of the session by a person. */
export class SessionHandoff {
  readonly #calls: BrowserHandoff;
  readonly #id: string;
  constructor(calls: BrowserHandoff, id: string) {
    this.#calls = calls;
    this.#id = id;
  }

  /**
   * Pauses input by programs, and returns a link for the person.
   *
   * @example
   * const handoff = await browser.handoff.request({ message: "Please sign in." });
   * console.log(handoff.url);
   * const { status, note } = await handoff.done();
   *
   * @throws {ApiError} 409 `handoff_active` for a second one.
   */
  async request(body: RequestHandoff, options?: CallOptions): Promise<StartedHandoff> {
    const handoff = await this.#calls.request(this.#id, body, options);
    const done = (call?: CallOptions) => this.#calls.done(this.#id, { handoff_id: handoff.id }, call);
    // Printed handoffs contain only data.
    return Object.defineProperty(handoff, "done", { value: done }) as StartedHandoff;
  }
  /** Gets the latest handoff. @throws {ApiError} 404 `not_found`. */
  get(options?: CallOptions): Call<Handoff> {
    return this.#calls.get(this.#id, {}, options);
  }
  /** Ends the handoff; programs continue. */
  release(body: ReleaseHandoff = {}, options?: CallOptions): Call<Handoff> {
    return this.#calls.release(this.#id, body, options);
  }
  /** Withdraws the request; programs continue. */
  cancel(options?: CallOptions): Call<Handoff> {
    return this.#calls.cancel(this.#id, options);
  }
}
