import { pathSegment } from "@shoal/primitives";
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
import { addressOf, splitPath, understood, valuesOf } from "./login-values.ts";

const title = "Bitwarden";
/** Items of the account itself have no organisation. */
const ownVault: ProviderVault = { id: "personal", name: "My vault" };

const optionalText = z.optional(z.nullable(z.string()));
const Login = z.object({
  username: optionalText,
  password: optionalText,
  totp: optionalText,
  uris: z.optional(z.nullable(z.array(z.object({ uri: optionalText, match: z.optional(z.nullable(z.number())) })))),
});
const Item = z.object({
  id: z.string(),
  name: z.string(),
  organizationId: optionalText,
  login: z.optional(z.nullable(Login)),
  fields: z.optional(z.nullable(z.array(z.object({ name: optionalText, value: optionalText })))),
});
const Status = z.object({ data: z.object({ template: z.object({ status: z.string() }) }) });
const Items = z.object({ data: z.object({ data: z.array(Item) }) });
const Found = z.object({ data: Item });
const Organizations = z.object({ data: z.object({ data: z.array(z.object({ id: z.string(), name: z.string() })) }) });
/** `UriMatchType.Never` of Bitwarden's clients. */
const matchNever = 5;

function toValues({ fields, login }: z.output<typeof Item>): ProviderValues {
  const own = Object.fromEntries((fields ?? []).map(({ name, value }) => [name ?? "", value ?? ""]));
  const { username, password, totp } = login ?? {};
  return valuesOf({ ...own, username: username ?? "", password: password ?? "", totp: totp ?? "" });
}

/** Speaks to `bw serve`, which decrypts the vault. */
class BitwardenProvider implements CredentialProvider {
  readonly #options: ProviderOptions;

  constructor(options: ProviderOptions) {
    this.#options = options;
  }

  async test(signal: AbortSignal): Promise<readonly ProviderVault[]> {
    await this.#unlock(signal);
    const { data } = understood(Organizations, await this.#send("list/object/organizations", signal), title).data;
    return [ownVault, ...data];
  }

  items(signal: AbortSignal): Promise<readonly ProviderItem[]> {
    return this.#list({}, signal);
  }

  find(domain: string, signal: AbortSignal): Promise<readonly ProviderItem[]> {
    return this.#list({ url: `https://${domain}` }, signal);
  }

  async read({ id, path }: ItemReference, signal: AbortSignal): Promise<ProviderValues | undefined> {
    if (id === undefined) {
      const names = splitPath(path);
      const items = names === undefined ? [] : await this.#list({ search: names.item }, signal);
      const found = items.find((item) => item.path === path);
      return found && this.read(found, signal);
    }
    await this.#unlock(signal);
    const json = await this.#send(`object/item/${segmentOf(id)}`, signal, [404]);
    return json === undefined ? undefined : toValues(understood(Found, json, title).data);
  }

  async #list(query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<ProviderItem[]> {
    const vaults = await this.test(signal);
    const json = await this.#send(`list/object/items?${new URLSearchParams(query).toString()}`, signal);
    return understood(Items, json, title)
      .data.data.slice(0, maxItems)
      .map((item) => {
        const vault = vaults.find(({ id }) => id === item.organizationId) ?? ownVault;
        return {
          id: item.id,
          title: item.name,
          path: `${vault.name}/${item.name}`,
          vault,
          urls: (item.login?.uris ?? []).flatMap(({ match, uri }) =>
            uri === null || uri === undefined || match === matchNever ? [] : [uri],
          ),
        };
      });
  }

  /** The token is the master password. A vault that is already unlocked needs none. */
  async #unlock(signal: AbortSignal): Promise<void> {
    const { status } = understood(Status, await this.#send("status", signal), title).data.template;
    if (status === "unlocked") return;
    if (status === "unauthenticated")
      throw new ProviderFailure("bw serve is not logged in; run bw login on its machine.");
    const url = addressOf(this.#options.settings.address ?? "", "unlock");
    const answer = await this.#options.http.send({
      url,
      method: "POST",
      body: { password: this.#options.token },
      signal,
      accepts: [400],
    });
    if (answer.status === 400)
      throw new ProviderFailure("Bitwarden refused the token; it must be the master password of the account.");
  }

  async #send(path: string, signal: AbortSignal, accepts: readonly number[] = []): Promise<unknown> {
    const base = (this.#options.settings.address ?? "").replace(/(?<!\/)\/+$/, "");
    const { json, status } = await this.#options.http.send({ url: `${base}/${path}`, signal, accepts });
    return status === 404 ? undefined : json;
  }
}

/** Ids are stored with connections, whose callers choose them. */
function segmentOf(id: string): string {
  const segment = pathSegment(id);
  if (segment === undefined) throw new ProviderFailure("The id of the item is invalid.");
  return segment;
}

export const bitwarden: CredentialProviderKind = {
  kind: "bitwarden",
  title,
  settings: {
    address: { description: "the address of bw serve, http://127.0.0.1:8087", isRequired: true, isAddress: true },
  },
  open: (options) => new BitwardenProvider(options),
};
