import * as client from "openid-client";
import type { Config } from "../../config/settings.ts";
import { type RoleRule, roleRules } from "../../config/role-rules.ts";
import type { Grant } from "../grants.ts";
import type { GuardedFetch } from "./guarded-fetch.ts";
import { type Claims, describe, grantsOf } from "./claims.ts";

const timeoutSeconds = 10;
/** Changes of the provider's endpoints are known after this time. */
const discoveredMs = 60 * 60_000;

export interface OidcSettings extends Pick<Config, "oidc_client_secret" | "oidc_label" | "oidc_roles" | "oidc_scopes"> {
  readonly oidc_issuer: string;
  readonly oidc_client_id: string;
}

/** A person, confirmed by the provider a moment ago. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
  readonly name: string;
  readonly email: string;
  readonly grants: readonly Grant[];
  readonly refreshToken: string | undefined;
}

/** State of a sign-in between both redirects. */
export interface SignInState {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

type Tokens = client.TokenEndpointResponse & client.TokenEndpointResponseHelpers;

/** Signs persons in with an OpenID Connect provider: authorization code, PKCE, state and nonce. */
export class OidcClient {
  readonly issuer: string;
  readonly label: string;
  readonly #settings: OidcSettings;
  readonly #rules: readonly RoleRule[];
  readonly #fetch: GuardedFetch;
  #found: { readonly atMs: number; readonly configuration: Promise<client.Configuration> } | undefined;

  /** @param fetch - decides about the addresses, which the provider chooses. */
  constructor(settings: OidcSettings, fetch: GuardedFetch) {
    this.#fetch = fetch;
    this.issuer = settings.oidc_issuer;
    this.label = settings.oidc_label;
    this.#settings = settings;
    this.#rules = roleRules(settings.oidc_roles);
  }

  /** Returns the address of the provider's page. */
  async begin(redirectUri: string): Promise<{ readonly url: string; readonly state: SignInState }> {
    const configuration = await this.#configuration();
    const state: SignInState = {
      state: client.randomState(),
      nonce: client.randomNonce(),
      verifier: client.randomPKCECodeVerifier(),
    };
    const scopes = this.#settings.oidc_scopes;
    const url = client.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: scopes.join(" "),
      state: state.state,
      nonce: state.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(state.verifier),
      code_challenge_method: "S256",
      // Required by OpenID Connect for a refresh token.
      ...(scopes.includes("offline_access") && { prompt: "consent" }),
    });
    return { url: url.href, state };
  }

  /** @param callback - the address that the provider redirected to. */
  async finish(callback: URL, { nonce, state, verifier }: SignInState): Promise<Identity> {
    const configuration = await this.#configuration();
    const tokens = await client.authorizationCodeGrant(configuration, callback, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    });
    const subject = tokens.claims()?.sub ?? "";
    return this.#identify(configuration, tokens, subject);
  }

  /** Returns the provider's own description. */
  async metadata(): Promise<Readonly<client.ServerMetadata>> {
    return (await this.#configuration()).serverMetadata();
  }

  /** Asks the provider whether the person is still active. */
  async refresh(refreshToken: string, subject: string): Promise<Identity> {
    const configuration = await this.#configuration();
    const tokens = await client.refreshTokenGrant(configuration, refreshToken);
    const claimed = tokens.claims()?.sub ?? subject;
    if (claimed !== subject) throw new Error("The refresh token belongs to another person.");
    const identity = await this.#identify(configuration, tokens, subject);
    return { ...identity, refreshToken: identity.refreshToken ?? refreshToken };
  }

  async #identify(configuration: client.Configuration, tokens: Tokens, subject: string): Promise<Identity> {
    const { issuer, userinfo_endpoint: userInfo } = configuration.serverMetadata();
    const claims: Claims = {
      ...tokens.claims(),
      // Many providers list the groups of a person only here.
      ...(userInfo !== undefined && (await client.fetchUserInfo(configuration, tokens.access_token, subject))),
    };
    return {
      issuer,
      subject,
      ...describe(claims, subject),
      grants: grantsOf(claims, this.#rules),
      refreshToken: tokens.refresh_token,
    };
  }

  #configuration(): Promise<client.Configuration> {
    const nowMs = Date.now();
    if (this.#found !== undefined && nowMs - this.#found.atMs < discoveredMs) return this.#found.configuration;
    const configuration = this.#discover();
    this.#found = { atMs: nowMs, configuration };
    configuration.catch(() => {
      this.#found = undefined;
    });
    return configuration;
  }

  #discover(): Promise<client.Configuration> {
    const { oidc_client_id, oidc_client_secret, oidc_issuer } = this.#settings;
    const issuer = new URL(oidc_issuer);
    return client.discovery(
      issuer,
      oidc_client_id,
      undefined,
      oidc_client_secret === undefined ? client.None() : clientSecret(oidc_client_secret),
      {
        timeout: timeoutSeconds,
        [client.customFetch]: this.#fetch,
        // The setting accepts http on this machine only.
        // oxlint-disable-next-line typescript/no-deprecated -- marked only to be noticed
        ...(issuer.protocol === "http:" && { execute: [client.allowInsecureRequests] }),
      },
    );
  }
}

/** Uses the header unless the provider accepts the secret in the body only. */
function clientSecret(secret: string): client.ClientAuth {
  const [basic, post] = [client.ClientSecretBasic(secret), client.ClientSecretPost(secret)];
  return (server, registered, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    const authenticate = methods.includes("client_secret_basic") ? basic : post;
    authenticate(server, registered, body, headers);
  };
}

/** True if the provider has answered that the person or the grant is not valid. */
export function isRefused(error: unknown): boolean {
  return (
    (error instanceof client.ResponseBodyError && error.status < 500 && error.status !== 429) ||
    error instanceof client.WWWAuthenticateChallengeError
  );
}
