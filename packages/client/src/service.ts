import { getHealth, getOpenApi, getReadiness } from "@shoal/contract";
import type { Health, Readiness } from "@shoal/schemas";
import type { Call, CallOptions, Transport } from "@shoal/transport";

/** Health and API description of the service. No method needs a key. */
export class Service {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Resolves while the service's process runs. */
  health(options?: CallOptions): Call<Health> {
    return this.#transport.call(getHealth, {}, options);
  }
  /** Resolves when sessions can be started. Not retried, so that the result is current. @throws {ApiError} 503 while a component is missing. */
  ready(options?: CallOptions): Call<Readiness> {
    return this.#transport.call(getReadiness, {}, { maxRetries: 0, ...options });
  }
  /** Returns the OpenAPI 3.1 document. */
  openapi(options?: CallOptions): Call<Record<string, unknown>> {
    return this.#transport.call(getOpenApi, {}, options);
  }
}
