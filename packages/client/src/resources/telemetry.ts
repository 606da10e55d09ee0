import {
  createOtlpDestination,
  deleteOtlpDestination,
  getOtlpDestination,
  listOtlpDestinations,
  updateOtlpDestination,
} from "@shoal/contract";
import type {
  CreateOtlpDestination,
  ListOtlpDestinations,
  OtlpDestination,
  UpdateOtlpDestination,
} from "@shoal/schemas";
import type { Call, CallOptions, ItemPage, Transport } from "@shoal/transport";

/** OpenTelemetry receivers for the telemetry of sessions. */
export class TelemetryDestinations {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Creates a destination. Its header values are secret and cannot be read again. @throws {ApiError} 409 `name_taken`. */
  create(body: CreateOtlpDestination, options?: CallOptions): Call<OtlpDestination> {
    return this.#transport.call(createOtlpDestination, { body }, options);
  }
  /** Lists destinations, newest first. `for await` iterates over all pages. */
  list(query: ListOtlpDestinations = {}, options?: CallOptions): Call<ItemPage<OtlpDestination>> {
    return this.#transport.call(listOtlpDestinations, { query }, options);
  }
  /** Gets a destination. Ids take precedence over names. @throws {ApiError} 404 `not_found`. */
  get(idOrName: string, options?: CallOptions): Call<OtlpDestination> {
    return this.#transport.call(getOtlpDestination, { params: { id_or_name: idOrName } }, options);
  }
  /** Changes the given fields and headers; `null` removes a header. @throws {ApiError} 404 `not_found`; 409 for a new name while the old one is in use. */
  update(idOrName: string, body: UpdateOtlpDestination, options?: CallOptions): Call<OtlpDestination> {
    return this.#transport.call(updateOtlpDestination, { params: { id_or_name: idOrName }, body }, options);
  }
  /** Deletes a destination. @throws {ApiError} 404 `not_found`; 409 while it is in use. */
  delete(idOrName: string, options?: CallOptions): Call<void> {
    return this.#transport.call(deleteOtlpDestination, { params: { id_or_name: idOrName } }, options);
  }
}

/** Export of telemetry. Events of a session are at `browsers.telemetry`. */
export class Telemetry {
  readonly destinations: TelemetryDestinations;
  constructor(transport: Transport) {
    this.destinations = new TelemetryDestinations(transport);
  }
}
