import { contract, type Endpoint } from "@shoal/contract";
import { connectionOperation, type SessionConnection } from "@shoal/contract/rights";
import { ServiceError } from "@shoal/router";
import { replyOf } from "@shoal/router/fastify";
import type { FastifyRequest } from "fastify";
import type { IncomingMessage } from "node:http";
import { linkTokenIn } from "../auth/sign-in-links/link-tokens.ts";
import type { SignInLinks } from "../auth/sign-in-links/sign-in-links.ts";
import { isAudited, isMarked, markAudited } from "../audit/logs/follow.ts";
import type { ReplicaForwarding } from "../cluster/replica-forwarding.ts";
import type { Access, AuthenticateOptions, Authenticator, OpenCaller } from "../http/auth/access.ts";
import type { Entering } from "../host/entering.ts";
import type { KeyScopes } from "../http/auth/key-scopes.ts";
import type { IssuingKeys } from "../http/auth/issuing-keys.ts";
import { keyMayMoveSecrets, mayMoveSecrets, refuseWithoutRights } from "../http/auth/rights.ts";
import { sessionTokenIn } from "../http/auth/session-path.ts";
import { requireSessionToken } from "../http/auth/session-token.ts";
import type { OverloadGuard } from "../http/limits/overload-guard.ts";
import type { RateLimits } from "../http/limits/rate-limits.ts";
import { pageDownloadOf } from "../http/auth/page-downloads.ts";
import { accessOf, noteAccess, noteKeyId } from "../http/request-facts.ts";
import type { RequestOrigins } from "../http/request-origin.ts";
import type { SignInBrowsers } from "../sessions/live-view/sign-in-browsers.ts";
import type { Secrets } from "../storage/secrets.ts";

/** Everything about a session except that it exists, and its end. */
function looksInto(endpoint: Endpoint): boolean {
  return endpoint.path.startsWith(`${contract.listBrowsers.path}/{`) && endpoint.aboutExistence !== true;
}

const startsSession = (endpoint: Endpoint): boolean =>
  endpoint === contract.createBrowser ||
  endpoint === contract.forkBrowser ||
  endpoint === contract.renderPage ||
  endpoint === contract.fetchSearchContents ||
  endpoint === contract.startFlowRun;

export interface EntranceParts {
  readonly authenticator: Authenticator;
  readonly issuingKeys: IssuingKeys;
  readonly secrets: Secrets;
  readonly origins: Pick<RequestOrigins, "clientIpOf">;
  readonly overload: Pick<OverloadGuard, "admit" | "admitStart">;
  readonly rateLimits: Pick<RateLimits, "admit">;
  readonly replicas: Pick<ReplicaForwarding, "isForwarded">;
  readonly signInLinks: Pick<SignInLinks, "admit">;
  readonly isDraining: () => boolean;
  readonly signInBrowsers: Pick<SignInBrowsers, "refuse">;
  readonly keyScopes: KeyScopes;
}

/** An operation, or a path of a session that is not an operation. */
export type SessionWay =
  | { readonly endpoint: Endpoint; readonly connection?: never }
  | { readonly endpoint?: never; readonly connection: SessionConnection };

interface Judged {
  readonly endpoint: Endpoint;
  readonly params: Record<string, string | undefined>;
  readonly audited: boolean;
}

export class Entrance implements Entering {
  readonly #parts: EntranceParts;

  constructor(parts: EntranceParts) {
    this.#parts = parts;
  }

  authenticate(request: FastifyRequest, options?: AuthenticateOptions): Access | Promise<Access> {
    this.admitWork(request);
    const access = this.#parts.authenticator.authenticate(request.raw, options);
    return access instanceof Promise
      ? access.then((known) => this.#admit(request, known))
      : this.#admit(request, access);
  }

  /** Requires an API key, for an operation outside the contract, and records it. */
  async enterKeyed(request: FastifyRequest, endpoint: Endpoint): Promise<Access> {
    const access = await this.#parts.keyScopes.admit(await this.authenticate(request), endpoint, {});
    this.#mark(request, endpoint, access);
    return access;
  }

  /** For a caller that signs in: its credentials are in the body. @throws {ServiceError} 429. */
  enterAs(request: FastifyRequest, endpoint: Endpoint, access: Access): void {
    noteAccess(request.raw, access);
    this.#countUse(request, access.key.id);
    this.#mark(request, endpoint, access);
  }

  /** @throws {ServiceError} 503 while the server stops or is overloaded. */
  admitWork(request: FastifyRequest): void {
    this.#refuseWhileDraining();
    this.#parts.overload.admit(request.method);
  }

  /** Authenticates the caller and, for audited operations, records it. */
  enter(request: FastifyRequest, endpoint: Endpoint): Access | Promise<Access> {
    const token = endpoint.handoff === "accepts" ? linkTokenIn(request.headers.authorization) : undefined;
    if (token !== undefined) return this.#enterFromPage(request, endpoint, token);
    if (startsSession(endpoint)) this.#parts.overload.admitStart();
    const access = this.authenticate(request, {
      allowsArchived: endpoint.aboutExistence === true,
      console: pageDownloadOf(request.raw, endpoint) ?? "request",
    });
    // HEAD discloses nothing, and pages send it before a download.
    const audited = isAudited(endpoint) && request.method !== "HEAD" && !this.#isForwarded(request);
    const params = request.params as Record<string, string | undefined>;
    const judge = (known: Access) => this.#judge(request, known, { endpoint, params, audited });
    return access instanceof Promise ? access.then(judge) : judge(access);
  }

  /**
   * Admits a caller to an operation that its request needs, whose path is another. Replaces names in `params` by ids. The
   * audit log has the first one.
   */
  async admitTo(
    request: FastifyRequest,
    access: Access,
    { endpoint, params }: { readonly endpoint: Endpoint; readonly params: Record<string, string | undefined> },
  ): Promise<Access> {
    if (startsSession(endpoint)) this.#parts.overload.admitStart();
    return this.#judge(request, access, {
      endpoint,
      params,
      audited: isAudited(endpoint) && !isMarked(request.raw),
    });
  }

  #judge(request: FastifyRequest, access: Access, { audited, endpoint, params }: Judged): Access | Promise<Access> {
    const admit = (known: Access): Access | Promise<Access> => {
      refuseWithoutRights(known, endpoint);
      if (audited) this.#mark(request, endpoint, known);
      if (!looksInto(endpoint)) return known;
      const { id, id_or_name: idOrName = id ?? "" } = params;
      return this.requireRightTo(known, idOrName, endpoint) ?? known;
    };
    // The log shows also what a policy refused.
    if (audited && access.key.policy !== undefined) this.#mark(request, endpoint, access);
    const judged = this.#parts.keyScopes.admit(access, endpoint, params);
    return judged instanceof Promise ? judged.then(admit) : admit(judged);
  }

  /** Admits a caller to a way to connect to a session. Replaces a name in `params` by the id. */
  async admitConnection(
    access: Access,
    connection: SessionConnection,
    params: Record<string, string | undefined>,
  ): Promise<Access> {
    const judged = await this.#parts.keyScopes.admit(access, connectionOperation(connection), params);
    await this.requireRightTo(judged, params.id ?? "", connectionOperation(connection));
    return judged;
  }

  /**
   * Admits the caller of an action, which is admitted already, to a stored value of the project. The audit log has the
   * action as `credentials.use`. @throws {ServiceError} 403.
   */
  async admitSecret(request: FastifyRequest, sessionId: string): Promise<void> {
    const use = connectionOperation("credentials.use");
    const token = sessionTokenIn(request.raw.url ?? "");
    const access = token === undefined ? accessOf(request.raw) : undefined;
    if (access !== undefined) refuseWithoutRights(access, use);
    const key =
      access?.key ??
      (await this.#parts.issuingKeys.require(await requireSessionToken(this.#parts, token ?? "", sessionId)));
    if (access === undefined && key.policy === undefined && !keyMayMoveSecrets(key))
      throw new ServiceError(403, "forbidden", "The address of this session does not open stored values.", {
        hint: "Call browsers.act with an API key that has the right to them.",
      });
    await this.#parts.keyScopes.requireUseOfSecrets(key, sessionId);
    this.#mark(request, { ...contract.actOnPage, operationId: use.operationId }, access);
  }

  /** The same caller in the project that its request names elsewhere than in a header. @throws {ServiceError} 403, 404. */
  async inProject(request: FastifyRequest, access: Access, project: string): Promise<Access> {
    if (project === access.projectId) return access;
    const { headers, method, socket, url } = request.raw;
    return this.#parts.authenticator.authenticate({
      headers: { ...headers, "x-shoal-project": project },
      method,
      socket,
      url,
    });
  }

  /** @throws {ServiceError} 403 for the browser of a login, without the right to secrets. */
  requireRightTo(
    access: Access,
    idOrName: string,
    operation?: Pick<Endpoint, "moves" | "operationId">,
  ): Promise<Access> | undefined {
    if (mayMoveSecrets(access)) return undefined;
    return this.#parts.signInBrowsers.refuse(access.projectId, idOrName, operation).then(() => access);
  }

  /** For operations without authentication. Health is reported to the end. @throws {ServiceError} 503. */
  enterOpen(request: FastifyRequest, endpoint: Endpoint): OpenCaller {
    if (endpoint.handoff !== undefined) this.admitWork(request);
    return {
      countRefused: () => {
        this.countRefused(request.raw);
      },
      record: ({ flowId, key, projectId }) => {
        const baseUrl = this.baseUrlOf(request);
        const access: Access = { key, projectId, namedProjectId: undefined, baseUrl, handoff: { flowId } };
        noteAccess(request.raw, access);
        this.#mark(request, endpoint, access);
      },
    };
  }

  /** @throws {ServiceError} 401, 429 or 503. */
  async #enterFromPage(request: FastifyRequest, endpoint: Endpoint, token: string): Promise<Access> {
    this.admitWork(request);
    const { id = "" } = request.params as Readonly<Record<string, string | undefined>>;
    const { flowId, key, projectId } = await this.#countingRefused(request, () =>
      this.#parts.signInLinks.admit(token, id, Date.now()),
    );
    const baseUrl = this.baseUrlOf(request);
    const access: Access = { key, projectId, namedProjectId: undefined, baseUrl, handoff: { flowId } };
    noteAccess(request.raw, access);
    // A deleted key ends the streams of its links.
    noteKeyId(request.raw, key.id);
    this.#countUse(request, `login ${flowId}`);
    if (isAudited(endpoint)) this.#mark(request, endpoint, access);
    return access;
  }

  /** @throws {ServiceError} 401 or 503. */
  async enterWithToken(
    request: FastifyRequest,
    { token, sessionId }: { readonly token: string; readonly sessionId: string },
    { connection, endpoint }: SessionWay,
  ): Promise<void> {
    this.#refuseWhileDraining();
    const keyId = await this.#countingRefused(request, () => requireSessionToken(this.#parts, token, sessionId));
    const key = await this.#parts.issuingKeys.require(keyId);
    const operation = endpoint ?? connectionOperation(connection);
    await this.#parts.keyScopes.requireSession(key, operation, sessionId);
    if (!keyMayMoveSecrets(key)) await this.#parts.signInBrowsers.refuse(undefined, sessionId, operation);
    if (!this.#isForwarded(request)) noteKeyId(request.raw, keyId);
    if (endpoint !== undefined && isAudited(endpoint) && !this.#isForwarded(request))
      this.#mark(request, endpoint, undefined);
  }

  countRefused(request: IncomingMessage): void {
    this.#parts.authenticator.countRefused(request);
  }

  baseUrlOf(request: FastifyRequest): string {
    return this.#parts.authenticator.baseUrlOf(request.raw);
  }

  async #countingRefused<Result>(request: FastifyRequest, check: () => Promise<Result>): Promise<Result> {
    try {
      return await check();
    } catch (error) {
      if (ServiceError.isInstance(error)) this.countRefused(request.raw);
      throw error;
    }
  }

  #refuseWhileDraining(): void {
    if (this.#parts.isDraining())
      throw new ServiceError(503, "shutting_down", "The server is stopping.", {
        hint: "Repeat the request in a moment.",
        retryAfterSeconds: 2,
      });
  }

  #admit(request: FastifyRequest, access: Access): Access {
    noteAccess(request.raw, access);
    // The forwarding server already counted it.
    if (this.#isForwarded(request)) return access;
    noteKeyId(request.raw, access.key.id);
    this.#countUse(request, access.key.id);
    return access;
  }

  /** @throws {ServiceError} 429. */
  #countUse(request: FastifyRequest, subject: string): void {
    this.#parts.rateLimits.admit(subject, (headers) => {
      // On Fastify's reply, because a header set on Node's response makes writeHead copy all headers one by one.
      replyOf(request).headers(headers);
    });
  }

  #mark(request: FastifyRequest, endpoint: Endpoint, access: Access | undefined): void {
    markAudited(request.raw, { endpoint, access, clientIp: this.#parts.origins.clientIpOf(request.raw) });
  }

  #isForwarded(request: FastifyRequest): boolean {
    return this.#parts.replicas.isForwarded(request.raw);
  }
}
