import { importPKCS8 } from "jose/key/import";
import { SignJWT } from "jose/jwt/sign";
import * as z from "zod/mini";
import {
  type CredentialProvider,
  type CredentialProviderKind,
  type ItemReference,
  maxItems,
  type ProviderItem,
  type ProviderOptions,
  type ProviderValues,
  type ProviderVault,
} from "../interface/credential-provider.ts";
import { ProviderFailure } from "../interface/provider-failure.ts";
import { addressOf, fieldsOfText, itemOf, understood, urlsOf, valuesOf } from "./login-values.ts";
import { RenewedToken } from "./renewed-token.ts";

const title = "Google Secret Manager";
const maxPages = 10;
const scope = "https://www.googleapis.com/auth/cloud-platform";

const ServiceAccount = z.object({
  client_email: z.string(),
  private_key: z.string(),
  project_id: z.optional(z.string()),
  token_uri: z._default(z.string(), "https://oauth2.googleapis.com/token"),
});
const Grant = z.object({ access_token: z.string(), expires_in: z.number() });
const Texts = z.optional(z.nullable(z.record(z.string(), z.string())));
const Secrets = z.object({
  secrets: z.optional(z.array(z.object({ name: z.string(), labels: Texts, annotations: Texts }))),
  nextPageToken: z.optional(z.string()),
});
const Version = z.object({ payload: z.object({ data: z.optional(z.string()) }) });

function accountOf(token: string): z.output<typeof ServiceAccount> | undefined {
  try {
    return ServiceAccount.safeParse(JSON.parse(token)).data;
  } catch {
    return undefined;
  }
}

/** The JWT grant of RFC 7523. */
async function assertionOf({ client_email, private_key, token_uri }: z.output<typeof ServiceAccount>): Promise<string> {
  try {
    return await new SignJWT({ scope })
      .setProtectedHeader({ alg: "RS256", typ: "JWT" })
      .setIssuer(client_email)
      .setAudience(token_uri)
      .setIssuedAt()
      .setExpirationTime("10m")
      .sign(await importPKCS8(private_key, "RS256"));
  } catch {
    // The cause may quote the key.
    throw new ProviderFailure("The private key in the token is invalid; create another key of the service account.");
  }
}

class GoogleProvider implements CredentialProvider {
  readonly #options: ProviderOptions;
  readonly #account: z.output<typeof ServiceAccount> | undefined;
  readonly #token: RenewedToken;

  constructor(options: ProviderOptions) {
    this.#options = options;
    const account = accountOf(options.token);
    this.#account = account;
    this.#token = new RenewedToken(async (signal) => {
      if (account === undefined) throw new ProviderFailure("The token must be the JSON key of a service account.");
      const { json } = await options.http.send({
        url: account.token_uri,
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({
          grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
          assertion: await assertionOf(account),
        }).toString(),
        signal,
      });
      const { access_token, expires_in } = understood(Grant, json, title);
      return { token: access_token, seconds: expires_in };
    }, Date.now);
  }

  async test(signal: AbortSignal): Promise<readonly ProviderVault[]> {
    await this.#page(signal, { pageSize: "1" });
    return [this.#vault];
  }

  async items(signal: AbortSignal): Promise<readonly ProviderItem[]> {
    const found: ProviderItem[] = [];
    let token: string | undefined;
    for (let page = 0; page < maxPages && found.length < maxItems; page += 1) {
      const query = { pageSize: "250", ...(token !== undefined && { pageToken: token }) };
      const { nextPageToken, secrets = [] } = await this.#page(signal, query);
      for (const { annotations, labels, name } of secrets) {
        const path = name.slice(name.lastIndexOf("/") + 1);
        found.push(itemOf(this.#vault, { id: path, path, urls: urlsOf({ ...labels, ...annotations }) }));
      }
      if (nextPageToken === undefined || nextPageToken === "") break;
      token = nextPageToken;
    }
    return found.slice(0, maxItems);
  }

  async read({ path }: ItemReference, signal: AbortSignal): Promise<ProviderValues | undefined> {
    const name = path.slice(path.indexOf("/") + 1);
    if (!/^[\w-]{1,255}$/.test(name))
      throw new ProviderFailure("The path must be PROJECT/SECRET, as listed by the items of the provider.");
    const json = await this.#get(`secrets/${name}/versions/latest:access`, signal, {});
    if (json === undefined) return undefined;
    const { data = "" } = understood(Version, json, title).payload;
    return valuesOf(fieldsOfText(Buffer.from(data, "base64").toString("utf8")));
  }

  get #vault(): ProviderVault {
    const name = this.#options.settings.project ?? this.#account?.project_id ?? "";
    return { id: name, name };
  }

  async #page(signal: AbortSignal, query: Readonly<Record<string, string>>): Promise<z.output<typeof Secrets>> {
    const json = await this.#get("secrets", signal, query);
    if (json === undefined) throw new ProviderFailure(`Google has no project ${JSON.stringify(this.#vault.name)}.`);
    return understood(Secrets, json, title);
  }

  /** @returns `undefined` after a 404. */
  async #get(path: string, signal: AbortSignal, query: Readonly<Record<string, string>>): Promise<unknown> {
    const { http, settings } = this.#options;
    // Encoded segments would change the colon before the verb.
    const url = new URL(`${addressOf(settings.address ?? "", "v1/projects", this.#vault.name).href}/${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    for (let attempt = 0; ; attempt += 1) {
      const token = await this.#token.get(signal);
      const headers = { authorization: `Bearer ${token}` };
      const { json, status } = await http.send({ url, headers, signal, accepts: attempt === 0 ? [401, 404] : [404] });
      if (status !== 401) return status === 404 ? undefined : json;
      this.#token.forget(token);
    }
  }
}

export const googleSecretManager: CredentialProviderKind = {
  kind: "google_secret_manager",
  title,
  settings: {
    project: { description: "the project; by default the one of the service account" },
    address: { description: "another endpoint", isAddress: true, fallback: "https://secretmanager.googleapis.com" },
  },
  check: (token) =>
    accountOf(token) === undefined
      ? { field: "token", problem: "expected the JSON key of a service account" }
      : undefined,
  open: (options) => new GoogleProvider(options),
};
