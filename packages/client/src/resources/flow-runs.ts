import { cancelFlowRun, getFlowRun, listFlowRuns, readFlowRunPicture, startFlowRun } from "@shoal/contract";
import type {
  FlowRun,
  FlowRunSummary,
  GetFlowRun,
  GetFlowRunPicture,
  ListFlowRuns,
  StartFlowRun,
} from "@shoal/schemas";
import type { Call, CallOptions, Download, DownloadOptions, ItemPage, Transport } from "@shoal/transport";

/** Replays of a flow. */
export class FlowRuns {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Starts a run and returns at once. @throws {ApiError} 400 for values of parameters, 403 for stored values without the right to them. */
  create(flowId: string, body: StartFlowRun = {}, options?: CallOptions): Call<FlowRun> {
    return this.#transport.call(startFlowRun, { params: { id: flowId }, body }, options);
  }
  /** Lists runs, newest first. `for await` iterates over all pages. */
  list(flowId: string, query: ListFlowRuns = {}, options?: CallOptions): Call<ItemPage<FlowRunSummary>> {
    return this.#transport.call(listFlowRuns, { params: { id: flowId }, query }, options);
  }
  /** Gets a run with the steps of its rows; `wait_seconds` waits for its end. @throws {ApiError} 404 `not_found`. */
  get(flowId: string, runId: string, query: GetFlowRun = {}, options?: CallOptions): Call<FlowRun> {
    return this.#transport.call(getFlowRun, { params: { id: flowId, run_id: runId }, query }, options);
  }
  /**
   * Downloads a picture of the page that differed, as a JPEG file. Read the stream to its end or cancel it.
   *
   * @throws {ApiError} 404 `not_found` for a step without a picture.
   */
  picture(flowId: string, runId: string, query: GetFlowRunPicture = {}, options?: DownloadOptions): Promise<Download> {
    return this.#transport.download(readFlowRunPicture, { params: { id: flowId, run_id: runId }, query }, options);
  }
  /** Ends a run and its browsers. A finished run stays as it is. @throws {ApiError} 404 `not_found`. */
  cancel(flowId: string, runId: string, options?: CallOptions): Call<FlowRun> {
    return this.#transport.call(cancelFlowRun, { params: { id: flowId, run_id: runId } }, options);
  }
}
