import type { CredentialProvider, ProviderItem } from "@shoal/server";
import type { FakeProviderItem } from "./provider-item.ts";

function toItem({ path, urls = [] }: FakeProviderItem): ProviderItem {
  const end = path.lastIndexOf("/");
  const vault = path.slice(0, Math.max(0, end));
  return { id: path, title: path.slice(end + 1), path, vault: { id: vault, name: vault }, urls };
}

/** The secret stores of credential providers, by the name of the provider. */
export class ScriptedStores {
  readonly #items = new Map<string, readonly FakeProviderItem[]>();

  add(provider: string, item: FakeProviderItem): void {
    this.#items.set(provider, [...this.#of(provider), item]);
  }

  clear(): void {
    this.#items.clear();
  }

  open(name: string): CredentialProvider {
    return {
      test: () => {
        const vaults = new Set(this.#of(name).map((item) => toItem(item).vault.name));
        return Promise.resolve(
          [...(vaults.size > 0 ? vaults : ["Vault"])].map((vault) => ({ id: vault, name: vault })),
        );
      },
      items: () => Promise.resolve(this.#of(name).map(toItem)),
      read: ({ path }) => {
        const item = this.#of(name).find((one) => one.path === path);
        if (item === undefined) return Promise.resolve(undefined);
        const { totp_secret: secret, values } = item;
        return Promise.resolve({ values, ...(secret !== undefined && { totp: { secret } }) });
      },
    };
  }

  #of(provider: string): readonly FakeProviderItem[] {
    return this.#items.get(provider) ?? [];
  }
}
