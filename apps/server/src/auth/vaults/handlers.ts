import { contract, type OperationsOf } from "@shoal/contract";
import { outsidePolicy, vaultItemOfOthers } from "@shoal/contract/refusals";
import { type Handlers, ServiceError } from "@shoal/router";
import type { VaultItem } from "@shoal/schemas";
import type { Access } from "../../http/auth/access.ts";
import { mayUseSecrets } from "../../http/auth/rights.ts";
import type { Collections } from "./collections.ts";
import type { ConnectionValues } from "./connection-values.ts";
import type { ItemEvents } from "./item-events.ts";
import type { ItemValues } from "./item-values.ts";
import type { ItemRow } from "./item-rows.ts";
import type { Items } from "./items.ts";
import type { VaultKeys, VaultRef } from "./vault-keys.ts";
import { toVault, type Vaults } from "./vaults.ts";

export interface VaultParts {
  readonly vaults: Vaults;
  readonly keys: VaultKeys;
  readonly items: Items;
  readonly events: ItemEvents;
  readonly collections: Collections;
  readonly values: ItemValues;
  readonly connections: ConnectionValues;
}

/** Shows an item with the link to its form, for callers who may change the item: the link changes it. */
export async function shownTo(
  { collections, items }: Pick<VaultParts, "collections" | "items">,
  context: Access,
  { row, vault }: { readonly vault: VaultRef; readonly row: ItemRow },
): Promise<VaultItem> {
  const item = await items.shown(vault, row);
  const wantsLink = item.state.status === "pending_collection" || row.collection_id !== null;
  if (!wantsLink || !mayChange(context, vault)) return item;
  return withLink(collections, item, { context, row: await collections.issued(row, context.key.id) });
}

/** The same right as for `vaults.items.update`. */
export function mayChange({ key: { policy }, projectId }: Access, { id }: VaultRef): boolean {
  return policy === undefined || policy.permit(contract.updateVaultItem, projectId, { id }) !== undefined;
}

function withLink(
  collections: Collections,
  item: VaultItem,
  { context, row }: { readonly context: Access; readonly row: ItemRow },
): VaultItem {
  const action = collections.actionOf(row, context.viewerUrl ?? context.baseUrl);
  return action === undefined ? item : { ...item, action };
}

export function vaultHandlers({ keys, vaults }: VaultParts): Handlers<OperationsOf<"vaults">, Access> {
  return {
    createVault: ({ body, context }) => vaults.create(context.projectId, body.name),
    listVaults: ({ query, context }) => vaults.list(context.projectId, { ...query, visible: context.visible }),
    getVault: async ({ params, context }) => toVault(await vaults.existing(context.projectId, params.id_or_name)),
    deleteVault: ({ params, context }) => vaults.delete(context.projectId, params.id_or_name),
    getVaultEncryptionKey: async ({ params, context }) =>
      keys.publicKey(await vaults.existing(context.projectId, params.id_or_name)),
  };
}

export function vaultItemHandlers(
  parts: VaultParts,
): Handlers<Omit<OperationsOf<"vaults.items">, "operateVaultItem">, Access> {
  const { collections, events, items, vaults } = parts;
  const vaultOf = (context: Access, idOrName: string) => vaults.existing(context.projectId, idOrName);
  return {
    listVaultItems: async ({ params, context }) => {
      const vault = await vaultOf(context, params.id_or_name);
      const rows = await items.rows.list(vault.id);
      const listed = await items.listed(vault, rows);
      if (!mayChange(context, vault)) return listed;
      const withLinks: VaultItem[] = [];
      for (const [index, item] of listed.entries()) {
        const row = rows[index];
        const opens = row !== undefined && (await collections.isUsable(row));
        withLinks.push(opens ? withLink(collections, item, { context, row }) : item);
      }
      return withLinks;
    },
    putVaultItem: async ({ params, body, context }) => {
      // Every key with vaults:use could then type the credential of the connection.
      if (body.spec.provider === "managed_auth" && context.key.policy !== undefined && !mayUseSecrets(context))
        throw ServiceError.of(outsidePolicy("vaults.items.put", "body.spec.connection_id"));
      const vault = await vaultOf(context, params.id_or_name);
      return shownTo(parts, context, { vault, row: await items.put(vault, params.key, body) });
    },
    getVaultItem: async ({ params, query, context, signal }) => {
      if (query.expand !== undefined && query.expand.length > 0) throw noExpansions();
      const vault = await vaultOf(context, params.id_or_name);
      const { id } = await items.rows.existing(vault.id, params.key);
      const isSettled = async (): Promise<boolean> => {
        const item = await items.rows.find(vault.id, params.key);
        return item?.id !== id || items.isSettled(item);
      };
      await events.until({ itemId: id, projectId: context.projectId }, isSettled, { signal, waitSeconds: query.wait });
      return shownTo(parts, context, { vault, row: await items.rows.existing(vault.id, params.key) });
    },
    updateVaultItem: async ({ params, body, context }) => {
      const vault = await vaultOf(context, params.id_or_name);
      return shownTo(parts, context, { vault, row: await items.update(vault, params.key, body) });
    },
    deleteVaultItem: async ({ params, context }) => items.delete(await vaultOf(context, params.id_or_name), params.key),
    listVaultItemEvents: async ({ params, query, context, signal }) => {
      const vault = await vaultOf(context, params.id_or_name);
      const { id } = await items.rows.existing(vault.id, params.key);
      const hasNew = async (): Promise<boolean> =>
        (await items.rows.find(vault.id, params.key))?.id !== id || (await events.list(id, query.after)).length > 0;
      await events.until({ itemId: id, projectId: context.projectId }, hasNew, { signal, waitSeconds: query.wait });
      const found = await events.list(id, query.after);
      // The events go with the item.
      if (found.length === 0) await items.rows.existing(vault.id, params.key);
      return found;
    },
  };
}

function noExpansions(): ServiceError {
  return ServiceError.of({
    ...vaultItemOfOthers("query.expand", "data of cards and wallets"),
    status: 409,
    code: "conflict",
  });
}
