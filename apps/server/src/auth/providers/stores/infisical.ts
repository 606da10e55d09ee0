import * as z from "zod/mini";
import {
  type CredentialProvider,
  type CredentialProviderKind,
  type ItemReference,
  maxItems,
  type ProviderItem,
  type ProviderOptions,
  type ProviderRequest,
  type ProviderValues,
  type ProviderVault,
} from "../interface/credential-provider.ts";
import { addressOf, itemOf, understood, urlsOf, valuesOf } from "./login-values.ts";
import { RenewedToken } from "./renewed-token.ts";

const title = "Infisical";
const Login = z.object({ accessToken: z.string(), expiresIn: z.number() });
const Secrets = z.object({
  secrets: z.array(
    z.object({ secretKey: z.string(), secretValue: z.optional(z.string()), secretPath: z.optional(z.string()) }),
  ),
});

/** One folder for each login; its secrets are `USERNAME`, `PASSWORD`, `TOTP` and `URL`. */
class InfisicalProvider implements CredentialProvider {
  readonly #options: ProviderOptions;
  readonly #token: RenewedToken;

  constructor(options: ProviderOptions) {
    this.#options = options;
    this.#token = new RenewedToken(async (signal) => {
      const { address = "", client_id } = options.settings;
      const { json } = await options.http.send({
        url: addressOf(address, "api/v1/auth/universal-auth/login"),
        method: "POST",
        body: { clientId: client_id, clientSecret: options.token },
        signal,
      });
      const { accessToken, expiresIn } = understood(Login, json, title);
      return { token: accessToken, seconds: expiresIn };
    }, Date.now);
  }

  async test(signal: AbortSignal): Promise<readonly ProviderVault[]> {
    await this.#folders(signal);
    return [this.#vault];
  }

  async items(signal: AbortSignal): Promise<readonly ProviderItem[]> {
    return [...(await this.#folders(signal))]
      .slice(0, maxItems)
      .map(([path, fields]) => itemOf(this.#vault, { id: path, path, urls: urlsOf(fields) }));
  }

  async read({ path }: ItemReference, signal: AbortSignal): Promise<ProviderValues | undefined> {
    const prefix = `${this.#vault.name}/`;
    const fields = path.startsWith(prefix) ? (await this.#folders(signal)).get(path.slice(prefix.length)) : undefined;
    return fields && valuesOf(fields);
  }

  get #vault(): ProviderVault {
    const { environment = "", project_id = "" } = this.#options.settings;
    return { id: `${project_id}/${environment}`, name: environment };
  }

  async #folders(signal: AbortSignal): Promise<Map<string, Record<string, string>>> {
    const { address = "", environment = "", path = "/", project_id = "" } = this.#options.settings;
    const url = addressOf(address, "api/v4/secrets");
    const query = { projectId: project_id, environment, secretPath: path, recursive: "true", viewSecretValue: "true" };
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const { secrets } = understood(Secrets, await this.#get({ url, signal }), title);
    const folders = new Map<string, Record<string, string>>();
    for (const { secretKey, secretPath = path, secretValue = "" } of secrets) {
      const folder = secretPath.replaceAll(/^\/+|(?<!\/)\/+$/g, "");
      if (folder !== "") folders.set(folder, { ...folders.get(folder), [secretKey]: secretValue });
    }
    return folders;
  }

  /** Signs in again once after a 401: the token may have been revoked. */
  async #get(request: ProviderRequest): Promise<unknown> {
    const { http } = this.#options;
    const token = await this.#token.get(request.signal);
    const first = await http.send({ ...request, headers: { authorization: `Bearer ${token}` }, accepts: [401] });
    if (first.status !== 401) return first.json;
    this.#token.forget(token);
    const next = await this.#token.get(request.signal);
    return (await http.send({ ...request, headers: { authorization: `Bearer ${next}` } })).json;
  }
}

export const infisical: CredentialProviderKind = {
  kind: "infisical",
  title,
  settings: {
    address: { description: "the address of Infisical", isAddress: true, fallback: "https://app.infisical.com" },
    client_id: { description: "the client id of a machine identity; the token is its client secret", isRequired: true },
    project_id: { description: "the id of the project", isRequired: true },
    environment: { description: "the slug of the environment, such as prod", isRequired: true },
    path: { description: "the folder that contains the folders of the logins", fallback: "/" },
  },
  open: (options) => new InfisicalProvider(options),
};
