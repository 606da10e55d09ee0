import { vaultFormExpired } from "@shoal/contract/refusals";
import type { Database } from "@shoal/database";
import { createId } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { VaultItemAction } from "@shoal/schemas";
import type { IssuingKeys } from "../../http/auth/issuing-keys.ts";
import type { ProjectLookup } from "../../http/auth/project-lookup.ts";
import type { Secrets } from "../../storage/secrets.ts";
import { addEvent } from "./item-events.ts";
import { type ItemRow, toItemRow, itemColumns } from "./item-rows.ts";
import type { VaultRef } from "./vault-keys.ts";

const use = "vault forms";
const validMs = 30 * 60_000;
/** A person may get the link by mail. */
const leastRequestedMs = 15 * 60_000;
/** `{item}.{link}.{signature}` */
const pattern = /^((\w{1,64})\.(\w{1,64}))\.([\w-]{43})$/;

/** Path of the form, below the base URL. */
export const collectPath = "/collect";

interface CollectionParts {
  readonly database: Pick<Database, "query">;
  readonly issuingKeys: IssuingKeys;
  readonly projects: Pick<ProjectLookup, "find">;
  readonly secrets: Pick<Secrets, "hasSigned" | "sign">;
}

/** An item whose form a person has opened. */
export interface OpenedForm {
  readonly vault: VaultRef;
  readonly row: ItemRow;
}

/** Links to forms for the values of items. A change of the item ends its link; the token is derived, so no row contains it. */
export class Collections {
  readonly #parts: CollectionParts;

  constructor(parts: CollectionParts) {
    this.#parts = parts;
  }

  /** Returns the item with a link of at least 15 minutes. @param keyId - a new link ends with this key. */
  requested(row: ItemRow, keyId: string): Promise<ItemRow> {
    return this.issued(row, keyId, leastRequestedMs);
  }

  /** Returns the item with a valid link: the present one, or a new one. @param keyId - the link ends with this key. */
  async issued(row: ItemRow, keyId: string, leastMs = 0): Promise<ItemRow> {
    const now = Date.now();
    if (await this.isUsable(row, now + leastMs)) return row;
    const { query } = this.#parts.database;
    await query.transaction().execute(async (transaction) => {
      const { numUpdatedRows } = await transaction
        .updateTable("vault_items")
        .set({ collection_id: createId(), collection_key_id: keyId, collection_expires_at: new Date(now + validMs) })
        .where("id", "=", row.id)
        .where("version", "=", row.version)
        // The first of several concurrent ones counts.
        .where("collection_id", "is not distinct from", row.collection_id)
        .executeTakeFirst();
      if (numUpdatedRows > 0n) await addEvent(transaction, row.id, { name: "collection_requested" });
    });
    const found = await query.selectFrom("vault_items").select(itemColumns).where("id", "=", row.id).executeTakeFirst();
    return found === undefined ? row : toItemRow(found);
  }

  /** The link of an item that is not expired. @param baseUrl - as the person reaches the service. */
  actionOf(
    { collection_expires_at: expiresAt, collection_id: link, id }: ItemRow,
    baseUrl: string,
  ): VaultItemAction | undefined {
    if (link === null || expiresAt === null || Date.parse(expiresAt) <= Date.now()) return undefined;
    const text = `${id}.${link}`;
    // A fragment is in no log.
    const url = `${baseUrl}${collectPath}#${text}.${this.#parts.secrets.sign(use, text)}`;
    return { name: "collect", url, expires_at: expiresAt };
  }

  /** @throws {ServiceError} 401 for a link that was not issued, is expired, or was used. */
  async open(token: string): Promise<OpenedForm> {
    const [, text = "", itemId = "", link = "", signature = ""] = pattern.exec(token) ?? [];
    if (!this.#parts.secrets.hasSigned(use, text, signature)) throw ServiceError.of(vaultFormExpired);
    const found = await this.#parts.database.query
      .selectFrom("vault_items")
      .innerJoin("vaults", "vaults.id", "vault_items.vault_id")
      .select(["vault_items.vault_id", "vaults.project_id"])
      .select(itemColumns.map((column) => `vault_items.${column}` as const))
      .where("vault_items.id", "=", itemId)
      .where("vault_items.collection_id", "=", link)
      .executeTakeFirst();
    if (found === undefined) throw ServiceError.of(vaultFormExpired);
    const row = toItemRow(found);
    const project = await this.#parts.projects.find(found.project_id);
    if (project?.status !== "active" || !(await this.isUsable(row))) throw ServiceError.of(vaultFormExpired);
    return { vault: { id: found.vault_id, project_id: found.project_id }, row };
  }

  /** Whether the link of the item opens its form. */
  async isUsable(
    { collection_expires_at: expiresAt, collection_key_id: keyId }: ItemRow,
    atMs = Date.now(),
  ): Promise<boolean> {
    if (expiresAt === null || keyId === null || Date.parse(expiresAt) <= atMs) return false;
    return this.#parts.issuingKeys.require(keyId).then(
      () => true,
      (error: unknown) => {
        if (ServiceError.isInstance(error)) return false;
        throw error;
      },
    );
  }
}
