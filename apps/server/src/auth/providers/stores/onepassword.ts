import type { Client, Item, ItemField } from "@1password/sdk";
import pLimit from "p-limit";
import { version } from "../../../config/version.ts";
import {
  type CredentialProvider,
  type CredentialProviderKind,
  type ItemReference,
  maxItems,
  type ProviderItem,
  type ProviderTotp,
  type ProviderValues,
  type ProviderVault,
} from "../interface/credential-provider.ts";
import { ProviderFailure } from "../interface/provider-failure.ts";
import { splitPath, valuesOf } from "./login-values.ts";

const maxVaults = 50;

/** The SDK connects to the address in the token, past the service's rules for addresses. */
function signInHost(token: string): string | undefined {
  try {
    const content: unknown = JSON.parse(Buffer.from(token.replace(/^ops_/, ""), "base64url").toString("utf8"));
    const address = (content as { readonly signInAddress?: unknown } | null)?.signInAddress;
    if (typeof address !== "string") return undefined;
    return URL.parse(address.includes("://") ? address : `https://${address}`)?.hostname;
  } catch {
    return undefined;
  }
}

function tokenProblem(token: string): string | undefined {
  if (!token.startsWith("ops_")) return "of a service account must begin with ops_";
  const host = signInHost(token);
  if (host === undefined) return "is incomplete; copy the token again";
  return /^(?:[a-z0-9-]+\.)*1password\.(?:com|ca|eu)$/.test(host)
    ? undefined
    : "is not for 1password.com, 1password.ca or 1password.eu";
}

const totpOf = (field: ItemField): ProviderTotp | undefined => {
  if (field.value !== "") return { secret: field.value };
  const code = field.details?.type === "Otp" ? field.details.content.code : undefined;
  return code === undefined ? undefined : { code };
};

function toValues({ fields }: Pick<Item, "fields">): ProviderValues {
  const isTotp = ({ fieldType }: ItemField) => fieldType.toString() === "Totp";
  const named = fields
    .filter((field) => !isTotp(field))
    .map(({ id, title, value }) => [id === "username" || id === "password" ? id : title, value]);
  const { values } = valuesOf(Object.fromEntries(named) as Record<string, string>);
  const code = fields.find(isTotp);
  return { values, totp: code && totpOf(code) };
}

/** The SDK takes no signal; an abandoned call ends later. */
async function orAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => {
    reject(signal.reason as Error);
  };
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ProviderFailure) throw error;
    // Without the SDK's error: it is not documented to be free of secrets.
    throw new ProviderFailure("1Password refused the request; check that the token is valid and may read these items.");
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

async function connect(token: string): Promise<Client> {
  const problem = tokenProblem(token);
  if (problem !== undefined) throw new ProviderFailure(`The token ${problem}.`);
  const { createClient } = await import("@1password/sdk").catch((error: unknown) => {
    throw new ProviderFailure(
      "The package @1password/sdk, an optional dependency of the service, is not installed. The operator can install it.",
      { cause: error },
    );
  });
  return createClient({ auth: token, integrationName: "Shoal", integrationVersion: `v${version}` });
}

class ServiceAccountProvider implements CredentialProvider {
  readonly #token: string;
  #client: Promise<Client> | undefined;

  constructor(token: string) {
    this.#token = token;
  }

  async test(signal: AbortSignal): Promise<readonly ProviderVault[]> {
    const vaults = await this.#call(signal, (client) => client.vaults.list());
    return vaults.slice(0, maxVaults).map(({ id, title: name }) => ({ id, name }));
  }

  async items(signal: AbortSignal): Promise<readonly ProviderItem[]> {
    const limit = pLimit(4);
    const vaults = await this.test(signal);
    const lists = await Promise.all(vaults.map((vault) => limit(() => this.#itemsOf(vault, signal))));
    return lists.flat().slice(0, maxItems);
  }

  async read({ id, path, vault }: ItemReference, signal: AbortSignal): Promise<ProviderValues | undefined> {
    const found = id !== undefined && vault !== undefined ? { id, vault } : await this.#named(path, signal);
    if (found === undefined) return undefined;
    return toValues(await this.#call(signal, (client) => client.items.get(found.vault.id, found.id)));
  }

  async #itemsOf(vault: ProviderVault, signal: AbortSignal): Promise<ProviderItem[]> {
    const items = await this.#call(signal, (client) => client.items.list(vault.id));
    return items.map(({ id, title, websites }) => ({
      id,
      title,
      path: `${vault.name}/${title}`,
      vault,
      urls: websites.filter(({ autofillBehavior }) => autofillBehavior.toString() !== "Never").map(({ url }) => url),
    }));
  }

  async #named(path: string, signal: AbortSignal): Promise<ProviderItem | undefined> {
    const names = splitPath(path);
    const vault = names && (await this.test(signal)).find(({ id, name }) => name === names.vault || id === names.vault);
    if (names === undefined || vault === undefined) return undefined;
    const items = await this.#itemsOf(vault, signal);
    return items.find(({ id, title }) => title === names.item || id === names.item);
  }

  async #call<Result>(signal: AbortSignal, work: (client: Client) => Promise<Result>): Promise<Result> {
    this.#client ??= connect(this.#token).catch((error: unknown) => {
      this.#client = undefined;
      throw error;
    });
    return orAborted(this.#client.then(work), signal);
  }
}

export const onepassword: CredentialProviderKind = {
  kind: "onepassword",
  title: "1Password",
  settings: {},
  open: ({ token }) => new ServiceAccountProvider(token),
};
