import { addressNeedsToken, credentialProviderNameTaken, credentialProviderNotFound } from "@shoal/contract/refusals";
import type { Page } from "@shoal/contract";
import { ServiceError } from "@shoal/router";
import type {
  CreateCredentialProvider,
  CredentialProvider,
  CredentialProviderItems,
  CredentialProviderTestResult,
  ListCredentialProviders,
  UpdateCredentialProvider,
} from "@shoal/schemas";
import type * as z from "zod/mini";
import { badField } from "../../http/bad-field.ts";
import { emptyPage, isStorable, toPage } from "../../http/paging.ts";
import { isUniqueViolation } from "../../storage/errors/database-errors.ts";
import type { OpenedProviders } from "./credential-lookup.ts";
import { ProviderFailure } from "./interface/provider-failure.ts";
import type { ProviderKinds } from "./provider-kinds.ts";
import type { ProviderChanges, ProviderRow, ProviderStore } from "./provider-store.ts";

const maxProviders = 50;

function toProvider(row: ProviderRow): CredentialProvider {
  return {
    id: row.id,
    provider_type: row.provider_type,
    name: row.name,
    enabled: row.enabled,
    priority: row.priority,
    settings: row.settings,
    cache_ttl_seconds: row.cache_ttl_seconds,
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

function refuseNul(texts: Readonly<Record<string, string | null | undefined>>): void {
  for (const [field, text] of Object.entries(texts))
    if (!isStorable(text ?? undefined)) throw badField(field, "must not contain a NUL character");
}

const namedSettings = (settings: Readonly<Record<string, string | null>> = {}) =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [`settings.${name}`, value]));

/** The providers of a project. */
export class CredentialProviders {
  readonly #store: ProviderStore;
  readonly #kinds: ProviderKinds;
  readonly #opened: OpenedProviders;

  constructor(parts: {
    readonly store: ProviderStore;
    readonly kinds: ProviderKinds;
    readonly opened: OpenedProviders;
  }) {
    this.#store = parts.store;
    this.#kinds = parts.kinds;
    this.#opened = parts.opened;
  }

  async create(projectId: string, request: z.output<typeof CreateCredentialProvider>): Promise<CredentialProvider> {
    const { cache_ttl_seconds, name, priority, provider_type, settings = {}, token } = request;
    const kind = this.#kinds.require(provider_type);
    refuseNul({ token, ...namedSettings(settings) });
    await this.#kinds.check(kind, settings, token);
    let row: ProviderRow | undefined;
    try {
      row = await this.#store.insert(
        projectId,
        { name, provider_type, settings, token, cache_ttl_seconds, priority },
        maxProviders,
      );
    } catch (error) {
      throw isUniqueViolation(error) ? ServiceError.of(credentialProviderNameTaken(name)) : error;
    }
    if (row === undefined)
      throw new ServiceError(
        409,
        "conflict",
        `The limit of ${String(maxProviders)} credential providers in a project is reached.`,
        { limit: maxProviders, hint: "Delete one first." },
      );
    return toProvider(row);
  }

  async list(projectId: string, filter: z.output<typeof ListCredentialProviders>): Promise<Page<CredentialProvider>> {
    if (!isStorable(filter.query)) return emptyPage();
    return toPage(await this.#store.list(projectId, filter), filter, toProvider);
  }

  async get(projectId: string, id: string): Promise<CredentialProvider> {
    return toProvider(await this.#existing(projectId, id));
  }

  async update(
    projectId: string,
    id: string,
    request: z.output<typeof UpdateCredentialProvider>,
  ): Promise<CredentialProvider> {
    refuseNul({ token: request.token, ...namedSettings(request.settings) });
    let row: ProviderRow | undefined;
    try {
      row = isStorable(id)
        ? await this.#store.update(projectId, id, (present) => this.#changes(present, request))
        : undefined;
    } catch (error) {
      throw request.name !== undefined && isUniqueViolation(error)
        ? ServiceError.of(credentialProviderNameTaken(request.name))
        : error;
    }
    if (row === undefined) throw ServiceError.of(credentialProviderNotFound(id));
    this.#opened.forget(id);
    return toProvider(row);
  }

  async delete(projectId: string, id: string): Promise<void> {
    if (!isStorable(id) || !(await this.#store.delete(projectId, id)))
      throw ServiceError.of(credentialProviderNotFound(id));
    this.#opened.forget(id);
  }

  async test(projectId: string, id: string, signal: AbortSignal): Promise<CredentialProviderTestResult> {
    const row = await this.#existing(projectId, id);
    try {
      const vaults = await this.#opened.of(row).test(signal);
      return { success: true, vaults: vaults.map(({ id: vaultId, name }) => ({ id: vaultId, name })) };
    } catch (error) {
      if (!(error instanceof ProviderFailure)) throw error;
      return { success: false, vaults: [], error: error.message };
    }
  }

  /** @throws {ServiceError} 502 with the reason when the store fails. */
  async items(projectId: string, id: string, signal: AbortSignal): Promise<CredentialProviderItems> {
    const row = await this.#existing(projectId, id);
    try {
      const items = await this.#opened.of(row).items(signal);
      return {
        items: items.map(({ path, title, urls, vault, ...item }) => ({
          id: item.id,
          title,
          vault_id: vault.id,
          vault_name: vault.name,
          path,
          urls: [...urls],
        })),
      };
    } catch (error) {
      if (!(error instanceof ProviderFailure)) throw error;
      throw new ServiceError(502, "bad_gateway", `Credential provider ${JSON.stringify(row.name)}: ${error.message}`, {
        hint: "Run credentialProviders.test after a change.",
        ...(error.retryAfterMs !== undefined && { retryAfterSeconds: Math.ceil(error.retryAfterMs / 1000) }),
      });
    }
  }

  async #changes(
    row: ProviderRow,
    { settings: changed, ...others }: z.output<typeof UpdateCredentialProvider>,
  ): Promise<ProviderChanges> {
    if (changed === undefined && others.token === undefined) return others;
    const kind = this.#kinds.require(row.provider_type);
    const merged = Object.entries({ ...row.settings, ...changed }).filter(([, value]) => value !== null);
    const settings = Object.fromEntries(merged) as Record<string, string>;
    for (const [name, { isAddress }] of Object.entries(kind.settings))
      if (isAddress === true && settings[name] !== row.settings[name] && others.token === undefined)
        throw ServiceError.of(addressNeedsToken(name));
    await this.#kinds.check(kind, settings, others.token ?? (await this.#store.tokenOf(row)));
    return { ...others, settings };
  }

  async #existing(projectId: string, id: string): Promise<ProviderRow> {
    const row = isStorable(id) ? await this.#store.find(projectId, id) : undefined;
    if (row === undefined) throw ServiceError.of(credentialProviderNotFound(id));
    return row;
  }
}
