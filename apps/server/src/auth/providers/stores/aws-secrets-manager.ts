import aws4 from "aws4";
import * as z from "zod/mini";
import {
  type CredentialProvider,
  type CredentialProviderKind,
  type ItemReference,
  maxItems,
  type ProviderAnswer,
  type ProviderItem,
  type ProviderOptions,
  type ProviderValues,
  type ProviderVault,
} from "../interface/credential-provider.ts";
import { ProviderFailure } from "../interface/provider-failure.ts";
import { fieldsOfText, itemOf, understood, urlsOf, valuesOf } from "./login-values.ts";

const title = "AWS Secrets Manager";
const maxPages = 10;

const Tag = z.object({ Key: z.optional(z.string()), Value: z.optional(z.string()) });
const Secrets = z.object({
  SecretList: z.array(z.object({ ARN: z.string(), Name: z.string(), Tags: z.optional(z.nullable(z.array(Tag))) })),
  NextToken: z.optional(z.nullable(z.string())),
});
const Value = z.object({ SecretString: z.optional(z.nullable(z.string())) });
const Refusal = z.object({ __type: z.optional(z.string()) });

/** AWS answers most refusals with status 400 and a type. @throws {ProviderFailure} unless the secret does not exist. */
function refuseUnlessMissing({ json }: ProviderAnswer): void {
  const type = (Refusal.safeParse(json).data?.__type ?? "").replace(/^.*#/, "");
  if (type === "ResourceNotFoundException") return;
  const known = /^[A-Za-z]{1,80}$/.test(type) ? ` (${type})` : "";
  if (type.includes("Throttling"))
    throw new ProviderFailure(`AWS received too many requests${known}.`, { status: 400, retryAfterMs: 5000 });
  throw new ProviderFailure(
    `AWS refused the request${known}; check access_key_id, the token and the permissions of the key.`,
    { status: 400 },
  );
}

class AwsProvider implements CredentialProvider {
  readonly #options: ProviderOptions;

  constructor(options: ProviderOptions) {
    this.#options = options;
  }

  async test(signal: AbortSignal): Promise<readonly ProviderVault[]> {
    understood(Secrets, await this.#call("ListSecrets", { MaxResults: 1 }, signal), title);
    return [this.#vault];
  }

  async items(signal: AbortSignal): Promise<readonly ProviderItem[]> {
    const found: ProviderItem[] = [];
    let token: string | undefined;
    for (let page = 0; page < maxPages && found.length < maxItems; page += 1) {
      const body = { MaxResults: 100, ...(token !== undefined && { NextToken: token }) };
      const { NextToken, SecretList } = understood(Secrets, await this.#call("ListSecrets", body, signal), title);
      for (const { ARN, Name, Tags } of SecretList) {
        const tags = Object.fromEntries((Tags ?? []).map(({ Key = "", Value: value }) => [Key, value]));
        found.push(itemOf(this.#vault, { id: ARN, path: Name, urls: urlsOf(tags) }));
      }
      if (NextToken === null || NextToken === undefined) break;
      token = NextToken;
    }
    return found.slice(0, maxItems);
  }

  async read({ id, path }: ItemReference, signal: AbortSignal): Promise<ProviderValues | undefined> {
    const prefix = `${this.#vault.name}/`;
    const name = id ?? (path.startsWith(prefix) ? path.slice(prefix.length) : path);
    const json = await this.#call("GetSecretValue", { SecretId: name }, signal);
    if (json === undefined) return undefined;
    const { SecretString } = understood(Value, json, title);
    return SecretString === null || SecretString === undefined ? undefined : valuesOf(fieldsOfText(SecretString));
  }

  get #vault(): ProviderVault {
    const { region = "" } = this.#options.settings;
    return { id: region, name: region };
  }

  /** @returns `undefined` when the secret does not exist. */
  async #call(action: string, content: object, signal: AbortSignal): Promise<unknown> {
    const { access_key_id = "", address, region = "" } = this.#options.settings;
    const url = new URL(address ?? `https://secretsmanager.${region}.amazonaws.com/`);
    const body = JSON.stringify(content);
    const { headers } = aws4.sign(
      {
        host: url.host,
        path: "/",
        method: "POST",
        service: "secretsmanager",
        region,
        body,
        headers: { "Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": `secretsmanager.${action}` },
      },
      { accessKeyId: access_key_id, secretAccessKey: this.#options.token },
    );
    const { Host: _host, ...signed } = headers as Record<string, string>;
    const answer = await this.#options.http.send({
      url,
      method: "POST",
      headers: Object.fromEntries(Object.entries(signed).map(([name, value]) => [name.toLowerCase(), value])),
      body,
      signal,
      accepts: [400],
    });
    if (answer.status !== 400) return answer.json;
    refuseUnlessMissing(answer);
    return undefined;
  }
}

export const awsSecretsManager: CredentialProviderKind = {
  kind: "aws_secrets_manager",
  title,
  settings: {
    region: { description: "the region, such as eu-central-1", isRequired: true },
    access_key_id: { description: "the id of the access key; the token is its secret", isRequired: true },
    address: { description: "another endpoint, such as a VPC endpoint", isAddress: true },
  },
  check: (_token, { region = "" }) =>
    /^[a-z]{2}(?:-[a-z]{2,12}){1,2}-\d{1,2}$/.test(region)
      ? undefined
      : { field: "settings.region", problem: "expected an AWS region such as eu-central-1" },
  open: (options) => new AwsProvider(options),
};
