import { generateKeyPairSync } from "node:crypto";
import { jwtVerify } from "jose/jwt/verify";
import { isSigned } from "../../../testing/sts-server.ts";
import { type StandIn, startStandIn, type StoreAnswer, type StoreRequest } from "./stand-in.ts";

/** A store with one login, and the settings that reach it. */
export interface TestStore {
  readonly standIn: StandIn;
  readonly token: string;
  readonly settings: Readonly<Record<string, string>>;
  /** The item's path, and a path of nothing. */
  readonly path: string;
  readonly missing: string;
  /** The token expires or is revoked; `undefined` where tokens are permanent. */
  readonly revoke?: () => void;
}

export const login = { username: "ada", password: "correct horse", totp: "JBSWY3DPEHPK3PXP" };
const site = "https://shop.example.com/login";

function bearer(request: StoreRequest, token: string): boolean {
  return request.header("authorization") === `Bearer ${token}`;
}

async function kv(
  version: "1" | "2",
  options: { readonly appRole?: true; readonly namespace?: string } = {},
): Promise<TestStore> {
  let valid = "hvs.first";
  let issued = 0;
  const data = { ...login, url: site };
  const metadata = { custom_metadata: { url: site } };
  const standIn = await startStandIn((request): StoreAnswer => {
    const { method, path, query } = request;
    if (options.namespace !== undefined && request.header("x-vault-namespace") !== options.namespace)
      return [404, { errors: ["no handler for route"] }];
    if (path === "/v1/auth/approle/login" && method === "POST") {
      const { role_id, secret_id } = request.json();
      if (role_id !== "role" || secret_id !== "hvs.first") return [400, { errors: ["invalid role or secret ID"] }];
      valid = `hvs.issued-${String((issued += 1))}`;
      return [200, { auth: { client_token: valid, lease_duration: 3600, renewable: true } }];
    }
    if (request.header("x-vault-token") !== valid) return [403, { errors: ["permission denied"] }];
    if (path === "/v1/auth/token/lookup-self") return [200, { data: { ttl: 3600, renewable: true } }];
    if (path === "/v1/sys/internal/ui/mounts")
      return [
        200,
        { data: { secret: { "secret/": { type: "kv", options: { version } }, "cubbyhole/": { type: "cubbyhole" } } } },
      ];
    const [listed, stored] =
      version === "2" ? ["/v1/secret/metadata", "/v1/secret/data"] : ["/v1/secret", "/v1/secret"];
    const isList = query.get("list") === "true";
    if (isList && path === `${listed}/logins`) return [200, { data: { keys: ["shop.example.com", "team/"] } }];
    if (isList && path === `${listed}/logins/team`) return [200, { data: { keys: ["wiki"] } }];
    if (!isList && path === `${listed}/logins/team/wiki` && version === "2")
      return [200, { data: { custom_metadata: { url: "https://wiki.example.org" } } }];
    if (!isList && path === `${stored}/logins/shop.example.com`)
      return [200, { data: version === "2" ? { data, metadata } : data }];
    return [404, { errors: [] }];
  });
  return {
    standIn,
    token: "hvs.first",
    settings: {
      address: standIn.url,
      path: "logins",
      kv_version: version,
      ...(options.appRole === true && { role_id: "role" }),
      ...(options.namespace !== undefined && { namespace: options.namespace }),
    },
    path: "secret/logins/shop.example.com",
    missing: "secret/logins/nothing",
    ...(options.appRole === true && { revoke: () => (valid = "none") }),
  };
}

export const connectIds = { vault: "a".repeat(26), item: "b".repeat(26) };

async function connect(): Promise<TestStore> {
  const token = "eyJ.connect.token";
  const vault = { id: connectIds.vault, name: "Team" };
  const summary = {
    id: connectIds.item,
    title: "Shop",
    category: "LOGIN",
    vault: { id: vault.id },
    urls: [{ primary: true, href: site }],
  };
  const fields = [
    { id: "username", type: "STRING", purpose: "USERNAME", label: "username", value: login.username },
    { id: "password", type: "CONCEALED", purpose: "PASSWORD", label: "password", value: login.password },
    { id: "notesPlain", type: "STRING", purpose: "NOTES", label: "notesPlain" },
    { id: "TOTP_1", type: "OTP", label: "one-time password", value: login.totp, totp: "123456" },
  ];
  const standIn = await startStandIn((request): StoreAnswer => {
    if (!bearer(request, token)) return [401, { status: 401, message: "Invalid token signature" }];
    const { path, query } = request;
    const filter = /^(?:name|title) eq "(.*)"$/.exec(query.get("filter") ?? "")?.[1];
    const only = (name: string) => filter === undefined || filter === name;
    const items = `/v1/vaults/${vault.id}/items`;
    if (path === "/v1/vaults") return [200, only(vault.name) ? [vault] : []];
    if (path === `/v1/vaults/${vault.id}`) return [200, vault];
    if (path === items) return [200, only(summary.title) ? [summary] : []];
    if (path === `${items}/${summary.id}`) return [200, { ...summary, fields }];
    return [404, { status: 404, message: "not found" }];
  });
  return { standIn, token, settings: { address: standIn.url }, path: "Team/Shop", missing: "Team/Nothing" };
}

async function bitwarden(): Promise<TestStore> {
  const token = "master password";
  let isUnlocked = false;
  const item = {
    id: "0b0e4b5c-0000-4000-8000-000000000001",
    name: "Shop",
    organizationId: null,
    login: { ...login, uris: [{ match: null, uri: site }] },
    fields: [{ name: "tenant", value: "north", type: 0 }],
  };
  const standIn = await startStandIn((request): StoreAnswer => {
    const { path, query } = request;
    if (request.header("origin") !== undefined) return [403, { success: false }];
    const ok = (data: unknown): StoreAnswer => [200, { success: true, data }];
    if (path === "/status") return ok({ object: "template", template: { status: isUnlocked ? "unlocked" : "locked" } });
    if (path === "/unlock") {
      isUnlocked = request.json().password === token;
      return isUnlocked
        ? ok({ title: "Your vault is now unlocked!" })
        : [400, { success: false, message: "Invalid master password." }];
    }
    if (!isUnlocked) return [400, { success: false, message: "Vault is locked." }];
    if (path === "/list/object/organizations") return ok({ object: "list", data: [{ id: "o1", name: "Company" }] });
    if (path === "/list/object/items") {
      const search = (query.get("search") ?? "shop").toLowerCase();
      const url = new URL(query.get("url") ?? site).hostname;
      return ok({ object: "list", data: item.name.toLowerCase().includes(search) && site.includes(url) ? [item] : [] });
    }
    if (path === `/object/item/${item.id}`) return ok(item);
    return [404, { success: false, message: "Not found." }];
  });
  return {
    standIn,
    token,
    settings: { address: standIn.url },
    path: "My vault/Shop",
    missing: "My vault/Nothing",
    revoke: () => (isUnlocked = false),
  };
}

async function infisical(): Promise<TestStore> {
  let valid = "";
  let issued = 0;
  const secret = (secretKey: string, secretValue: string) => ({ secretKey, secretValue, secretPath: "/logins/shop" });
  const standIn = await startStandIn((request): StoreAnswer => {
    if (request.path === "/api/v1/auth/universal-auth/login" && request.method === "POST") {
      const { clientId, clientSecret } = request.json();
      if (clientId !== "client" || clientSecret !== "client-secret") return [401, { message: "Invalid credentials" }];
      valid = `access-${String((issued += 1))}`;
      return [200, { accessToken: valid, expiresIn: 7200, accessTokenMaxTTL: 43_200, tokenType: "Bearer" }];
    }
    if (!bearer(request, valid)) return [401, { message: "Token expired" }];
    const { path, query } = request;
    if (path !== "/api/v4/secrets" || query.get("projectId") !== "p1" || query.get("environment") !== "prod")
      return [404, { message: "Project not found" }];
    return [
      200,
      {
        secrets: [
          secret("USERNAME", login.username),
          secret("PASSWORD", login.password),
          secret("TOTP", login.totp),
          secret("URL", site),
        ],
        imports: [],
      },
    ];
  });
  return {
    standIn,
    token: "client-secret",
    settings: { address: standIn.url, client_id: "client", project_id: "p1", environment: "prod" },
    path: "prod/logins/shop",
    missing: "prod/logins/nothing",
    revoke: () => (valid = "none"),
  };
}

async function doppler(): Promise<TestStore> {
  const token = "dp.st.prd.secret";
  const standIn = await startStandIn((request): StoreAnswer => {
    if (!bearer(request, token)) return [401, { messages: ["Invalid Service token"], success: false }];
    if (request.path !== "/v3/configs/config/secrets/download" || request.query.get("format") !== "json")
      return [404, {}];
    return [
      200,
      {
        DOPPLER_CONFIG: "prd",
        SHOP_USERNAME: login.username,
        SHOP_PASSWORD: login.password,
        SHOP_TOTP: login.totp,
        SHOP_URL: site,
      },
    ];
  });
  return {
    standIn,
    token,
    settings: { address: standIn.url, project: "sites", config: "prd" },
    path: "sites.prd/SHOP",
    missing: "sites.prd/NOTHING",
  };
}

async function aws(): Promise<TestStore> {
  const user = {
    accessKey: "AKIATEST",
    secretKey: "aws/secret+key",
    region: "eu-central-1",
    service: "secretsmanager",
  };
  const arn = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:logins/shop-a1b2c3";
  const refused = (type: string): StoreAnswer => [400, { __type: type, message: "no" }];
  const standIn = await startStandIn((request): StoreAnswer => {
    if (!isSigned(request.raw, request.body, user)) return refused("InvalidSignatureException");
    const { NextToken, SecretId } = request.json();
    if (request.header("x-amz-target") === "secretsmanager.ListSecrets")
      return NextToken === undefined
        ? [200, { SecretList: [{ ARN: `${arn}2`, Name: "other" }], NextToken: "next" }]
        : [200, { SecretList: [{ ARN: arn, Name: "logins/shop", Tags: [{ Key: "url", Value: site }] }] }];
    if (SecretId !== arn && SecretId !== "logins/shop")
      return refused("com.amazonaws.secretsmanager#ResourceNotFoundException");
    return [200, { ARN: arn, Name: "logins/shop", SecretString: JSON.stringify(login) }];
  });
  return {
    standIn,
    token: user.secretKey,
    settings: { address: `${standIn.url}/`, region: user.region, access_key_id: user.accessKey },
    path: "eu-central-1/logins/shop",
    missing: "eu-central-1/nothing",
  };
}

async function google(): Promise<TestStore> {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  let valid = "";
  let issued = 0;
  const standIn = await startStandIn(async (request): Promise<StoreAnswer> => {
    if (request.path === "/token") {
      const form = new URLSearchParams(request.body);
      try {
        const audience = `${standIn.url}/token`;
        const { payload } = await jwtVerify(form.get("assertion") ?? "", publicKey, { issuer: "shoal@p1", audience });
        if (payload.scope !== "https://www.googleapis.com/auth/cloud-platform") return [400, {}];
      } catch {
        return [400, { error: "invalid_grant" }];
      }
      valid = `ya29.${String((issued += 1))}`;
      return [200, { access_token: valid, expires_in: 3599, token_type: "Bearer" }];
    }
    if (!bearer(request, valid)) return [401, { error: { code: 401, status: "UNAUTHENTICATED" } }];
    const secrets = "/v1/projects/p1/secrets";
    const { path, query } = request;
    if (path === secrets)
      return query.get("pageToken") === null
        ? [200, { secrets: [{ name: "projects/1/secrets/other" }], nextPageToken: "next" }]
        : [200, { secrets: [{ name: "projects/1/secrets/shop", annotations: { url: site } }] }];
    if (path === `${secrets}/shop/versions/latest:access`)
      return [200, { name: "", payload: { data: Buffer.from(JSON.stringify(login)).toString("base64") } }];
    return [404, { error: { code: 404, status: "NOT_FOUND" } }];
  });
  const token = JSON.stringify({
    type: "service_account",
    project_id: "p1",
    client_email: "shoal@p1",
    private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
    token_uri: `${standIn.url}/token`,
  });
  return {
    standIn,
    token,
    settings: { address: standIn.url },
    path: "p1/shop",
    missing: "p1/nothing",
    revoke: () => (valid = "none"),
  };
}

/** Starts the stand-in of each kind. */
export const stores: Readonly<Record<string, { readonly kind: string; readonly start: () => Promise<TestStore> }>> = {
  "Vault, KV 2": { kind: "vault", start: () => kv("2") },
  "Vault, KV 1": { kind: "vault", start: () => kv("1") },
  "Vault, AppRole in a namespace": { kind: "vault", start: () => kv("2", { appRole: true, namespace: "team-a" }) },
  OpenBao: { kind: "openbao", start: () => kv("2", { namespace: "team-a" }) },
  "1Password Connect": { kind: "onepassword_connect", start: connect },
  Bitwarden: { kind: "bitwarden", start: bitwarden },
  Infisical: { kind: "infisical", start: infisical },
  Doppler: { kind: "doppler", start: doppler },
  "AWS Secrets Manager": { kind: "aws_secrets_manager", start: aws },
  "Google Secret Manager": { kind: "google_secret_manager", start: google },
};
