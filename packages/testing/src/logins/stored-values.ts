import type { AskedField } from "@shoal/contract/logins";
import { readTotp, type Totp, totpCode } from "@shoal/primitives/totp";
import type { FakeProviderItem } from "../state/logins.ts";
import type { ConnectionRow, Store } from "../state/store.ts";

/** Names under which a value for a kind may be stored, the best first. */
const namesOfKind: Readonly<Partial<Record<string, readonly string[]>>> = {
  username: ["username", "email", "login", "user", "phone"],
  email: ["email", "username", "login", "user"],
  phone: ["phone", "username", "login"],
  organization: ["organization", "organisation", "company", "workspace"],
};
const limits: Readonly<Partial<Record<string, number>>> = { password: 1, otp: 2 };
const usualLimit = 3;

interface Found {
  readonly values: ReadonlyMap<string, string>;
  readonly totp?: Totp | undefined;
}

function isFor(domain: string, url: string): boolean {
  const host = URL.canParse(url) ? new URL(url).host : url;
  return domain === host || domain.endsWith(`.${host}`);
}

function itemOf(store: Store, { credentialSource: source, domain, projectId }: ConnectionRow) {
  const provider = store.credentialProviders.find(
    (row) => row.projectId === projectId && row.name === source?.provider && row.enabled,
  );
  const items = provider === undefined ? [] : (store.providerItems.get(provider.name) ?? []);
  return items.find(({ path, urls = [] }) =>
    source?.path === undefined ? urls.some((url) => isFor(domain, url)) : path === source.path,
  );
}

function fromItem({ totp_secret: secret, values }: FakeProviderItem): Found {
  const totp = secret === undefined ? undefined : readTotp(secret);
  return {
    values: new Map(Object.entries(values)),
    totp: totp === undefined || "problem" in totp ? undefined : totp,
  };
}

/** The stored values of a connection, for one login: each is tried once, codes twice. */
export class StoredValues {
  /** Why stored values are missing, for people. */
  readonly note: string | undefined;
  readonly #found: Found;
  readonly #used = new Map<string, number>();

  constructor(store: Store, connection: ConnectionRow) {
    const { credential, credentialSource: source, domain } = connection;
    const item = source && itemOf(store, connection);
    if (source !== undefined && item === undefined) {
      const what = source.path === undefined ? `no item for ${domain}` : "no item at this path";
      this.note = `The credential provider could not be used, so a person is asked. ${source.provider}: It has ${what}.`;
    }
    this.#found = credential ?? (item === undefined ? { values: new Map() } : fromItem(item));
  }

  /** Counts a use of the returned value. */
  take({ kind, name }: AskedField): string | undefined {
    const { totp, values } = this.#found;
    const names = [name, ...(namesOfKind[kind] ?? [])];
    const stored = kind === "otp" && totp !== undefined ? name : names.find((candidate) => values.has(candidate));
    if (stored === undefined) return undefined;
    const used = this.#used.get(stored) ?? 0;
    if (used >= (limits[kind] ?? usualLimit)) return undefined;
    this.#used.set(stored, used + 1);
    return kind === "otp" && totp !== undefined ? totpCode(totp, new Date()).code : values.get(stored);
  }
}
