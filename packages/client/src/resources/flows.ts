import {
  createFlow,
  deleteFlow,
  exportFlow,
  getFlow,
  importFlow,
  listFlows,
  recordFlow,
  updateFlow,
} from "@shoal/contract";
import type {
  CreateFlow,
  ExportFlow,
  Flow,
  FlowSummary,
  GetFlow,
  ImportFlow,
  ListFlows,
  RecordedFlow,
  RecordFlow,
  UpdateFlow,
} from "@shoal/schemas";
import type { Call, CallOptions, Download, DownloadOptions, ItemPage, Transport } from "@shoal/transport";
import { FlowRuns } from "./flow-runs.ts";

export type * from "./flow-runs.ts";

/** Actions on pages that the service repeats without a model. */
export class Flows {
  readonly runs: FlowRuns;
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.runs = new FlowRuns(transport);
    this.#transport = transport;
  }

  /** Creates a flow from steps. @throws {ApiError} 409 `name_taken`. */
  create(body: CreateFlow, options?: CallOptions): Call<Flow> {
    return this.#transport.call(createFlow, { body }, options);
  }
  /** Creates a flow from the successful actions of a running session, by its id or name. @throws {ApiError} 409 if it has none. */
  record(browserId: string, body: RecordFlow, options?: CallOptions): Call<RecordedFlow> {
    return this.#transport.call(recordFlow, { params: { id: browserId }, body }, options);
  }
  /** Creates a flow from a file of {@link export}. @throws {ApiError} 400 for other files. */
  import(body: ImportFlow, options?: CallOptions): Call<Flow> {
    return this.#transport.call(importFlow, { body }, options);
  }
  /** Lists flows, newest first. `for await` iterates over all pages. */
  list(query: ListFlows = {}, options?: CallOptions): Call<ItemPage<FlowSummary>> {
    return this.#transport.call(listFlows, { query }, options);
  }
  /** Gets a flow, with `version` an earlier version of it. @throws {ApiError} 404 `not_found`. */
  get(id: string, query: GetFlow = {}, options?: CallOptions): Call<Flow> {
    return this.#transport.call(getFlow, { params: { id }, query }, options);
  }
  /** Changes a flow. Other steps are a new version. @throws {ApiError} 404 `not_found`. */
  update(id: string, body: UpdateFlow, options?: CallOptions): Call<Flow> {
    return this.#transport.call(updateFlow, { params: { id }, body }, options);
  }
  /** Deletes a flow with its versions. @throws {ApiError} 404 `not_found`. */
  delete(id: string, options?: CallOptions): Call<void> {
    return this.#transport.call(deleteFlow, { params: { id } }, options);
  }
  /** Downloads a flow as JSON or as a Playwright test. @throws {ApiError} 404 `not_found`. */
  export(id: string, query: ExportFlow = {}, options?: DownloadOptions): Promise<Download> {
    return this.#transport.download(exportFlow, { params: { id }, query }, options);
  }
}
