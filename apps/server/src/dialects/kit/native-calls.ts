import type { contract, Endpoint, RequestOf } from "@shoal/contract";
import { type AnyHandler, checkedBody, type Handler, type HandlerResult } from "@shoal/router";
import type { FastifyRequest } from "fastify";
import type { Instance } from "@shoal/placement";
import type { SessionConnection } from "@shoal/contract/rights";
import type { Entrance } from "../../entrance/entrance.ts";
import type { Access } from "../../http/auth/access.ts";
import { type PolicyObjects, withinPolicies } from "../../http/auth/key-scopes.ts";
import type { KeyedPlane } from "../../http/not-implemented.ts";
import { forRoles } from "../../http/auth/role-answers.ts";
import type { Sessions } from "../../sessions/browsers/sessions.ts";
import { explainingClosedProjects } from "../../storage/errors/closed-project.ts";

type Keyed = KeyedPlane<typeof contract>;

export interface NativeParts {
  readonly contract: typeof contract;
  readonly entrance: Pick<Entrance, "admitConnection" | "admitTo" | "inProject">;
  /** Of the operations with a key, by name. */
  readonly handlers: Readonly<Record<string, unknown>>;
  readonly policyObjects: PolicyObjects;
  readonly sessions: Sessions;
}

/** Unlike a request, the query is not checked: pages may be longer. */
export interface NativeRequest<E extends Endpoint> {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: object;
  readonly body?: RequestOf<E> extends { readonly body?: infer Body } ? Body : never;
}

/** Calls operations of this service for the caller of a request, with its rights, policies and audit log. */
export class NativeCalls {
  readonly access: Access;
  readonly #parts: NativeParts;
  readonly #request: FastifyRequest;

  constructor(parts: NativeParts, request: FastifyRequest, access: Access) {
    this.#parts = parts;
    this.#request = request;
    this.access = access;
  }

  /** For the project that the request names in its body. @throws {ServiceError} 403, 404. */
  async inProject(project: string | undefined): Promise<NativeCalls> {
    if (project === undefined) return this;
    const access = await this.#parts.entrance.inProject(this.#request, this.access, project);
    return new NativeCalls(this.#parts, this.#request, access);
  }

  /** @throws {ServiceError} as the operation. */
  call<Name extends keyof Keyed>(
    name: Name,
    request: NativeRequest<Keyed[Name]> & { readonly signal?: AbortSignal } = {},
  ): Promise<HandlerResult<Keyed[Name]>> {
    return this.run(this.#parts.contract[name], request, this.#parts.handlers[name] as Handler<Keyed[Name], Access>);
  }

  /** The same with another handler of the operation. */
  async run<E extends Endpoint>(
    endpoint: E,
    {
      body,
      params = {},
      query = {},
      signal = new AbortController().signal,
    }: NativeRequest<E> & {
      readonly signal?: AbortSignal;
    },
    handler: Handler<E, Access>,
  ): Promise<HandlerResult<E>> {
    const named: Record<string, string | undefined> = { ...params };
    const context = await this.admit(endpoint, named);
    const { policyObjects } = this.#parts;
    const own = handler as unknown as Handler<Endpoint, Access>;
    const run = explainingClosedProjects(
      forRoles(endpoint, withinPolicies(endpoint, own, policyObjects)),
    ) as AnyHandler<Access>;
    const answer = run({
      params: named,
      query: endpoint.query === undefined ? {} : { ...(checkedBody(endpoint.query, {}, "refuse") as object), ...query },
      body: endpoint.body?.kind === "json" ? checkedBody(endpoint.body.schema, body ?? {}, "refuse") : body,
      headers: {},
      requestId: this.#request.id,
      signal,
      lastEventId: undefined,
      context,
    });
    return (await answer) as HandlerResult<E>;
  }

  /** For an operation that the caller of this method carries out. Replaces names in `params` by ids. */
  admit(endpoint: Endpoint, params: Record<string, string | undefined>): Promise<Access> {
    return this.#parts.entrance.admitTo(this.#request, this.access, { endpoint, params });
  }

  /** The instance of a running session, for one of its operations. @throws {ServiceError} */
  async instanceFor(endpoint: Endpoint, sessionId: string): Promise<Instance> {
    const params = { id: sessionId };
    const { projectId } = await this.admit(endpoint, params);
    return this.#parts.sessions.instanceHere(projectId, params.id);
  }

  /** The same for a way to connect to it. */
  async instanceTo(connection: SessionConnection, sessionId: string): Promise<Instance> {
    const params = { id: sessionId };
    const { projectId } = await this.#parts.entrance.admitConnection(this.access, connection, params);
    return this.#parts.sessions.instanceHere(projectId, params.id);
  }
}
