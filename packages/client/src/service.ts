import { getHealth, getOpenApi, getReadiness } from "@shoal/contract";
import type { Health, Readiness } from "@shoal/schemas";
import type { CallOptions, Transport } from "@shoal/transport";

/** The service itself. None of these needs a key. */
export class Service {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Answers while the service's process is alive. */
  health(options?: CallOptions): Promise<Health> {
    return this.#transport.call(getHealth, {}, options);
  }
  /** Answers when sessions can be started. Is not tried again by itself: whoever asks wants to know about now. @throws {ApiError} 503 while a part is missing. */
  ready(options?: CallOptions): Promise<Readiness> {
    return this.#transport.call(getReadiness, {}, { maxRetries: 0, ...options });
  }
  /** The document that describes every operation, OpenAPI 3.1. */
  openapi(options?: CallOptions): Promise<Record<string, unknown>> {
    return this.#transport.call(getOpenApi, {}, options);
  }
}
