import { getAuthContext } from "@shoal/contract";
import type { AuthContext } from "@shoal/schemas";
import type { CallOptions, Transport } from "@shoal/transport";

/** Who the key belongs to. */
export class AuthContextResource {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Tells which key or person calls, and which project it may reach. */
  get(options?: CallOptions): Promise<AuthContext> {
    return this.#transport.call(getAuthContext, {}, options);
  }
}
