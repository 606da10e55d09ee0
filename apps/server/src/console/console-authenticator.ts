import { keyProblems } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import type { Access, AuthenticateOptions, Authenticator, KeyAuthenticator, KeyRow } from "../http/auth/access.ts";
import { keyProblem } from "../http/auth/key-problem.ts";
import type { RequestHead, RequestOrigins } from "../http/request-origin.ts";
import type { ReadCache } from "../storage/read-cache.ts";
import type { ConsoleSession, ConsoleSessions } from "./console-sessions.ts";
import { sessionCookieIn } from "./cookie.ts";
import { requireOwnPage } from "./own-pages.ts";

export interface ConsoleAuthenticatorParts {
  readonly keyed: Pick<KeyAuthenticator, "admit" | "authenticate" | "baseUrlOf" | "checkAddress" | "countRefused">;
  readonly sessions: Pick<ConsoleSessions, "find">;
  readonly keysById: Pick<ReadCache<KeyRow>, "get">;
  readonly origins: Pick<RequestOrigins, "baseUrlOf">;
}

export interface SignedIn {
  readonly session: ConsoleSession;
  readonly key: KeyRow;
}

/** Accepts the cookie of the console where a request has no key. */
export class ConsoleAuthenticator implements Authenticator {
  readonly #parts: ConsoleAuthenticatorParts;

  constructor(parts: ConsoleAuthenticatorParts) {
    this.#parts = parts;
  }

  authenticate(request: RequestHead, options: AuthenticateOptions = {}): Access | Promise<Access> {
    const { keyed, origins } = this.#parts;
    const isKeyed = options.console === undefined || request.headers.authorization !== undefined;
    const token = isKeyed ? undefined : sessionCookieIn(request, origins);
    if (token === undefined || options.console === undefined) return keyed.authenticate(request, options);
    requireOwnPage(request, origins, options.console);
    return this.#admit(token, request, options);
  }

  /** @throws {ServiceError} 401 without a session, 403 for another page. */
  async current(request: RequestHead): Promise<SignedIn> {
    const { origins } = this.#parts;
    requireOwnPage(request, origins, "request");
    const token = sessionCookieIn(request, origins);
    if (token === undefined) throw signedOut("This browser is not signed in to the console.");
    return this.#find(token, request);
  }

  countRefused(request: RequestHead): void {
    this.#parts.keyed.countRefused(request);
  }

  baseUrlOf(request: RequestHead): string {
    return this.#parts.keyed.baseUrlOf(request);
  }

  async #admit(token: string, request: RequestHead, options: AuthenticateOptions): Promise<Access> {
    const { key } = await this.#find(token, request);
    return this.#parts.keyed.admit({ key, request, options, strategy: "dashboard" });
  }

  async #find(token: string, request: RequestHead): Promise<SignedIn> {
    const { keyed, keysById, sessions } = this.#parts;
    keyed.checkAddress(request);
    const session = await sessions.find(token, Date.now());
    const key = session && (await keysById.get(session.keyId));
    const problem = session === undefined ? "The session of the console has ended." : keyProblem(key);
    if (session !== undefined && key !== undefined && problem === undefined) return { session, key };
    this.countRefused(request);
    throw signedOut(problem ?? keyProblems.unknown);
  }
}

function signedOut(problem: string): ServiceError {
  return new ServiceError(401, "unauthorized", problem, { hint: "Sign in again at /console/." });
}
