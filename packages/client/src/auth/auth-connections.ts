import {
  cancelLogin,
  checkConnection,
  createAuthConnection,
  deleteAuthConnection,
  exchangeHandoff,
  followLogin,
  getAuthConnection,
  listAuthConnections,
  listTimeline,
  startLogin,
  submitLogin,
  updateAuthConnection,
} from "@shoal/contract";
import type {
  AuthConnection,
  CheckConnection,
  CreateAuthConnection,
  ExchangedHandoff,
  ExchangeHandoff,
  ListAuthConnections,
  ListTimeline,
  ManagedAuthEvent,
  StartedLogin,
  StartLogin,
  SubmitLogin,
  SubmittedLogin,
  TimelineEvent,
  UpdateAuthConnection,
} from "@shoal/schemas";
import type { Call, CallOptions, EventStream, ItemPage, StreamOptions, Transport } from "@shoal/transport";
import { waitingUpTo } from "../waits/wait-limits.ts";

/** Logins of profiles to websites. The service keeps them signed in. */
export class AuthConnections {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Connects a profile to a site; creates a missing profile.
   * @throws {ApiError} 409 for an existing connection; `error.fields.existing_id` is its id.
   */
  create(body: CreateAuthConnection, options?: CallOptions): Call<AuthConnection> {
    return this.#transport.call(createAuthConnection, { body }, options);
  }
  /** Lists connections, newest first. `for await` iterates over all pages. */
  list(query: ListAuthConnections = {}, options?: CallOptions): Call<ItemPage<AuthConnection>> {
    return this.#transport.call(listAuthConnections, { query }, options);
  }
  /** Gets a connection, with the input that a pending login requires. @throws {ApiError} 404 `not_found`. */
  get(id: string, options?: CallOptions): Call<AuthConnection> {
    return this.#transport.call(getAuthConnection, { params: { id } }, options);
  }
  /** Changes the given fields of a connection. @throws {ApiError} 404 `not_found`. */
  update(id: string, body: UpdateAuthConnection, options?: CallOptions): Call<AuthConnection> {
    return this.#transport.call(updateAuthConnection, { params: { id }, body }, options);
  }
  /** Deletes a connection and cancels a pending login; the profile stays. @throws {ApiError} 404 `not_found`. */
  delete(id: string, options?: CallOptions): Call<void> {
    return this.#transport.call(deleteAuthConnection, { params: { id } }, options);
  }
  /** Starts a login. Send the user to its `hosted_url`, or follow the events and submit the requested values. @throws {ApiError} 404 `not_found`; 409 during another login. */
  login(id: string, body: StartLogin = {}, options?: CallOptions): Call<StartedLogin> {
    return this.#transport.call(startLogin, { params: { id }, body }, options);
  }
  /** Submits the values that a login requires; {@link follow} reports the result. @throws {ApiError} 404 `not_found`; 422 when the login requires no values, or different ones. */
  submit(id: string, body: SubmitLogin, options?: CallOptions): Call<SubmittedLogin> {
    return this.#transport.call(submitLogin, { params: { id }, body }, options);
  }
  /** Ends a running login; the profile stays as it was. @throws {ApiError} 404 `not_found`. */
  cancel(id: string, options?: CallOptions): Call<void> {
    return this.#transport.call(cancelLogin, { params: { id } }, options);
  }
  /** Yields the state of a login and its changes; resumes after a lost connection; ends with the login. */
  follow(id: string, options?: StreamOptions): EventStream<ManagedAuthEvent> {
    return this.#transport.stream(followLogin, { params: { id } }, options);
  }
  /** Lists the logins and checks of a connection, newest first. `for await` iterates over all pages. */
  timeline(id: string, query: ListTimeline = {}, options?: CallOptions): Call<ItemPage<TimelineEvent>> {
    return this.#transport.call(listTimeline, { params: { id }, query }, options);
  }
  /** Checks whether the profile is still signed in. The status stays when the site cannot be reached. @throws {ApiError} 404 `not_found`; 409 during a login. */
  check(id: string, body: CheckConnection = {}, options?: CallOptions): Call<TimelineEvent> {
    return this.#transport.call(checkConnection, { params: { id }, body }, waitingUpTo(body.wait_seconds, options));
  }
  /** Exchanges a login's `handoff_code` for a token to this connection. The code works once. @throws {ApiError} 410 for a used or expired code. */
  exchange(id: string, body: ExchangeHandoff, options?: CallOptions): Call<ExchangedHandoff> {
    return this.#transport.call(exchangeHandoff, { params: { id }, body }, options);
  }
}
