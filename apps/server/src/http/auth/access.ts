import {
  keyProblems,
  keyProjectUnavailable,
  namedProjectUnavailable,
  otherProjectOfKey,
  unauthorized,
} from "@shoal/contract/refusals";
import type { Endpoint } from "@shoal/contract";
import { ServiceError } from "@shoal/router";
import type { IncomingHttpHeaders } from "node:http";
import { isStorable } from "../paging.ts";
import type { ProjectEntry, ProjectLookup } from "./project-lookup.ts";
import type { RequestHead, RequestOrigins } from "../request-origin.ts";
import type { RateLimits } from "../limits/rate-limits.ts";
import type { ReadCache } from "../../storage/read-cache.ts";
import { hashKey, isKeySecret } from "./api-key-secret.ts";
import { keyProblem } from "./key-problem.ts";
import type { Grant, KeyPolicy, Role, VisibleObjects } from "@shoal/contract/rights";

export interface KeyRow {
  readonly id: string;
  readonly name: string;
  readonly project_id: string | null;
  readonly created_by_email: string;
  /** The service made the key for this deployment of an app. */
  readonly deployment_id: string | null;
  /** A person of the OpenID Connect provider in the role of a key. */
  readonly isPerson?: true;
  /** `Infinity` = never. */
  readonly expiresAtMs: number;
  /** The only rights of the key; `undefined` = every right in its scope. */
  readonly policy?: KeyPolicy | undefined;
}

export interface Access {
  readonly key: KeyRow;
  readonly projectId: string;
  /** Set if a header of the request names the project. */
  readonly namedProjectId: string | undefined;
  /** As the client sees it: `http://127.0.0.1:7777`, `https://shoal.example/api`. */
  readonly baseUrl: string;
  /** For an app: the start of addresses for people, because `baseUrl` leads through its box. */
  readonly viewerUrl?: string | undefined;
  /** Set for a sign-in page, which has the token of one login instead of the key. `key` issued its link. */
  readonly handoff?: { readonly flowId: string };
  /** How the caller authenticated, for the audit log; `undefined` = with an API key. */
  readonly strategy?: "dashboard" | "oauth" | undefined;
  /** Of a person, or of a key with a policy for this operation; `undefined` = a key with every right in its scope. */
  readonly role?: Role | undefined;
  /** What the policy of the key allows for this operation; `undefined` = no policy. */
  readonly grant?: Grant | undefined;
  /** For a list: what the policy of the key lets it show; `undefined` = everything. */
  readonly visible?: readonly VisibleObjects[] | undefined;
}

/** For work that outlives its request: the rights that the caller has now. */
export type PresentAccess = (access: Access) => Promise<Pick<Access, "handoff" | "key" | "projectId" | "role">>;

/** Whether the caller is a person of the OpenID Connect provider. */
export function isPerson({ key, role }: Pick<Access, "key" | "role">): boolean {
  return role !== undefined && key.policy === undefined;
}

/** The caller of an operation without authentication. */
export interface OpenCaller {
  /** For a guessed code. @throws {ServiceError} 429 `rate_limited` after too many from that address. */
  countRefused(): void;
  /** Writes the call to the audit log, once its code has proved where it comes from. */
  record(access: Pick<Access, "key" | "projectId"> & { readonly flowId: string }): void;
}

/** A link of the console to a file. */
export interface PageDownload {
  readonly downloadKey: string;
  /** After the key: `/PROJECT/browsers/ID/fs/read_file?path=…`. */
  readonly path: string;
}

export interface AuthenticateOptions {
  readonly allowsArchived?: boolean;
  /** Accept the cookie of the console from its own pages: requests with the page key, or links to a file. */
  readonly console?: "request" | PageDownload;
  /** Accept access tokens of the OpenID Connect provider for this resource. */
  readonly resource?: string | undefined;
}

export interface Authenticator {
  /**
   * Synchronous if the key is cached, which saves most requests a turn of the event loop.
   * @throws {ServiceError} 401 `unauthorized`, 403 `forbidden` for another project than the key's, 404
   * `project_not_found`.
   */
  authenticate(request: RequestHead, options?: AuthenticateOptions): Access | Promise<Access>;
  /**
   * For a request without valid credentials. @throws {ServiceError} 429 `rate_limited` after too many from that
   * address.
   */
  countRefused(request: RequestHead): void;
  /** As {@link Access.baseUrl}, for a request without a key. */
  baseUrlOf(request: RequestHead): string;
}

function isOpenProject({ status }: ProjectEntry, { allowsArchived = false }: AuthenticateOptions): boolean {
  return allowsArchived || status === "active";
}

const notKeyOfService = "That is not an API key of this service.";

function bearer(header: string | undefined): string | { readonly problem: string } {
  if (header === undefined) return { problem: keyProblems.absent };
  if (!/^bearer /i.test(header)) return { problem: keyProblems.notBearer };
  const token = header.slice(7).trim();
  return isKeySecret(token) ? token : { problem: notKeyOfService };
}

/** Returns the project that a request names. */
export function namedProject(headers: IncomingHttpHeaders): string | undefined {
  const named = headers["x-shoal-project"] ?? headers["x-kernel-project-id"] ?? headers["x-kernel-project"];
  const project = Array.isArray(named) ? named[0] : named;
  return project === "" ? undefined : project;
}

export interface AuthenticatorParts {
  readonly keys: ReadCache<KeyRow>;
  readonly projects: ProjectLookup;
  readonly origins: Pick<RequestOrigins, "baseUrlOf" | "clientIpOf" | "viewerUrlOf">;
  readonly limits: Pick<RateLimits, "checkAddress" | "countRefused">;
  readonly onUse: (keyId: string) => void;
}

/** A caller whose credentials are valid. */
export interface Presented extends Pick<Access, "role" | "strategy"> {
  readonly key: KeyRow;
  readonly request: RequestHead;
  readonly options: AuthenticateOptions;
}

export class KeyAuthenticator implements Authenticator {
  readonly #parts: AuthenticatorParts;

  constructor(parts: AuthenticatorParts) {
    this.#parts = parts;
  }

  authenticate(request: RequestHead, options: AuthenticateOptions = {}): Access | Promise<Access> {
    const secret = bearer(request.headers.authorization);
    if (typeof secret !== "string") throw this.#refusal(request, secret.problem);
    const key = this.#find(request, secret);
    return key instanceof Promise
      ? key.then((row) => this.admit({ key: this.#valid(row, request), request, options }))
      : this.admit({ key: this.#valid(key, request), request, options });
  }

  /** Returns the key of a secret from the body of a request. @throws {ServiceError} 401 or 429. */
  async identify(request: RequestHead, secret: string): Promise<KeyRow> {
    if (!isKeySecret(secret)) throw this.#refusal(request, notKeyOfService);
    return this.#valid(await this.#find(request, secret), request);
  }

  #find(request: RequestHead, secret: string): KeyRow | Promise<KeyRow | undefined> {
    const { keys, limits, origins } = this.#parts;
    const hash = hashKey(secret);
    // Guessed keys must not cost a query each. Cached keys are still accepted from this address.
    if (keys.present(hash) === undefined) limits.checkAddress(origins.clientIpOf(request));
    return keys.get(hash);
  }

  /** @throws {ServiceError} 429 `rate_limited` after too many refused requests from that address. */
  checkAddress(request: RequestHead): void {
    const { limits, origins } = this.#parts;
    limits.checkAddress(origins.clientIpOf(request));
  }

  countRefused(request: RequestHead): void {
    const { limits, origins } = this.#parts;
    const address = origins.clientIpOf(request);
    limits.checkAddress(address);
    limits.countRefused(address);
  }

  baseUrlOf(request: RequestHead): string {
    return this.#parts.origins.baseUrlOf(request);
  }

  #refusal(request: RequestHead, what: string): ServiceError {
    this.countRefused(request);
    return ServiceError.of(unauthorized(what, "keys are created with apiKeys.create."));
  }

  #valid(key: KeyRow | undefined, request: RequestHead): KeyRow {
    const problem = keyProblem(key);
    if (key === undefined || problem !== undefined) throw this.#refusal(request, problem ?? "");
    return key;
  }

  /** Chooses the project of a caller. @throws {ServiceError} 403 or 404. */
  admit(presented: Presented): Access | Promise<Access> {
    const { onUse, projects } = this.#parts;
    const { key, request, role } = presented;
    // Persons have no row in the table of uses.
    if (role === undefined) onUse(key.id);
    const named = namedProject(request.headers);
    if (named !== undefined)
      return key.project_id === null
        ? this.#toNamed(presented, named)
        : this.#toOwnNamed(presented, key.project_id, named);
    const projectId = key.project_id ?? key.policy?.onlyProject();
    const own = projectId === undefined ? projects.standard() : projects.find(projectId);
    return own instanceof Promise
      ? own.then((project) => this.#toOwn(presented, project))
      : this.#toOwn(presented, own);
  }

  #toOwn(presented: Presented, project: ProjectEntry | undefined): Access {
    if (project === undefined || !isOpenProject(project, presented.options))
      throw ServiceError.of(keyProjectUnavailable(project?.name));
    return this.#access(presented, project.id, undefined);
  }

  /** For keys of the whole organisation. */
  async #toNamed(presented: Presented, named: string): Promise<Access> {
    const project = isStorable(named) ? await this.#parts.projects.find(named) : undefined;
    const { policy } = presented.key;
    // Like a project without a statement, so that a key cannot find out which other projects exist.
    if (policy?.knowsProject(project?.id ?? "") === false) return this.#access(presented, named, named);
    if (project === undefined || !isOpenProject(project, presented.options))
      throw ServiceError.of(namedProjectUnavailable(named, project === undefined ? "missing" : "archived"));
    return this.#access(presented, project.id, project.id);
  }

  /** The same refusal for every other project, so that a project's key cannot find out which exist. */
  async #toOwnNamed(presented: Presented, ownId: string, named: string): Promise<Access> {
    const own = await this.#parts.projects.find(ownId);
    if (named !== ownId && named !== own?.name) throw ServiceError.of(otherProjectOfKey(named));
    const { projectId } = this.#toOwn(presented, own);
    return this.#access(presented, projectId, projectId);
  }

  #access(presented: Presented, projectId: string, namedProjectId: string | undefined): Access {
    return new RequestAccess(presented, { projectId, namedProjectId }, this.#parts.origins);
  }
}

type AccessOrigins = Pick<RequestOrigins, "baseUrlOf" | "viewerUrlOf">;

class RequestAccess implements Access {
  readonly key: KeyRow;
  readonly projectId: string;
  readonly namedProjectId: string | undefined;
  readonly role: Role | undefined;
  readonly strategy: Access["strategy"];
  readonly #request: RequestHead;
  readonly #origins: AccessOrigins;

  constructor(
    { key, request, role, strategy }: Presented,
    { namedProjectId, projectId }: Pick<Access, "namedProjectId" | "projectId">,
    origins: AccessOrigins,
  ) {
    this.key = key;
    this.projectId = projectId;
    this.namedProjectId = namedProjectId;
    this.role = role;
    this.strategy = strategy;
    this.#request = request;
    this.#origins = origins;
  }

  get baseUrl(): string {
    return this.#origins.baseUrlOf(this.#request);
  }

  get viewerUrl(): string | undefined {
    return this.#origins.viewerUrlOf(this.#request);
  }
}

export function isOpen(endpoint: Endpoint): boolean {
  return endpoint.auth === "none";
}
