import type { OperationsOf } from "@shoal/contract";
import {
  addressNeedsToken,
  credentialProviderNameTaken,
  credentialProviderNotFound,
  ownProviderTypes,
  unknownProviderType,
} from "@shoal/contract/refusals";
import { createId } from "@shoal/primitives";
import { ServiceError, type Handlers } from "@shoal/router";
import type { CredentialProvider, CredentialProviderItem } from "@shoal/schemas";
import type { Access } from "../state/access.ts";
import type { FakeProviderItem } from "../state/logins.ts";
import { byText, holds, pageOf } from "../state/listing.ts";
import type { CredentialProviderRow, Store } from "../state/store.ts";

function toProvider(row: CredentialProviderRow): CredentialProvider {
  return {
    id: row.id,
    provider_type: row.type,
    name: row.name,
    enabled: row.enabled,
    priority: row.priority,
    settings: row.settings,
    cache_ttl_seconds: row.cacheTtlSeconds,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}

function vaultOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

function toItem({ path, urls = [] }: FakeProviderItem): CredentialProviderItem {
  const vault = vaultOf(path);
  const title = path.slice(path.lastIndexOf("/") + 1);
  return { id: path, title, vault_id: vault, vault_name: vault, path, urls: [...urls] };
}

/** Connects to no password manager: tests succeed. Its items are those of `fake.addProviderItem`. */
export function credentialProviderHandlers(store: Store): Handlers<OperationsOf<"credentialProviders">, Access> {
  const ofProject = (projectId: string) => store.credentialProviders.filter((row) => row.projectId === projectId);

  function existing(projectId: string, id: string): CredentialProviderRow {
    const row = ofProject(projectId).find((each) => each.id === id);
    if (row === undefined) throw ServiceError.of(credentialProviderNotFound(id));
    return row;
  }

  function refuseTaken(projectId: string, name: string, but?: CredentialProviderRow): void {
    if (ofProject(projectId).some((row) => row !== but && row.name === name))
      throw ServiceError.of(credentialProviderNameTaken(name));
  }

  return {
    createCredentialProvider: ({ body, context: { projectId } }) => {
      const { cache_ttl_seconds: cacheTtlSeconds, name, priority, provider_type: type, settings = {} } = body;
      if (!ownProviderTypes.includes(type)) throw ServiceError.of(unknownProviderType(type, ownProviderTypes));
      refuseTaken(projectId, name);
      const now = new Date().toISOString();
      const row: CredentialProviderRow = {
        id: createId(),
        projectId,
        type,
        name,
        enabled: true,
        priority,
        cacheTtlSeconds,
        settings,
        createdAt: now,
        updatedAt: now,
      };
      store.credentialProviders.push(row);
      return toProvider(row);
    },
    listCredentialProviders: ({ query: { query: part, ...window }, context }) => {
      const found = ofProject(context.projectId)
        .filter((row) => part === undefined || holds(row.name, part) || row.id === part)
        .sort((a, b) => a.priority - b.priority || byText(a.createdAt, b.createdAt));
      return pageOf(found, window, toProvider);
    },
    getCredentialProvider: ({ params, context }) => toProvider(existing(context.projectId, params.id)),
    updateCredentialProvider: ({ params, body, context: { projectId } }) => {
      const row = existing(projectId, params.id);
      const { cache_ttl_seconds, enabled, name, priority, settings: changed, token } = body;
      if (name !== undefined) refuseTaken(projectId, name, row);
      const merged = Object.entries({ ...row.settings, ...changed }).filter(([, value]) => value !== null);
      const settings = Object.fromEntries(merged) as Record<string, string>;
      if (settings.address !== row.settings.address && token === undefined)
        throw ServiceError.of(addressNeedsToken("address"));
      row.name = name ?? row.name;
      row.enabled = enabled ?? row.enabled;
      row.priority = priority ?? row.priority;
      row.cacheTtlSeconds = cache_ttl_seconds ?? row.cacheTtlSeconds;
      row.settings = settings;
      row.updatedAt = new Date().toISOString();
      return toProvider(row);
    },
    deleteCredentialProvider: ({ params, context }) => {
      const row = existing(context.projectId, params.id);
      store.credentialProviders.splice(store.credentialProviders.indexOf(row), 1);
    },
    testCredentialProvider: ({ params, context }) => {
      const items = store.providerItems.get(existing(context.projectId, params.id).name) ?? [];
      const names = new Set(items.map(({ path }) => vaultOf(path)));
      return { success: true, vaults: [...(names.size > 0 ? names : ["Vault"])].map((name) => ({ id: name, name })) };
    },
    listCredentialProviderItems: ({ params, context }) => {
      const items = store.providerItems.get(existing(context.projectId, params.id).name) ?? [];
      return { items: items.map(toItem) };
    },
  };
}
