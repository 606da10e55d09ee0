import { ServiceError } from "@shoal/router";
import { createRemoteJWKSet, customFetch, errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from "jose";
import { recentlyUsed } from "../../storage/recently-used.ts";
import { hash } from "node:crypto";
import { type RoleRule, roleRules } from "../../config/role-rules.ts";
import type { Log } from "../../log/log.ts";
import type { Grant } from "../grants.ts";
import type { People, Person } from "../people.ts";
import { describe, grantsOf } from "./claims.ts";
import type { GuardedFetch } from "./guarded-fetch.ts";
import type { OidcClient } from "./oidc-client.ts";

/** Signatures with shared secrets are not accepted: the client's secret would sign tokens for everyone. */
const algorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];
const clockToleranceSeconds = 5;
/** A changed role of a person reaches later requests with the same token after this time. */
const rememberedMs = 60_000;
const maxTokenLength = 16_384;

export interface AccessTokensParts {
  readonly client: Pick<OidcClient, "metadata">;
  readonly fetch: GuardedFetch;
  readonly roleRules: readonly string[];
  readonly people: People;
  readonly log: Log;
}

interface Remembered {
  readonly id: string;
  readonly expiresAtMs: number;
  readonly grants: readonly Grant[];
}

/** @returns `undefined` for an API key and any other header. */
export function accessTokenIn(authorization: string | undefined): string | undefined {
  const token = /^bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(authorization ?? "")?.[1];
  return token === undefined || token.length > maxTokenLength ? undefined : token;
}

/** Accepts the provider's JWT access tokens for one resource (RFC 9068, RFC 8707). */
export class AccessTokens {
  readonly #parts: AccessTokensParts;
  readonly #rules: readonly RoleRule[];
  readonly #known = recentlyUsed<Remembered>(1000, { ttl: rememberedMs });
  #keys: { readonly uri: string; readonly get: JWTVerifyGetKey } | undefined;

  constructor(parts: AccessTokensParts) {
    this.#parts = parts;
    this.#rules = roleRules(parts.roleRules);
  }

  /**
   * @param resource - the address that the token must be issued for.
   * @returns `undefined` for an invalid token. @throws {ServiceError} 403 without a role, 502 without the provider.
   */
  async personOf(token: string, resource: string): Promise<Person | undefined> {
    const cacheKey = hash("sha256", `${resource} ${token}`, "base64url");
    const known = this.#known.get(cacheKey);
    if (known !== undefined && known.expiresAtMs > Date.now()) {
      const person = await this.#parts.people.find(known.id);
      // The row has the rights of the person's last token, which may be of another client.
      return person && { ...person, grants: known.grants };
    }
    const verified = await this.#verify(token, resource);
    if (verified === undefined) return undefined;
    const { issuer, payload } = verified;
    const { exp = 0, sub = "" } = payload;
    const grants = grantsOf(payload, this.#rules);
    if (grants.length === 0)
      throw new ServiceError(403, "forbidden", "The access token contains no role in this service.", {
        hint: "Ask the administrator of the service; the setting oidc_roles lists the claims of access tokens.",
      });
    const person = await this.#parts.people.confirm({
      audience: "mcp",
      issuer,
      subject: sub,
      ...describe(payload, sub),
      grants,
      validUntilMs: exp * 1000,
    });
    this.#known.set(cacheKey, { id: person.key.id, expiresAtMs: exp * 1000, grants });
    return { ...person, grants };
  }

  async #verify(
    token: string,
    resource: string,
  ): Promise<{ readonly issuer: string; readonly payload: JWTPayload } | undefined> {
    try {
      const { issuer, jwks_uri } = await this.#parts.client.metadata();
      const { payload } = await jwtVerify(token, this.#keysAt(jwks_uri ?? ""), {
        algorithms,
        audience: resource,
        clockTolerance: clockToleranceSeconds,
        issuer,
        requiredClaims: ["exp", "sub"],
      });
      return { issuer, payload };
    } catch (error) {
      if (error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout)) return undefined;
      this.#parts.log.warn({ err: error }, "the keys of the OpenID Connect provider could not be read");
      throw new ServiceError(502, "bad_gateway", "The OpenID Connect provider does not answer.", {
        hint: "Try again later, or use an API key.",
        retryAfterSeconds: 10,
      });
    }
  }

  #keysAt(uri: string): JWTVerifyGetKey {
    if (this.#keys?.uri !== uri)
      this.#keys = { uri, get: createRemoteJWKSet(new URL(uri), { [customFetch]: this.#parts.fetch }) };
    return this.#keys.get;
  }
}
