import { getEvidenceKey } from "@shoal/contract";
import type { EvidenceKey } from "@shoal/schemas";
import type { Call, CallOptions, Transport } from "@shoal/transport";

/** The key that signs evidence bundles of the project. */
export class EvidenceKeyResource {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Returns the public key, to verify bundles without the service. */
  get(options?: CallOptions): Call<EvidenceKey> {
    return this.#transport.call(getEvidenceKey, {}, options);
  }
}
