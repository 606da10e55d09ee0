import { LRUCache } from "lru-cache";
import { AskedProvider } from "./asked-provider.ts";
import type {
  CredentialProvider,
  ProviderHttp,
  ProviderItem,
  ProviderTotp,
  ProviderValues,
} from "./interface/credential-provider.ts";
import { ProviderFailure } from "./interface/provider-failure.ts";
import type { OperatorProviders } from "./operator-providers.ts";
import { type ProviderKinds, withFallbacks } from "./provider-kinds.ts";
import type { ProviderRow, ProviderStore } from "./provider-store.ts";

/** `path` needs `provider`, the name of a provider; without both, all providers are asked in their order. */
export type WantedCredential =
  | { readonly domain: string; readonly provider?: string | undefined; readonly path?: undefined }
  | { readonly provider: string; readonly path: string };

/** The values of an item, or why no provider has one. */
export type FoundCredential =
  | {
      readonly values: Readonly<Record<string, string>>;
      readonly totp?: ProviderTotp | undefined;
      /** Of the item: URLs, host names, or `*.example.com`. Values are typed nowhere else. */
      readonly sites: readonly string[];
      readonly source: { readonly provider: string; readonly path: string };
    }
  | { readonly reasons: readonly { readonly provider: string; readonly reason: string }[] };

const maxOpenProviders = 200;
const idleMs = 60 * 60 * 1000;

export type OpenCredentialProvider = (stored: Pick<ProviderRow, "name" | "provider_type">) => CredentialProvider;

export interface OpenedProvidersParts {
  readonly http: ProviderHttp;
  readonly kinds: ProviderKinds;
  /** Replaces what connects to the secret stores. Its answers are not cached. */
  readonly open?: OpenCredentialProvider | undefined;
  readonly store: Pick<ProviderStore, "tokenOf">;
  readonly timeoutMs: number;
}

/** Keeps the providers of recent requests with their sessions and answers. */
export class OpenedProviders {
  readonly #parts: OpenedProvidersParts;
  readonly #kept = new LRUCache<string, { readonly revision: number; readonly asked: AskedProvider }>({
    max: maxOpenProviders,
    ttl: idleMs,
    updateAgeOnGet: true,
  });

  constructor(parts: OpenedProvidersParts) {
    this.#parts = parts;
  }

  of(row: ProviderRow): AskedProvider {
    const kept = this.#kept.get(row.id);
    if (kept?.revision === row.revision) return kept.asked;
    const asked = new AskedProvider({
      open: () => this.#open(row),
      timeoutMs: this.#parts.timeoutMs,
      cacheMs: this.#parts.open === undefined ? row.cache_ttl_seconds * 1000 : 0,
      now: Date.now,
    });
    this.#kept.set(row.id, { revision: row.revision, asked });
    return asked;
  }

  /** Call when a provider has changed on any server; `undefined` = all may have changed. */
  forget(id: string | undefined): void {
    if (id === undefined) this.#kept.clear();
    else this.#kept.delete(id);
  }

  async #open(row: ProviderRow) {
    const { http, kinds, open, store } = this.#parts;
    if (open !== undefined) return { token: "", provider: open(row) };
    const kind = kinds.find(row.provider_type);
    if (kind === undefined)
      throw new ProviderFailure(
        `This server has no kind of provider ${row.provider_type}; the operator can add its module.`,
      );
    const token = await store.tokenOf(row);
    return { token, provider: kind.open({ http, token, settings: withFallbacks(kind, row.settings) }) };
  }
}

interface Candidate {
  readonly name: string;
  readonly asked: AskedProvider;
}

/** Finds login data in the providers of a project. */
export class CredentialLookup {
  readonly #store: ProviderStore;
  readonly #opened: OpenedProviders;
  readonly #operator: OperatorProviders;

  constructor(parts: {
    readonly store: ProviderStore;
    readonly opened: OpenedProviders;
    readonly operator: OperatorProviders;
  }) {
    this.#store = parts.store;
    this.#opened = parts.opened;
    this.#operator = parts.operator;
  }

  /**
   * The first match of the providers, in their order; a provider that fails adds a reason, and the next one is asked.
   * Rejects only when `signal` aborts or the database fails. Values must not be stored.
   */
  async find(projectId: string, wanted: WantedCredential, signal: AbortSignal): Promise<FoundCredential> {
    const reasons: { provider: string; reason: string }[] = [];
    const candidates = await this.#candidates(projectId, wanted.provider);
    if (typeof candidates === "string") return { reasons: [{ provider: wanted.provider ?? "", reason: candidates }] };
    for (const { asked, name } of candidates) {
      try {
        const found =
          wanted.path === undefined
            ? await withSites(asked, await asked.itemFor(wanted.domain, signal), signal)
            : await atPath(asked, wanted.path, signal);
        if (found !== undefined) {
          const { path, sites, values } = found;
          return { ...values, sites, source: { provider: name, path } };
        }
        reasons.push({ provider: name, reason: missing(wanted) });
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof ProviderFailure)) throw error;
        reasons.push({ provider: name, reason: error.message });
      }
    }
    return { reasons };
  }

  /** Whether the project can use a provider of this name. */
  async has(projectId: string, provider: string): Promise<boolean> {
    if ((await this.#store.findByName(projectId, provider)) !== undefined) return true;
    return (await this.#operator.of(projectId)).some(({ name }) => name === provider);
  }

  /** @returns why a named provider cannot be asked. */
  async #candidates(projectId: string, name: string | undefined): Promise<readonly Candidate[] | string> {
    const ofOperator = await this.#operator.of(projectId);
    if (name === undefined) {
      const rows = await this.#store.enabled(projectId);
      return [...rows.map((row) => ({ name: row.name, asked: this.#opened.of(row) })), ...ofOperator];
    }
    const row = await this.#store.findByName(projectId, name);
    if (row === undefined) {
      const own = ofOperator.find((each) => each.name === name);
      return own === undefined ? "The project has no credential provider of this name." : [own];
    }
    return row.enabled ? [{ name, asked: this.#opened.of(row) }] : "It is disabled.";
  }
}

interface ReadItem {
  readonly path: string;
  readonly values: Omit<ProviderValues, "urls">;
  readonly sites: readonly string[];
}

/** Reads the item by its id, so that values and sites are of one item. */
async function withSites(
  asked: AskedProvider,
  item: ProviderItem | undefined,
  signal: AbortSignal,
): Promise<ReadItem | undefined> {
  const read = item && (await asked.read(item, signal));
  if (item === undefined || read === undefined) return undefined;
  const { urls = [], ...values } = read;
  return { path: item.path, values, sites: urls.length > 0 ? urls : item.urls };
}

async function atPath(asked: AskedProvider, path: string, signal: AbortSignal): Promise<ReadItem | undefined> {
  const read = await asked.read({ path }, signal);
  if (read === undefined) return undefined;
  const { urls: sites = [], ...values } = read;
  if (sites.length > 0) return { path, values, sites };
  const item = itemNamed(await asked.items(signal), path);
  if (item === undefined) return { path, values, sites };
  const found = await withSites(asked, item, signal);
  return found && { ...found, path };
}

/** A path names its item by name or by id. @throws {ProviderFailure} when it names several. */
function itemNamed(items: readonly ProviderItem[], path: string): ProviderItem | undefined {
  const exact = items.filter((item) => item.path === path);
  const named =
    exact.length > 0
      ? exact
      : items.filter(({ id, title, vault }) =>
          [id, title].some((item) => path === `${vault.id}/${item}` || path === `${vault.name}/${item}`),
        );
  const ids = [...new Set(named.map(({ id }) => id))];
  if (ids.length > 1)
    throw new ProviderFailure(
      `Several items have this path, with the ids ${ids.slice(0, 5).join(", ")}. Give them different titles.`,
    );
  return named[0];
}

function missing(wanted: WantedCredential): string {
  return wanted.path === undefined ? `It has no item for ${wanted.domain}.` : "It has no item at this path.";
}
