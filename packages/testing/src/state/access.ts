import {
  keyProblems,
  keyProjectUnavailable,
  namedProjectUnavailable,
  otherProjectOfKey,
  unauthorized,
} from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import type { ApiKeyRow, Store } from "./store.ts";

export interface Access {
  readonly key: ApiKeyRow;
  readonly projectId: string;
  readonly namedProjectId: string | undefined;
  readonly baseUrl: string;
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

function refused(problem: string): ServiceError {
  return ServiceError.of(unauthorized(problem, "the fake's own is fake.apiKey."));
}

/**
 * @throws {ServiceError} 401 `unauthorized`, 403 `forbidden` for the key of another project, 404 `project_not_found`.
 */
export function authenticate(store: Store, headers: Headers): Access {
  const { authorization } = headers;
  if (typeof authorization !== "string") throw refused(keyProblems.absent);
  if (!/^bearer /i.test(authorization)) throw refused(keyProblems.notBearer);
  const key = store.keyBySecret(authorization.slice(7).trim());
  if (key === undefined) throw refused(keyProblems.unknown);
  if (key.expiresAt !== null && key.expiresAt <= Date.now())
    throw refused(keyProblems.expired(new Date(key.expiresAt)));
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
  if (project?.status !== "active") throw ServiceError.of(keyProjectUnavailable(project?.name));
  return project.id;
}

function namedProjectIdOf(store: Store, key: ApiKeyRow, headers: Headers): string | undefined {
  const named = [headers["x-shoal-project"] ?? headers["x-kernel-project-id"] ?? headers["x-kernel-project"]].flat()[0];
  if (named === undefined || named === "") return undefined;
  if (key.projectId !== null) {
    if (named !== key.projectId && named !== store.findProject(key.projectId)?.name)
      throw ServiceError.of(otherProjectOfKey(named));
    return ownProjectId(store, key);
  }
  const project = store.findProject(named);
  if (project?.status !== "active")
    throw ServiceError.of(namedProjectUnavailable(named, project === undefined ? "missing" : "archived"));
  return project.id;
}
