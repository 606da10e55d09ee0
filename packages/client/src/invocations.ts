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
import type { CallOptions, EventStream, ItemPage, StreamOptions, Transport } from "@shoal/transport";
import { waitFor, type WaitOptions } from "./wait.ts";

/** The service answers a synchronous invocation after 100 seconds at the latest. */
const synchronousTimeoutMs = 120_000;

/** Runs of apps' actions. */
export class Invocations {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Invokes an action. Answers with its output when it has ended, or at once with `async: true`; {@link Invocations.wait} waits for the end then.
   *
   * @example
   * const { id } = await shoal.invocations.create({ app_name: "shop", action_name: "price", payload: JSON.stringify({ sku: 7 }), async: true });
   * const { status, output } = await shoal.invocations.wait(id);
   *
   * @param options - `timeoutMs` is 120000 when absent and the call is not `async`.
   * @throws {ApiError} 404 for an app, version or action that does not exist; 429 or 529 when there is no room.
   */
  create(body: CreateInvocation, options?: CallOptions): Promise<CreatedInvocation> {
    return this.#transport.call(createInvocation, { body }, body.async === true ? options : { timeoutMs: synchronousTimeoutMs, ...options });
  }
  /** Lists invocations, newest first. `for await` over the page gives all of them, page by page. */
  list(query: ListInvocations = {}, options?: CallOptions): Promise<ItemPage<Invocation>> {
    return this.#transport.call(listInvocations, { query }, options);
  }
  /** Finds an invocation, with its output once it has ended. @throws {ApiError} 404 `not_found`. */
  get(id: string, options?: CallOptions): Promise<Invocation> {
    return this.#transport.call(getInvocation, { params: { id } }, options);
  }
  /** Ends an invocation with a status and an output; `failed` cancels one that runs. @throws {ApiError} 404 `not_found`; 409 when it has ended already. */
  update(id: string, body: UpdateInvocation, options?: CallOptions): Promise<Invocation> {
    return this.#transport.call(updateInvocation, { params: { id }, body }, options);
  }
  /** Yields states and log lines, from `query.since` on; goes on after a lost connection; ends when the invocation has. */
  follow(id: string, query: FollowInvocation = {}, options?: StreamOptions): EventStream<InvocationEvent> {
    return this.#transport.stream(followInvocation, { params: { id }, query }, options);
  }
  /** Lists the running browser sessions that an invocation has started. @throws {ApiError} 404 `not_found`. */
  listBrowsers(id: string, options?: CallOptions): Promise<InvocationBrowsers> {
    return this.#transport.call(listInvocationBrowsers, { params: { id } }, options);
  }
  /** Ends the browser sessions that an invocation has started. @throws {ApiError} 404 `not_found`. */
  deleteBrowsers(id: string, options?: CallOptions): Promise<void> {
    return this.#transport.call(deleteInvocationBrowsers, { params: { id } }, options);
  }
  /**
   * Waits until an invocation has ended: until its `status` is `succeeded` or `failed`. The invocation goes on when the waiting is given up.
   *
   * @returns the invocation, however it ended; look at its `status`.
   * @throws {TimeoutError} after `options.totalTimeoutMs`; {@link ApiError} 404 `not_found`; the signal's reason after an abort.
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
