import { getAuthContext } from "@shoal/contract";
import type { AuthContext } from "@shoal/schemas";
import type { Call, CallOptions, Transport } from "@shoal/transport";

/** The identity of the caller. */
export class AuthContextResource {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Returns the calling key or user, and its project. */
  get(options?: CallOptions): Call<AuthContext> {
    return this.#transport.call(getAuthContext, {}, options);
  }
}
