import pLimit from "p-limit";
import * as z from "zod/mini";
import {
  type CredentialProvider,
  type CredentialProviderKind,
  type ItemReference,
  maxItems,
  type ProviderItem,
  type ProviderOptions,
  type ProviderTotp,
  type ProviderValues,
  type ProviderVault,
} from "../interface/credential-provider.ts";
import { addressOf, splitPath, understood, valuesOf } from "./login-values.ts";

const title = "1Password Connect";
const maxVaults = 50;

const Vaults = z.array(z.object({ id: z.string(), name: z.string() }));
const ItemSummary = z.object({
  id: z.string(),
  title: z.string(),
  urls: z.optional(z.nullable(z.array(z.object({ href: z.optional(z.nullable(z.string())) })))),
});
const Items = z.array(ItemSummary);
const Field = z.object({
  id: z.optional(z.string()),
  type: z.optional(z.string()),
  purpose: z.optional(z.nullable(z.string())),
  label: z.optional(z.nullable(z.string())),
  value: z.optional(z.nullable(z.string())),
  totp: z.optional(z.nullable(z.string())),
});
const FullItem = z.object({ fields: z.optional(z.nullable(z.array(Field))) });

function toItem(vault: ProviderVault, item: z.output<typeof ItemSummary>): ProviderItem {
  return {
    id: item.id,
    title: item.title,
    path: `${vault.name}/${item.title}`,
    vault,
    urls: (item.urls ?? []).flatMap(({ href }) => (href === null || href === undefined ? [] : [href])),
  };
}

function totpOf({ totp, value }: z.output<typeof Field>): ProviderTotp | undefined {
  if (value !== undefined && value !== null && value !== "") return { secret: value };
  return totp === undefined || totp === null || totp === "" ? undefined : { code: totp };
}

/** @param fields - purposes name the fields of a login; others keep their labels. */
function toValues(fields: readonly z.output<typeof Field>[]): ProviderValues {
  const isTotp = ({ type }: z.output<typeof Field>) => type === "OTP" || type === "TOTP";
  const named = fields
    .filter((field) => !isTotp(field) && field.purpose !== "NOTES")
    .map(({ id, label, purpose, value }) => [
      purpose === "USERNAME" || purpose === "PASSWORD" ? purpose.toLowerCase() : (label ?? id ?? ""),
      value ?? "",
    ]);
  const { values } = valuesOf(Object.fromEntries(named) as Record<string, string>);
  const code = fields.find(isTotp);
  return { values, totp: code && totpOf(code) };
}

class ConnectProvider implements CredentialProvider {
  readonly #options: ProviderOptions;

  constructor(options: ProviderOptions) {
    this.#options = options;
  }

  async test(signal: AbortSignal): Promise<readonly ProviderVault[]> {
    return understood(Vaults, await this.#get(["vaults"], { signal }), title);
  }

  async items(signal: AbortSignal): Promise<readonly ProviderItem[]> {
    const limit = pLimit(4);
    const vaults = (await this.test(signal)).slice(0, maxVaults);
    const lists = await Promise.all(vaults.map((vault) => limit(() => this.#itemsOf(vault, signal))));
    return lists.flat().slice(0, maxItems);
  }

  async read({ id, path, vault }: ItemReference, signal: AbortSignal): Promise<ProviderValues | undefined> {
    const found = id !== undefined && vault !== undefined ? { id, vault } : await this.#named(path, signal);
    if (found === undefined) return undefined;
    const json = await this.#get(["vaults", found.vault.id, "items", found.id], { signal });
    return json === undefined ? undefined : toValues(understood(FullItem, json, title).fields ?? []);
  }

  async #itemsOf(vault: ProviderVault, signal: AbortSignal): Promise<ProviderItem[]> {
    const json = await this.#get(["vaults", vault.id, "items"], { signal });
    return json === undefined ? [] : understood(Items, json, title).map((item) => toItem(vault, item));
  }

  /** Filters quote their text, so a name with a quote is compared here. */
  async #named(path: string, signal: AbortSignal): Promise<ProviderItem | undefined> {
    const names = splitPath(path);
    const vault = names && (await this.test(signal)).find(({ id, name }) => name === names.vault || id === names.vault);
    if (names === undefined || vault === undefined) return undefined;
    const filter = names.item.includes('"') ? undefined : `title eq "${names.item}"`;
    const json = await this.#get(["vaults", vault.id, "items"], { signal, filter });
    const items = understood(Items, json ?? [], title);
    const found = items.find(({ id, title: name }) => name === names.item || id === names.item);
    return found && toItem(vault, found);
  }

  async #get(
    path: readonly string[],
    { filter, signal }: { readonly signal: AbortSignal; readonly filter?: string | undefined },
  ): Promise<unknown> {
    const url = addressOf(this.#options.settings.address ?? "", "v1", ...path);
    if (filter !== undefined) url.searchParams.set("filter", filter);
    const { json, status } = await this.#options.http.send({
      url,
      headers: { authorization: `Bearer ${this.#options.token}` },
      signal,
      accepts: path.length > 1 ? [404] : [],
    });
    return status === 404 ? undefined : json;
  }
}

export const onepasswordConnect: CredentialProviderKind = {
  kind: "onepassword_connect",
  title,
  settings: {
    address: {
      description: "the address of the Connect server, https://connect.example:8080",
      isRequired: true,
      isAddress: true,
    },
  },
  open: (options) => new ConnectProvider(options),
};
