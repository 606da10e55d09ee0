import {
  maxVaultItems,
  type Refusal,
  staleVaultItem,
  tooManyVaultItems,
  vaultItemNotFound,
  vaultNotFound,
} from "@shoal/contract/refusals";
import type { Database, Tables } from "@shoal/database";
import { ServiceError } from "@shoal/router";
import { type Kysely, sql } from "kysely";
import { isStorable } from "../../http/paging.ts";
import type { ItemDefinition } from "./item-definition.ts";

export const itemColumns = [
  "id",
  "key",
  "definition",
  "version",
  "collection_id",
  "collection_key_id",
  "collection_expires_at",
  "created_at",
  "updated_at",
] as const;

export interface ItemRow {
  readonly id: string;
  readonly key: string;
  readonly definition: ItemDefinition;
  readonly version: number;
  readonly collection_id: string | null;
  readonly collection_key_id: string | null;
  readonly collection_expires_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

/** `Items` and `ItemRows.change` wrote the definition. */
export const toItemRow = (row: Omit<ItemRow, "definition"> & { readonly definition: unknown }): ItemRow =>
  row as ItemRow;

/** Of encrypted values of one vault. */
const maxBytes = 16 * 1024 * 1024;
const tooLarge: Refusal = {
  status: 409,
  code: "conflict",
  problem: `the encrypted values of a vault have at most ${String(maxBytes)} bytes`,
  limit: maxBytes,
  hint: "Delete items with vaults.items.delete, or use another vault.",
};

/** The rows of items of vaults. */
export class ItemRows {
  readonly query: Database["query"];

  constructor(query: Database["query"]) {
    this.query = query;
  }

  async list(vaultId: string): Promise<ItemRow[]> {
    const rows = await this.query
      .selectFrom("vault_items")
      .select(itemColumns)
      .where("vault_id", "=", vaultId)
      .orderBy("created_at")
      .orderBy("id")
      .execute();
    return rows.map(toItemRow);
  }

  async find(vaultId: string, key: string): Promise<ItemRow | undefined> {
    if (!isStorable(key)) return undefined;
    const row = await this.query
      .selectFrom("vault_items")
      .select(itemColumns)
      .where("vault_id", "=", vaultId)
      .where("key", "=", key)
      .executeTakeFirst();
    return row && toItemRow(row);
  }

  /** @throws {ServiceError} 404 */
  async existing(vaultId: string, key: string): Promise<ItemRow> {
    const row = await this.find(vaultId, key);
    if (row === undefined) throw ServiceError.of(vaultItemNotFound(key));
    return row;
  }

  /** Changes an item if it still has the version, and counts it up. @throws {ServiceError} 404, 409 */
  async change(transaction: Kysely<Tables>, row: ItemRow, definition: ItemDefinition): Promise<ItemRow> {
    const locked = await transaction
      .selectFrom("vault_items")
      .select("version")
      .where("id", "=", row.id)
      .forUpdate()
      .executeTakeFirst();
    if (locked === undefined) throw ServiceError.of(vaultItemNotFound(row.key));
    if (locked.version !== row.version) throw ServiceError.of(staleVaultItem(locked.version));
    return toItemRow(
      await transaction
        .updateTable("vault_items")
        .set({
          definition: JSON.stringify(definition),
          version: row.version + 1,
          collection_id: null,
          collection_key_id: null,
          collection_expires_at: null,
          updated_at: new Date(),
        })
        .where("id", "=", row.id)
        .returning(itemColumns)
        .executeTakeFirstOrThrow(),
    );
  }

  /** Values are added one after another until the end of the transaction. @throws {ServiceError} 404 */
  async lockVault(transaction: Kysely<Tables>, vaultId: string): Promise<void> {
    await transaction
      .selectFrom("vaults")
      .select("id")
      .where("id", "=", vaultId)
      .forNoKeyUpdate()
      .executeTakeFirstOrThrow(() => ServiceError.of(vaultNotFound(vaultId)));
  }

  /** @throws {ServiceError} 409 for more items or bytes than a vault may have. */
  async requireRoom(transaction: Kysely<Tables>, vaultId: string): Promise<void> {
    const { bytes, items } = await transaction
      .selectFrom("vault_items")
      .leftJoin("vault_values", "vault_values.item_id", "vault_items.id")
      .where("vault_id", "=", vaultId)
      .select([
        sql<number>`count(distinct vault_items.id)::int`.as("items"),
        sql<number>`coalesce(sum(octet_length(sealed)), 0)::int`.as("bytes"),
      ])
      .executeTakeFirstOrThrow();
    if (items > maxVaultItems) throw ServiceError.of(tooManyVaultItems);
    if (bytes > maxBytes) throw ServiceError.of(tooLarge);
  }

  async delete(id: string): Promise<boolean> {
    const { numDeletedRows } = await this.query.deleteFrom("vault_items").where("id", "=", id).executeTakeFirst();
    return numDeletedRows > 0n;
  }
}
