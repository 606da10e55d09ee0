import {
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
import type { CallOptions, EventStream, ItemPage, StreamOptions, Transport } from "@shoal/transport";

/** Logins of profiles to sites, kept alive by the service. */
export class AuthConnections {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Connects a profile to a site; the profile is made when there is none of that name. @throws {ApiError} 409 when it is connected already; `error.fields.existing_id` names that connection. */
  create(body: CreateAuthConnection, options?: CallOptions): Promise<AuthConnection> {
    return this.#transport.call(createAuthConnection, { body }, options);
  }
  /** Lists connections, newest first. `for await` over the page gives all of them, page by page. */
  list(query: ListAuthConnections = {}, options?: CallOptions): Promise<ItemPage<AuthConnection>> {
    return this.#transport.call(listAuthConnections, { query }, options);
  }
  /** Finds a connection, with what a login that goes on waits for. @throws {ApiError} 404 `not_found`. */
  get(id: string, options?: CallOptions): Promise<AuthConnection> {
    return this.#transport.call(getAuthConnection, { params: { id } }, options);
  }
  /** Changes a connection; fields that are absent stay as they are. @throws {ApiError} 404 `not_found`. */
  update(id: string, body: UpdateAuthConnection, options?: CallOptions): Promise<AuthConnection> {
    return this.#transport.call(updateAuthConnection, { params: { id }, body }, options);
  }
  /** Deletes a connection and cancels a login that goes on; the profile stays. @throws {ApiError} 404 `not_found`. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this.#transport.call(deleteAuthConnection, { params: { id } }, options);
  }
  /** Begins a login. Send the person to its `hosted_url`, or follow the events and submit what is asked for. @throws {ApiError} 404 `not_found`; 409 while another login goes on. */
  login(id: string, body: StartLogin = {}, options?: CallOptions): Promise<StartedLogin> {
    return this.#transport.call(startLogin, { params: { id }, body }, options);
  }
  /** Submits what a login waits for; what comes of it is told by the events. @throws {ApiError} 404 `not_found`; 422 when it waits for nothing, or for something else. */
  submit(id: string, body: SubmitLogin, options?: CallOptions): Promise<SubmittedLogin> {
    return this.#transport.call(submitLogin, { params: { id }, body }, options);
  }
  /** Yields the state of a login and its changes; goes on after a lost connection; ends when the login has. */
  follow(id: string, options?: StreamOptions): EventStream<ManagedAuthEvent> {
    return this.#transport.stream(followLogin, { params: { id } }, options);
  }
  /** Lists the logins and checks of a connection, newest first. `for await` over the page gives all of them, page by page. */
  timeline(id: string, query: ListTimeline = {}, options?: CallOptions): Promise<ItemPage<TimelineEvent>> {
    return this.#transport.call(listTimeline, { params: { id }, query }, options);
  }
  /** Exchanges a login's `handoff_code`, once, for a token that opens this one connection. @throws {ApiError} 410 for a code that was used or has expired. */
  exchange(id: string, body: ExchangeHandoff, options?: CallOptions): Promise<ExchangedHandoff> {
    return this.#transport.call(exchangeHandoff, { params: { id }, body }, options);
  }
}
