import type { Endpoint } from "@shoal/contract";
import { ServiceError } from "@shoal/router";
import type { IncomingHttpHeaders } from "node:http";
import { isStorable } from "../paging.ts";
import type { ProjectEntry, ProjectLookup } from "../projects/project-lookup.ts";
import type { RequestHead, RequestOrigins } from "../public-url/request-origin.ts";
import type { RateLimits } from "../rate-limits/rate-limits.ts";
import type { ReadCache } from "../read-cache.ts";
import { hashKey, isKeySecret } from "./api-key-secret.ts";
import { keyProblem } from "./key-problem.ts";

/** A key that was presented and is valid. */
export interface KeyRow {
  readonly id: string;
  readonly name: string;
  readonly project_id: string | null;
  readonly created_by_email: string;
  /** Epoch milliseconds; `Infinity` = never. */
  readonly expiresAtMs: number;
}

/** On whose behalf a request is answered. */
export interface Access {
  readonly key: KeyRow;
  /** The project that the request acts in. */
  readonly projectId: string;
  /** That project, when a header of the request names it. */
  readonly namedProjectId: string | undefined;
  /** The address under which the client reached the service: `http://127.0.0.1:7777`, `https://shoal.example/api`. */
  readonly baseUrl: string;
}

/** What differs for some requests. */
export interface AuthenticateOptions {
  /** Whether the project may be archived. */
  readonly allowsArchived?: boolean;
}

export interface Authenticator {
  /**
   * Who sent a request, and for which project. Answers at once when the key is in memory, which spares most requests a turn of the event loop.
   *
   * @throws {ServiceError} 401 `unauthorized`, 403 `forbidden` for another project than the key's, 404 `project_not_found`.
   */
  authenticate(request: RequestHead, options?: AuthenticateOptions): Access | Promise<Access>;
  /**
   * Counts a try without anything that opens the service.
   *
   * @throws {ServiceError} 429 `rate_limited` when there were too many from that address.
   */
  countRefused(request: RequestHead): void;
  /** As {@link Access.baseUrl}, for a request that carries no key. */
  baseUrlOf(request: RequestHead): string;
}

function unauthorized(what: string): ServiceError {
  return new ServiceError(401, "unauthorized", `${what} Send a valid key as "Authorization: Bearer sk_shoal_…"; keys are made with apiKeys.create.`);
}

function isOpenProject({ status }: ProjectEntry, { allowsArchived = false }: AuthenticateOptions): boolean {
  return allowsArchived || status === "active";
}

function bearer(header: string | undefined): string | { readonly problem: string } {
  if (header === undefined) return { problem: "The request carries no API key." };
  if (!/^bearer /i.test(header)) return { problem: "The Authorization header is not of the form Bearer KEY." };
  const token = header.slice(7).trim();
  return isKeySecret(token) ? token : { problem: "That is not an API key of this service." };
}

/** The project that a request names, by id or by name. */
function namedProject(headers: IncomingHttpHeaders): string | undefined {
  const named = headers["x-shoal-project"] ?? headers["x-kernel-project-id"] ?? headers["x-kernel-project"];
  const project = Array.isArray(named) ? named[0] : named;
  return project === "" ? undefined : project;
}

/** What requests are checked against. */
export interface AuthenticatorParts {
  readonly keys: ReadCache<KeyRow>;
  readonly projects: ProjectLookup;
  readonly origins: Pick<RequestOrigins, "baseUrlOf" | "clientIpOf">;
  readonly limits: Pick<RateLimits, "checkAddress" | "countRefused">;
  /** Told of each key that opened the service. */
  readonly onUse: (keyId: string) => void;
}

export function createAuthenticator({ keys, projects, origins, limits, onUse }: AuthenticatorParts): Authenticator {
  function countRefused(request: RequestHead): void {
    const address = origins.clientIpOf(request);
    limits.checkAddress(address);
    limits.countRefused(address);
  }

  function refusal(request: RequestHead, what: string): ServiceError {
    countRefused(request);
    return unauthorized(what);
  }

  function admit(key: KeyRow | undefined, request: RequestHead, options: AuthenticateOptions): Access | Promise<Access> {
    const problem = keyProblem(key);
    if (key === undefined || problem !== undefined) throw refusal(request, problem ?? "");
    onUse(key.id);
    const named = namedProject(request.headers);
    if (named !== undefined) return inNamed(key, named, request, options);
    const own = key.project_id === null ? projects.standard() : projects.find(key.project_id);
    return own instanceof Promise ? own.then((project) => inOwn(key, project, request, options)) : inOwn(key, own, request, options);
  }

  function inOwn(key: KeyRow, project: ProjectEntry | undefined, request: RequestHead, options: AuthenticateOptions): Access {
    if (project === undefined || !isOpenProject(project, options)) {
      throw new ServiceError(
        404,
        "project_not_found",
        `The project of this API key was ${project === undefined ? "deleted" : `archived: reopen ${project.name} with projects.update and a key of the whole organisation`}.`,
      );
    }
    return new RequestAccess(key, project.id, undefined, { request, origins });
  }

  async function inNamed(key: KeyRow, named: string, request: RequestHead, options: AuthenticateOptions): Promise<Access> {
    if (key.project_id !== null) return inNamedOfKey(key, await projects.find(key.project_id), { named, request }, options);
    const project = isStorable(named) ? await projects.find(named) : undefined;
    if (project === undefined || !isOpenProject(project, options)) {
      throw new ServiceError(
        404,
        "project_not_found",
        `Project ${named} ${project === undefined ? "was not found" : "is archived: reopen it with projects.update"}. Omit the project header for the default project.`,
      );
    }
    return new RequestAccess(key, project.id, project.id, { request, origins });
  }

  /** Says the same of every other project, so that a project's key cannot find out which ones exist. */
  function inNamedOfKey(
    key: KeyRow,
    own: ProjectEntry | undefined,
    { named, request }: { readonly named: string; readonly request: RequestHead },
    options: AuthenticateOptions,
  ): Access {
    if (named !== key.project_id && named !== own?.name) {
      throw new ServiceError(
        403,
        "forbidden",
        `This API key opens only its own project, not ${named}. Omit the project header, or use a key of that project.`,
      );
    }
    const { projectId } = inOwn(key, own, request, options);
    return new RequestAccess(key, projectId, projectId, { request, origins });
  }

  return {
    baseUrlOf: (request) => origins.baseUrlOf(request),
    countRefused,
    authenticate(request, options = {}) {
      const secret = bearer(request.headers.authorization);
      if (typeof secret !== "string") throw refusal(request, secret.problem);
      const hash = hashKey(secret);
      // Guessing must not cost a query each; whoever has a key that was used a moment ago is let in all the same.
      if (keys.present(hash) === undefined) limits.checkAddress(origins.clientIpOf(request));
      const key = keys.get(hash);
      return key instanceof Promise ? key.then((row) => admit(row, request, options)) : admit(key, request, options);
    },
  };
}

class RequestAccess implements Access {
  readonly key: KeyRow;
  readonly projectId: string;
  readonly namedProjectId: string | undefined;
  readonly #sent: { readonly request: RequestHead; readonly origins: Pick<RequestOrigins, "baseUrlOf"> };

  constructor(
    key: KeyRow,
    projectId: string,
    namedProjectId: string | undefined,
    sent: { readonly request: RequestHead; readonly origins: Pick<RequestOrigins, "baseUrlOf"> },
  ) {
    this.key = key;
    this.projectId = projectId;
    this.namedProjectId = namedProjectId;
    this.#sent = sent;
  }

  get baseUrl(): string {
    return this.#sent.origins.baseUrlOf(this.#sent.request);
  }
}

/** Whether an operation is answered without a key. */
export function isOpen(endpoint: Endpoint): boolean {
  return endpoint.auth === "none";
}
