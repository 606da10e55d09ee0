import { getBotIdentity, rotateBotKey } from "@shoal/contract";
import type { BotIdentity } from "@shoal/schemas";
import type { Call, CallOptions, Transport } from "@shoal/transport";

/** The key with which sessions of the project sign requests, for `web_bot_auth`. */
export class BotIdentityResource {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Returns the public keys. Creates the first one. */
  get(options?: CallOptions): Call<BotIdentity> {
    return this.#transport.call(getBotIdentity, {}, options);
  }
  /** Replaces the key that signs. The directory contains the old key for 24 hours. */
  rotate(options?: CallOptions): Call<BotIdentity> {
    return this.#transport.call(rotateBotKey, {}, options);
  }
}
