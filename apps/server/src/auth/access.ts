import type { Contract, Endpoint } from "@shoal/contract";
import { ServiceError } from "@shoal/router";
import type { IncomingHttpHeaders } from "node:http";
import type { Projects } from "../projects/projects.ts";
import type { ReadCache } from "../read-cache.ts";
import { hashKey, isKeySecret } from "./api-key-secret.ts";

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
  /** The address that the request was sent to, as far as the request tells: `http://127.0.0.1:7777`. */
  readonly baseUrl: string;
}

/** Operations that the service answers itself. */
export type ControlPlane<C extends Contract> = { readonly [Name in keyof C as C[Name] extends { readonly plane: "control" } ? Name : never]: C[Name] };

export interface Authenticator {
  /**
   * Who sent a request, and for which project.
   *
   * @throws {ServiceError} 401 `unauthorized`, 403 `forbidden` for another project than the key's, 404 `project_not_found`.
   */
  authenticate(headers: IncomingHttpHeaders): Promise<Omit<Access, "baseUrl">>;
}

function unauthorized(what: string): ServiceError {
  return new ServiceError(401, "unauthorized", `${what} Send a valid key as "Authorization: Bearer sk_shoal_…"; keys are made with apiKeys.create.`);
}

function bearer(header: string | undefined): string {
  if (header === undefined) throw unauthorized("The request carries no API key.");
  const token = /^bearer +(\S+) *$/i.exec(header)?.[1];
  if (token === undefined) throw unauthorized("The Authorization header is not of the form Bearer KEY.");
  if (!isKeySecret(token)) throw unauthorized("That is not an API key of this service.");
  return token;
}

/** The project that a request names, by id or by name. */
function namedProject(headers: IncomingHttpHeaders): string | undefined {
  const named = headers["x-shoal-project"] ?? headers["x-kernel-project-id"] ?? headers["x-kernel-project"];
  const project = Array.isArray(named) ? named[0] : named;
  return project === "" ? undefined : project;
}

export function createAuthenticator(keys: ReadCache<KeyRow>, projects: Projects): Authenticator {
  return {
    async authenticate(headers) {
      const hashed = hashKey(bearer(headers.authorization));
      const found = keys.get(hashed);
      const key = found instanceof Promise ? await found : found;
      if (key === undefined) throw unauthorized("The API key is unknown or was deleted.");
      if (key.expiresAtMs <= Date.now()) {
        throw unauthorized(`The API key expired at ${new Date(key.expiresAtMs).toISOString()}.`);
      }
      const named = namedProject(headers);
      if (named === undefined) return { key, projectId: key.project_id ?? projects.defaultId };
      const project = await projects.find(named);
      if (project === undefined) {
        throw new ServiceError(404, "project_not_found", `Project ${named} was not found. Leave the project header away for the ${key.project_id === null ? "default project" : "key's own project"}.`);
      }
      if (key.project_id !== null && key.project_id !== project.id) {
        throw new ServiceError(403, "forbidden", `This API key opens only its own project, not ${named}. Leave the project header away, or use a key of that project.`);
      }
      return { key, projectId: project.id };
    },
  };
}

/** Whether an operation is answered without a key. */
export function isOpen(endpoint: Endpoint): boolean {
  return endpoint.auth === "none";
}
