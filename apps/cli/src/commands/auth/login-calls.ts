import type { AuthConnection, ManagedAuthEvent, StartedLogin, SubmitLogin } from "@shoal/schemas";
import { ApiError } from "@shoal/transport";
import { call } from "../../connection/call.ts";
import { endpointOf } from "../../connection/endpoint.ts";
import { connect } from "../../connection/transport.ts";
import type { CommandSpec, GlobalFlags, Run } from "../../core/types.ts";

export type SpecOf = (operationId: string) => CommandSpec;

export interface WantedConnection {
  readonly domain: string;
  readonly profile_name: string;
  readonly credential?: { readonly name: string };
  readonly login_url?: string;
}

/** A second Ctrl-C exits at once. */
const cancelTimeoutMs = 30_000;

/** The calls of one login. */
export class LoginCalls {
  readonly #specOf: SpecOf;
  readonly #flags: GlobalFlags;
  readonly #run: Run;

  constructor(specOf: SpecOf, flags: GlobalFlags, run: Run) {
    this.#specOf = specOf;
    this.#flags = flags;
    this.#run = run;
  }

  /** Creates the connection, or changes the existing one. */
  async connection(wanted: WantedConnection): Promise<AuthConnection> {
    try {
      return (await this.#call("create", {}, wanted)) as AuthConnection;
    } catch (error) {
      const id = ApiError.isInstance(error) && error.status === 409 ? error.fields.existing_id : undefined;
      if (typeof id !== "string") throw error;
      const { credential, login_url } = wanted;
      const changes = { ...(credential && { credential }), ...(login_url !== undefined && { login_url }) };
      return (await (Object.keys(changes).length > 0
        ? this.#call("update", { id }, changes)
        : this.#call("get", { id }))) as AuthConnection;
    }
  }

  get(id: string): Promise<AuthConnection> {
    return this.#call("get", { id }) as Promise<AuthConnection>;
  }

  /** @returns `undefined` while another login of the connection runs. */
  async start(id: string): Promise<StartedLogin | undefined> {
    try {
      return (await this.#call("login", { id }, {})) as StartedLogin;
    } catch (error) {
      if (ApiError.isInstance(error) && error.status === 409) return undefined;
      throw error;
    }
  }

  follow(id: string, signal: AbortSignal): AsyncIterable<ManagedAuthEvent> {
    const endpoint = endpointOf(this.#specOf("auth.connections.follow"));
    // The transport of commands does not know the types of events.
    return connect(this.#flags, this.#run).stream(
      endpoint,
      { params: { id } },
      { signal },
    ) as AsyncIterable<ManagedAuthEvent>;
  }

  async submit(id: string, answer: SubmitLogin): Promise<void> {
    await this.#call("submit", { id }, answer);
  }

  /** Also works after Ctrl-C. */
  async cancel(id: string): Promise<void> {
    await this.#call("cancel", { id }, undefined, AbortSignal.timeout(cancelTimeoutMs));
  }

  async #call(
    name: string,
    params: Readonly<Record<string, string>>,
    body?: object,
    signal = this.#run.signal,
  ): Promise<unknown> {
    const request = { params, query: {}, body: body as Readonly<Record<string, unknown>> | undefined };
    return (await call(this.#specOf(`auth.connections.${name}`), request, this.#flags, { ...this.#run, signal })).value;
  }
}
