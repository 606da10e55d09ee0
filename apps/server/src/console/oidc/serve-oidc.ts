import { ServiceError } from "@shoal/router";
import { defineEndpoint, empty, type Endpoint } from "@shoal/contract";
import { parseCookie, stringifySetCookie } from "cookie";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import * as z from "zod/mini";
import type { Access, KeyAuthenticator } from "../../http/auth/access.ts";
import type { ProjectLookup } from "../../http/auth/project-lookup.ts";
import { isLoopback } from "../../http/listen.ts";
import { escaped, refusalPage, sendPage } from "../../http/pages/html-page.ts";
import type { RequestOrigins } from "../../http/request-origin.ts";
import type { Secrets } from "../../storage/secrets.ts";
import { maxSessionMs } from "../console-sessions.ts";
import { isSecure, sessionCookie } from "../cookie.ts";
import { scopeOf } from "../grants.ts";
import { requireSafeOrigin } from "../own-pages.ts";
import type { PageKeys } from "../page-keys.ts";
import type { SignInState } from "./oidc-client.ts";
import type { PersonChecks } from "./person-checks.ts";

export const startPath = "/console/oidc/start";
const callbackPath = "/console/oidc/callback";

/** Time for the pages of the provider. */
const stateSeconds = 600;
const purpose = "sign-in with OpenID Connect";
const State = z.object({ state: z.string(), nonce: z.string(), verifier: z.string(), untilMs: z.number() });

/** For the audit log. */
const signIn: Endpoint = defineEndpoint({
  area: "Console",
  plane: "control",
  operationId: "console.oidc.signIn",
  method: "GET",
  path: callbackPath,
  summary: "Sign in with the OpenID Connect provider.",
  responses: { 302: empty },
  errors: [403, 502],
});

export interface ServeOidcParts {
  readonly checks: PersonChecks;
  readonly keyed: Pick<KeyAuthenticator, "admit" | "checkAddress" | "countRefused">;
  readonly origins: Pick<RequestOrigins, "baseUrlOf">;
  readonly pageKeys: Pick<PageKeys, "keyOf">;
  /** The setting `public_url`. */
  readonly publicUrl: string | undefined;
  readonly projects: Pick<ProjectLookup, "find" | "standard">;
  readonly secrets: Pick<Secrets, "seal" | "unseal">;
  readonly entering: {
    admitWork(request: FastifyRequest): void;
    enterAs(request: FastifyRequest, endpoint: Endpoint, access: Access): void;
  };
}

/** Both ends of the redirects to the provider. */
export function serveOidc(app: FastifyInstance, parts: ServeOidcParts): void {
  const serve = (path: string, work: (request: FastifyRequest, reply: FastifyReply) => Promise<string>) => {
    app.get(path, { exposeHeadRoute: false }, async (request, reply) => {
      try {
        parts.entering.admitWork(request);
        parts.keyed.checkAddress(request.raw);
        const location = await work(request, reply);
        void reply.headers({ "cache-control": "no-store", "referrer-policy": "no-referrer" }).redirect(location, 302);
      } catch (error) {
        refuse(request, reply, error);
      }
      return reply;
    });
  };
  serve(startPath, async (request, reply) => {
    const baseUrl = parts.origins.baseUrlOf(request.raw);
    requireOwnAddress(requireSafeOrigin(baseUrl), parts.publicUrl);
    const { state, url } = await parts.checks.client.begin(baseUrl + callbackPath);
    void reply.header("set-cookie", stateCookie(parts, request, state));
    return url;
  });
  serve(callbackPath, (request, reply) => finish(parts, request, reply));
}

/**
 * The provider sends the person's code to this address, so that no header of a request chooses it.
 * @throws {ServiceError} 403 `forbidden`
 */
function requireOwnAddress({ hostname, origin }: URL, publicUrl: string | undefined): void {
  const bare = hostname.replace(/^\[|\]$/g, "");
  if (publicUrl !== undefined || isLoopback(bare)) return;
  throw new ServiceError(
    403,
    "forbidden",
    `Persons cannot sign in at ${origin}: the service does not know it as its own.`,
    {
      hint: "An operator sets public_url to the address of the service.",
    },
  );
}

async function finish(parts: ServeOidcParts, request: FastifyRequest, reply: FastifyReply): Promise<string> {
  const baseUrl = parts.origins.baseUrlOf(request.raw);
  requireOwnAddress(requireSafeOrigin(baseUrl), parts.publicUrl);
  const state = stateIn(parts, request);
  // The state is for one answer of the provider.
  void reply.header("set-cookie", stateCookie(parts, request, undefined));
  if (state === undefined) {
    parts.keyed.countRefused(request.raw);
    throw new ServiceError(403, "forbidden", "This sign-in was not started in this browser, or took too long.");
  }
  const query = request.raw.url?.split("?", 2)[1] ?? "";
  const identity = await parts.checks.client.finish(new URL(`${baseUrl}${callbackPath}?${query}`), state);
  const { person, token } = await parts.checks.admit(identity, Date.now());
  const scope = await scopeOf(person, undefined, parts.projects);
  const access = await parts.keyed.admit({ ...scope, request: request.raw, options: {}, strategy: "dashboard" });
  parts.entering.enterAs(request, signIn, access);
  void reply.header("set-cookie", sessionCookie(token, maxSessionMs / 1000, isSecure(request.raw, parts.origins)));
  // Browsers send no fragment to a server.
  return `${baseUrl}/console/#page_key=${parts.pageKeys.keyOf(token)}`;
}

const cookieName = (secure: boolean) => (secure ? "__Host-shoal_oidc" : "shoal_oidc");

/** Lax, because the provider's redirect comes from another site. @param state - `undefined` deletes the cookie. */
function stateCookie(
  { origins, secrets }: ServeOidcParts,
  request: FastifyRequest,
  state: SignInState | undefined,
): string {
  const secure = isSecure(request.raw, origins);
  const text = state && JSON.stringify({ ...state, untilMs: Date.now() + stateSeconds * 1000 });
  return stringifySetCookie({
    name: cookieName(secure),
    value: text === undefined ? "" : secrets.seal(text, purpose).toString("base64url"),
    httpOnly: true,
    maxAge: state === undefined ? 0 : stateSeconds,
    path: "/",
    sameSite: "lax",
    secure,
  });
}

function stateIn({ origins, secrets }: ServeOidcParts, request: FastifyRequest): SignInState | undefined {
  const sealed = parseCookie(request.headers.cookie ?? "")[cookieName(isSecure(request.raw, origins))];
  const text = sealed === undefined ? undefined : secrets.unseal(Buffer.from(sealed, "base64url"), purpose);
  if (text === undefined) return undefined;
  const { untilMs, ...state } = State.parse(JSON.parse(text));
  return untilMs > Date.now() ? state : undefined;
}

const title = "Sign-in failed";
const again = '<br><a href="/console/">Back to sign-in</a>';

/** Texts of the provider may be hostile, so the page repeats none. */
function refuse(request: FastifyRequest, reply: FastifyReply, error: unknown): void {
  if (ServiceError.isInstance(error)) {
    const text = escaped(error.hint === undefined ? error.message : `${error.message} ${error.hint}`);
    sendPage(reply, error.status, refusalPage(title, text + again), []);
    return;
  }
  request.log.warn({ err: error }, "a sign-in with OpenID Connect failed");
  const text = "The provider did not confirm this sign-in. The log of the service contains the reason.";
  sendPage(reply, 502, refusalPage(title, text + again), []);
}
