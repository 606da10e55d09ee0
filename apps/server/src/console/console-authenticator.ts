import { keyProblems } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import {
  type Access,
  type AuthenticateOptions,
  type Authenticator,
  type KeyAuthenticator,
  type KeyRow,
  namedProject,
} from "../http/auth/access.ts";
import { keyProblem } from "../http/auth/key-problem.ts";
import type { RequestHead, RequestOrigins } from "../http/request-origin.ts";
import type { ReadCache } from "../storage/read-cache.ts";
import type { OwnRequestOrigin, OwnRequests } from "../http/auth/own-requests.ts";
import type { ProjectLookup } from "../http/auth/project-lookup.ts";
import { scopeOf } from "./grants.ts";
import { type AccessTokens, accessTokenIn } from "./oidc/access-tokens.ts";
import type { PersonChecks } from "./oidc/person-checks.ts";
import type { People, Person } from "./people.ts";
import type { ConsoleSession, ConsoleSessions } from "./console-sessions.ts";
import { sessionCookieIn } from "./cookie.ts";
import { consoleHeader, requireOwnPage } from "./own-pages.ts";
import type { PageKeys } from "./page-keys.ts";

export interface ConsoleAuthenticatorParts {
  readonly keyed: Pick<KeyAuthenticator, "admit" | "authenticate" | "baseUrlOf" | "checkAddress" | "countRefused">;
  readonly sessions: Pick<ConsoleSessions, "find">;
  readonly keysById: Pick<ReadCache<KeyRow>, "get">;
  readonly origins: Pick<RequestOrigins, "baseUrlOf">;
  readonly pageKeys: Pick<PageKeys, "opens" | "opensDownload">;
  readonly projects: Pick<ProjectLookup, "find" | "standard">;
  readonly ownRequests: Pick<OwnRequests, "read">;
  readonly people: Pick<People, "find">;
  /** `undefined` without an OpenID Connect provider. */
  readonly checks: PersonChecks | undefined;
  /** `undefined` without an OpenID Connect provider. */
  readonly tokens: AccessTokens | undefined;
}

export interface SignedIn {
  readonly session: ConsoleSession;
  readonly key: KeyRow;
  /** `undefined` for a session with an API key. */
  readonly person: Person | undefined;
}

/** Accepts the cookie of the console and access tokens for `/mcp`, where a request has no key. */
export class ConsoleAuthenticator implements Authenticator {
  readonly #parts: ConsoleAuthenticatorParts;

  constructor(parts: ConsoleAuthenticatorParts) {
    this.#parts = parts;
  }

  authenticate(request: RequestHead, options: AuthenticateOptions = {}): Access | Promise<Access> {
    const { keyed, origins, ownRequests, tokens } = this.#parts;
    const person = ownRequests.read(request.headers)?.person;
    if (person !== undefined) return this.#admitOwn(person, request, options);
    if (options.resource !== undefined && tokens !== undefined) {
      const accessToken = accessTokenIn(request.headers.authorization);
      if (accessToken !== undefined)
        return this.#admitToken(accessToken, { request, options, resource: options.resource });
    }
    const isKeyed = options.console === undefined || request.headers.authorization !== undefined;
    const token = isKeyed ? undefined : sessionCookieIn(request, origins);
    if (token === undefined || options.console === undefined) return keyed.authenticate(request, options);
    requireOwnPage(request, origins, options.console === "request" ? "request" : "download");
    return this.#admit(token, request, options);
  }

  /** @throws {ServiceError} 401 without a session, 403 for another page. */
  async current(request: RequestHead): Promise<SignedIn> {
    const { origins } = this.#parts;
    requireOwnPage(request, origins, "request");
    const token = sessionCookieIn(request, origins);
    if (token === undefined) throw signedOut("This browser is not signed in to the console.");
    return this.#find(token, request, "request");
  }

  countRefused(request: RequestHead): void {
    this.#parts.keyed.countRefused(request);
  }

  baseUrlOf(request: RequestHead): string {
    return this.#parts.keyed.baseUrlOf(request);
  }

  async #admit(token: string, request: RequestHead, options: AuthenticateOptions): Promise<Access> {
    const { keyed, projects } = this.#parts;
    const { key, person } = await this.#find(token, request, options.console);
    if (person === undefined) return keyed.admit({ key, request, options, strategy: "dashboard" });
    const scope = await scopeOf(person, namedProject(request.headers), projects);
    return keyed.admit({ ...scope, request, options, strategy: "dashboard" });
  }

  /** For a request of this server itself, whose client has an access token. */
  async #admitOwn(
    { id, ...grant }: NonNullable<OwnRequestOrigin["person"]>,
    request: RequestHead,
    options: AuthenticateOptions,
  ): Promise<Access> {
    const person = await this.#parts.people.find(id);
    if (person === undefined || keyProblem(person.key) !== undefined)
      throw new ServiceError(401, "unauthorized", "The access token has expired.", { hint: "Connect again." });
    return this.#admitPerson({ ...person, grants: [grant] }, request, options);
  }

  async #admitToken(
    token: string,
    { options, request, resource }: { request: RequestHead; options: AuthenticateOptions; resource: string },
  ): Promise<Access> {
    this.#parts.keyed.checkAddress(request);
    const person = await this.#parts.tokens?.personOf(token, resource);
    if (person !== undefined && keyProblem(person.key) === undefined)
      return this.#admitPerson(person, request, options);
    this.countRefused(request);
    throw new ServiceError(401, "unauthorized", `The access token is not valid for ${resource}.`, {
      hint: "Sign in again, and request a token for this resource.",
    });
  }

  async #admitPerson(person: Person, request: RequestHead, options: AuthenticateOptions): Promise<Access> {
    const scope = await scopeOf(person, namedProject(request.headers), this.#parts.projects);
    return this.#parts.keyed.admit({ ...scope, request, options, strategy: "oauth" });
  }

  async #find(token: string, request: RequestHead, kind: AuthenticateOptions["console"]): Promise<SignedIn> {
    const { keyed, pageKeys, sessions } = this.#parts;
    keyed.checkAddress(request);
    const nowMs = Date.now();
    const isOwn =
      typeof kind === "object"
        ? pageKeys.opensDownload(token, kind, nowMs)
        : pageKeys.opens(token, request.headers[consoleHeader]);
    const session = isOwn ? await sessions.find(token, nowMs) : undefined;
    const found = session && (await this.#holderOf(session, nowMs));
    const problem = found === undefined ? "The session of the console has ended." : keyProblem(found.key);
    if (session !== undefined && found !== undefined && problem === undefined) return { session, ...found };
    this.countRefused(request);
    throw signedOut(problem ?? keyProblems.unknown);
  }

  async #holderOf(session: ConsoleSession, nowMs: number): Promise<Omit<SignedIn, "session"> | undefined> {
    const { checks, keysById } = this.#parts;
    if ("userId" in session.holder) {
      const person = await checks?.current(session, nowMs);
      return person && { key: person.key, person };
    }
    const key = await keysById.get(session.holder.keyId);
    return key && { key, person: undefined };
  }
}

function signedOut(problem: string): ServiceError {
  return new ServiceError(401, "unauthorized", problem, { hint: "Sign in again at /console/." });
}
