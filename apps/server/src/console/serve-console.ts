import type { Database } from "@shoal/database";
import { badInput, type Handlers, ServiceError } from "@shoal/router";
import { mountAll, replyOf } from "@shoal/router/fastify";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { KeyAuthenticator, KeyRow } from "../http/auth/access.ts";
import type { Entering } from "../host/entering.ts";
import { keyProblem } from "../http/auth/key-problem.ts";
import type { ProjectLookup } from "../http/auth/project-lookup.ts";
import type { RequestOrigins } from "../http/request-origin.ts";
import type { Secrets } from "../storage/secrets.ts";
import type { ReadCache } from "../storage/read-cache.ts";
import type { ConsoleAuthenticator } from "./console-authenticator.ts";
import type { ConsoleLinks, LinkProblem } from "./console-links.ts";
import { type ConsoleSessions, maxSessionMs } from "./console-sessions.ts";
import type { PageKeys } from "./page-keys.ts";
import { isSecure, sessionCookie, sessionCookieIn } from "./cookie.ts";
import { consoleEndpoints } from "./endpoints.ts";
import type { PersonChecks } from "./oidc/person-checks.ts";
import { serveOidc, startPath } from "./oidc/serve-oidc.ts";
import { answerOf } from "./session-answer.ts";
import { consoleHeader, requireOwnPage, requireSafeOrigin } from "./own-pages.ts";

export interface ConsoleParts {
  readonly authenticator: ConsoleAuthenticator;
  /** `undefined` without an OpenID Connect provider. */
  readonly checks: PersonChecks | undefined;
  readonly database: Pick<Database, "query">;
  readonly keyed: Pick<KeyAuthenticator, "admit" | "checkAddress" | "countRefused" | "identify">;
  readonly keysById: Pick<ReadCache<KeyRow>, "get">;
  readonly links: ConsoleLinks;
  readonly origins: Pick<RequestOrigins, "baseUrlOf">;
  readonly projects: Pick<ProjectLookup, "find" | "standard">;
  readonly pageKeys: PageKeys;
  readonly publicUrl: string | undefined;
  readonly secrets: Pick<Secrets, "seal" | "unseal">;
  readonly sessions: ConsoleSessions;
}

const linkProblems: Readonly<Record<LinkProblem, string>> = {
  used: "This link was used already. It works once.",
  expired: "This link has expired. It is valid for 60 seconds.",
  ended: "The key of this link was deleted or has expired.",
  invalid: "This link is invalid. It may be incomplete, or a newer link replaced it.",
};

const linkPath = "/console/#link=";

/** Serves the operations of the console's sign-in. */
export function serveConsole(app: FastifyInstance, parts: ConsoleParts, entering: Entering): void {
  const { baseUrlOf } = parts.origins;
  const setCookie = (request: FastifyRequest, token: string | undefined): void => {
    const cookie = sessionCookie(token, maxSessionMs / 1000, isSecure(request.raw, parts.origins));
    void replyOf(request).header("set-cookie", cookie).header("cache-control", "no-store");
  };
  const handlers: Handlers<typeof consoleEndpoints, FastifyRequest> = {
    async beginConsoleSession({ body, context: request }) {
      requireOwnPage(request.raw, parts.origins, "request");
      const key = await signInKey(parts, request, body);
      const access = await parts.keyed.admit({ key, request: request.raw, options: {}, strategy: "dashboard" });
      entering.enterAs(request, consoleEndpoints.beginConsoleSession, access);
      const { session, token } = await parts.sessions.begin({ keyId: key.id }, Date.now());
      setCookie(request, token);
      const answer = await answerOf(parts, { key, session, person: undefined });
      return { ...answer, page_key: parts.pageKeys.keyOf(token) };
    },
    async getConsoleSession({ context: request }) {
      void replyOf(request).header("cache-control", "no-store");
      return answerOf(parts, await parts.authenticator.current(request.raw));
    },
    async endConsoleSession({ context: request }) {
      requireOwnPage(request.raw, parts.origins, "request");
      const token = sessionCookieIn(request.raw, parts.origins);
      if (token !== undefined && parts.pageKeys.opens(token, request.raw.headers[consoleHeader]))
        await parts.sessions.end(token);
      setCookie(request, undefined);
    },
    async createDownloadKey({ body, context: request }) {
      void replyOf(request).header("cache-control", "no-store");
      await parts.authenticator.current(request.raw);
      const token = sessionCookieIn(request.raw, parts.origins) ?? "";
      const { expiresAtMs, key } = parts.pageKeys.downloadKeyOf(token, body.path, Date.now());
      return { key, expires_at: new Date(expiresAtMs).toISOString() };
    },
    getSignInWays: ({ context: request }) => ({
      api_key: true,
      ...(parts.checks !== undefined && {
        oidc: { label: parts.checks.client.label, href: pathIn(baseUrlOf(request.raw), startPath) },
      }),
    }),
    async createConsoleLink({ context: request }) {
      const { key } = await entering.enterKeyed(request, consoleEndpoints.createConsoleLink);
      refuseDeployment(key);
      const baseUrl = baseUrlOf(request.raw);
      requireSafeOrigin(baseUrl);
      const { code, expiresAtMs } = await parts.links.issue(key.id, Date.now());
      return { url: `${baseUrl}${linkPath}${code}`, expires_at: new Date(expiresAtMs).toISOString() };
    },
  };
  mountAll(app, consoleEndpoints, handlers, {
    unknownFields: "refuse",
    context(request) {
      entering.admitWork(request);
      return request;
    },
  });
  if (parts.checks !== undefined) serveOidc(app, { ...parts, checks: parts.checks, entering });
}

function pathIn(baseUrl: string, path: string): string {
  return new URL(baseUrl).pathname.replace(/\/$/, "") + path;
}

/** @throws {ServiceError} 400, 401, 403 or 429 */
async function signInKey(
  { keyed, keysById, links }: ConsoleParts,
  request: FastifyRequest,
  {
    api_key: secret,
    link_code: code,
  }: { readonly api_key?: string | undefined; readonly link_code?: string | undefined },
): Promise<KeyRow> {
  if ((secret === undefined) === (code === undefined)) throw badInput("body", "expected either api_key or link_code");
  if (secret !== undefined) return refuseDeployment(await keyed.identify(request.raw, secret.trim()));
  keyed.checkAddress(request.raw);
  const link = await links.redeem(code ?? "", Date.now());
  const key = "keyId" in link ? await keysById.get(link.keyId) : undefined;
  if (key !== undefined && keyProblem(key) === undefined) return key;
  keyed.countRefused(request.raw);
  const reason = "reason" in link ? link.reason : "ended";
  throw new ServiceError(410, "link_expired", linkProblems[reason], {
    details: [{ code: reason, message: linkProblems[reason] }],
    hint: "Run shoal console again, or sign in with an API key.",
  });
}

/** @throws {ServiceError} 403 for the key of an app, which is not for persons. */
function refuseDeployment(key: KeyRow): KeyRow {
  if (key.deployment_id === null) return key;
  throw new ServiceError(403, "forbidden", "The key of a deployment cannot open the console.", {
    hint: "Use a key of a person or a project.",
  });
}
