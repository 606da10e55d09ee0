import { createOtlpDestination, deleteOtlpDestination, getOtlpDestination, listOtlpDestinations, updateOtlpDestination } from "@shoal/contract";
import type { CreateOtlpDestination, ListOtlpDestinations, OtlpDestination, UpdateOtlpDestination } from "@shoal/schemas";
import type { CallOptions, ItemPage, Transport } from "@shoal/transport";

/** OpenTelemetry receivers that sessions' telemetry can be sent to. */
export class TelemetryDestinations {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Makes a destination. Values of its headers are secrets and cannot be read again. @throws {ApiError} 409 `name_taken`. */
  create(body: CreateOtlpDestination, options?: CallOptions): Promise<OtlpDestination> {
    return this.#transport.call(createOtlpDestination, { body }, options);
  }
  /** Lists destinations, newest first. `for await` over the page gives all of them, page by page. */
  list(query: ListOtlpDestinations = {}, options?: CallOptions): Promise<ItemPage<OtlpDestination>> {
    return this.#transport.call(listOtlpDestinations, { query }, options);
  }
  /** Finds a destination. An id is looked for before a name. @throws {ApiError} 404 `not_found`. */
  get(idOrName: string, options?: CallOptions): Promise<OtlpDestination> {
    return this.#transport.call(getOtlpDestination, { params: { id_or_name: idOrName } }, options);
  }
  /** Changes a destination; fields and headers that are absent stay, and a header that is `null` goes. @throws {ApiError} 404 `not_found`; 409 when it is renamed while something names it. */
  update(idOrName: string, body: UpdateOtlpDestination, options?: CallOptions): Promise<OtlpDestination> {
    return this.#transport.call(updateOtlpDestination, { params: { id_or_name: idOrName }, body }, options);
  }
  /** Deletes a destination. @throws {ApiError} 404 `not_found`; 409 while something uses it. */
  delete(idOrName: string, options?: CallOptions): Promise<void> {
    return this.#transport.call(deleteOtlpDestination, { params: { id_or_name: idOrName } }, options);
  }
}

/** Where telemetry goes; that of one session is at `browsers.telemetry`. */
export class Telemetry {
  /** The receivers. */
  readonly destinations: TelemetryDestinations;
  constructor(transport: Transport) {
    this.destinations = new TelemetryDestinations(transport);
  }
}
