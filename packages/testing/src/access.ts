import { ServiceError } from "@shoal/router";
import type { ApiKeyRow, Store } from "./store.ts";

/** On whose behalf a request is answered. */
export interface Access {
  readonly key: ApiKeyRow;
  /** The project that the request acts in. */
  readonly projectId: string;
  /** The project that the request names in a header. */
  readonly namedProjectId: string | undefined;
  /** The address that the request was sent to: `http://shoal.test`. */
  readonly baseUrl: string;
}

/** The headers of a request, as Node gives them. */
type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

function unauthorized(what: string): ServiceError {
  return new ServiceError(401, "unauthorized", `${what} Send a valid key as "Authorization: Bearer sk_shoal_…"; the fake's own is fake.apiKey.`);
}

/**
 * Who sent a request, and for which project.
 *
 * @throws {ServiceError} 401 `unauthorized`, 403 `forbidden` for another project than the key's, 404 `project_not_found`.
 */
export function authenticate(store: Store, headers: Headers): Access {
  const { authorization } = headers;
  if (typeof authorization !== "string") throw unauthorized("The request carries no API key.");
  if (!/^bearer /i.test(authorization)) throw unauthorized("The Authorization header is not of the form Bearer KEY.");
  const key = store.keyBySecret(authorization.slice(7).trim());
  if (key === undefined) throw unauthorized("The API key is unknown or was deleted.");
  if (key.expiresAt !== null && key.expiresAt <= Date.now()) throw unauthorized(`The API key expired at ${new Date(key.expiresAt).toISOString()}.`);
  key.lastUsedAt = new Date().toISOString();
  const namedProjectId = namedProjectIdOf(store, key, headers);
  return {
    key,
    projectId: namedProjectId ?? ownProjectId(store, key),
    namedProjectId,
    baseUrl: `http://${typeof headers.host === "string" ? headers.host : "shoal.test"}`,
  };
}

function ownProjectId(store: Store, key: ApiKeyRow): string {
  const project = key.projectId === null ? store.defaultProject : store.findProject(key.projectId);
  if (project?.status !== "active")
    throw new ServiceError(
      404,
      "project_not_found",
      `The project of this API key was ${project === undefined ? "deleted" : `archived: reopen ${project.name} with projects.update and a key of the whole organisation`}.`,
    );
  return project.id;
}

function namedProjectIdOf(store: Store, key: ApiKeyRow, headers: Headers): string | undefined {
  const named = [headers["x-shoal-project"] ?? headers["x-kernel-project-id"] ?? headers["x-kernel-project"]].flat()[0];
  if (named === undefined || named === "") return undefined;
  if (key.projectId !== null) {
    if (named !== key.projectId && named !== store.findProject(key.projectId)?.name)
      throw new ServiceError(
        403,
        "forbidden",
        `This API key opens only its own project, not ${named}. Omit the project header, or use a key of that project.`,
      );
    return ownProjectId(store, key);
  }
  const project = store.findProject(named);
  if (project?.status !== "active")
    throw new ServiceError(
      404,
      "project_not_found",
      `Project ${named} ${project === undefined ? "was not found" : "is archived: reopen it with projects.update"}. Omit the project header for the default project.`,
    );
  return project.id;
}
