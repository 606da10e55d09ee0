import {
  createInvocation,
  deleteInvocationBrowsers,
  followInvocation,
  getInvocation,
  listInvocationBrowsers,
  listInvocations,
  updateInvocation,
} from "@shoal/contract";
import type {
  CreatedInvocation,
  CreateInvocation,
  FollowInvocation,
  Invocation,
  InvocationBrowsers,
  InvocationEvent,
  ListInvocations,
  UpdateInvocation,
} from "@shoal/schemas";
import type { Call, CallOptions, EventStream, ItemPage, StreamOptions, Transport } from "@shoal/transport";
import { waitFor, type WaitOptions } from "./wait.ts";

/** Longer than the service's own limit of 100 seconds. */
const synchronousTimeoutMs = 120_000;

/** Invocations of app actions. */
export class Invocations {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Invokes an action. Resolves with its output, or immediately with `async: true`; {@link wait} then returns the output.
   *
   * @example
   * const { id } = await shoal.invocations.create({ app_name: "shop", action_name: "price", payload: JSON.stringify({ sku: 7 }), async: true });
   * const { status, output } = await shoal.invocations.wait(id);
   *
   * @param options - `timeoutMs`: default 120,000 unless `async` is set.
   * @throws {ApiError} 404 for an unknown app, version or action; 429 at the project's limit; 529 when the server is full.
   */
  create(body: CreateInvocation, options?: CallOptions): Call<CreatedInvocation> {
    return this.#transport.call(
      createInvocation,
      { body },
      body.async === true ? options : { timeoutMs: synchronousTimeoutMs, ...options },
    );
  }
  /** Lists invocations, newest first. `for await` iterates over all pages. */
  list(query: ListInvocations = {}, options?: CallOptions): Call<ItemPage<Invocation>> {
    return this.#transport.call(listInvocations, { query }, options);
  }
  /** Gets an invocation; finished ones include the output. @throws {ApiError} 404 `not_found`. */
  get(id: string, options?: CallOptions): Call<Invocation> {
    return this.#transport.call(getInvocation, { params: { id } }, options);
  }
  /** Ends an invocation with a status and an output; `failed` cancels a running one. Returns an ended one unchanged. @throws {ApiError} 404 `not_found`. */
  update(id: string, body: UpdateInvocation, options?: CallOptions): Call<Invocation> {
    return this.#transport.call(updateInvocation, { params: { id }, body }, options);
  }
  /** Yields statuses and log lines, starting at `query.since`; resumes after a lost connection; ends with the invocation. */
  follow(id: string, query: FollowInvocation = {}, options?: StreamOptions): EventStream<InvocationEvent> {
    return this.#transport.stream(followInvocation, { params: { id }, query }, options);
  }
  /** Lists the running browser sessions that an invocation started. @throws {ApiError} 404 `not_found`. */
  listBrowsers(id: string, options?: CallOptions): Call<InvocationBrowsers> {
    return this.#transport.call(listInvocationBrowsers, { params: { id } }, options);
  }
  /** Ends the browser sessions that an invocation started. @throws {ApiError} 404 `not_found`. */
  deleteBrowsers(id: string, options?: CallOptions): Call<void> {
    return this.#transport.call(deleteInvocationBrowsers, { params: { id } }, options);
  }
  /**
   * Waits until the `status` is `succeeded` or `failed`. Ending the wait does not end the invocation.
   * @throws {TimeoutError} after `options.totalTimeoutMs`; {@link ApiError} 404 `not_found`.
   */
  wait(id: string, options: WaitOptions<Invocation, InvocationEvent> = {}): Promise<Invocation> {
    return waitFor<Invocation, InvocationEvent>(
      {
        operation: "invocations.wait",
        get: (callOptions) => this.get(id, callOptions),
        follow: (streamOptions) => this.follow(id, {}, streamOptions),
        stateOf: (event) => (event.event === "invocation_state" ? event.invocation : undefined),
        statusOf: ({ status }) => status,
        isFinal: ({ status }) => status === "succeeded" || status === "failed",
      },
      options,
    );
  }
}
