import { invalid } from "@shoal/contract/refusals";
import type { Database, Tables } from "@shoal/database";
import { ServiceError } from "@shoal/router";
import type { Kysely } from "kysely";
import type { Envelopes } from "../../storage/envelopes/envelopes.ts";
import { type SealedValue, SecretValues } from "../credentials/secret-values.ts";
import type { VaultKeys, VaultRef } from "./vault-keys.ts";

interface GivenValue {
  readonly value?: string | null | undefined;
  readonly encrypted_value?: string | undefined;
}

/** The field that a value of a request is for. */
export interface GivenField {
  /** In the request. */
  readonly path: string;
  readonly sensitive: boolean;
}

/** Values to open, and the version of the item whose definition permits it. */
interface Wanted {
  readonly names: readonly string[];
  readonly version: number;
}

export type ReadValue = (given: GivenValue, field: GivenField) => Promise<string | undefined>;

/** Seals, stores and opens the values of items. */
export class ItemValues {
  readonly #query: Database["query"];
  readonly #secrets: SecretValues;
  readonly #keys: VaultKeys;

  constructor({
    database,
    envelopes,
    keys,
  }: {
    readonly database: Pick<Database, "query">;
    readonly envelopes: Envelopes;
    readonly keys: VaultKeys;
  }) {
    this.#query = database.query;
    this.#secrets = new SecretValues(envelopes, "vault_values");
    this.#keys = keys;
  }

  /** Returns a function that reads the texts of one request: `undefined` = none, empty = to remove. */
  reader(vault: VaultRef): ReadValue {
    const decrypt = this.#keys.decrypter(vault);
    return async ({ encrypted_value: encrypted, value }, { path, sensitive }) => {
      if (encrypted === undefined) return value === null ? "" : value;
      const field = `${path}.encrypted_value`;
      // Otherwise a caller that relays an encrypted value could read it in the answer.
      if (!sensitive)
        throw ServiceError.of(
          invalid(field, "is for sensitive fields only: answers contain the values of other fields", {
            hint: "Send value, or make the field sensitive.",
          }),
        );
      return decrypt(encrypted, field);
    };
  }

  seal({ project_id }: VaultRef, itemId: string, values: Readonly<Record<string, string>>): Promise<SealedValue[]> {
    return this.#secrets.sealAll({ id: itemId, project_id }, values);
  }

  async store(query: Kysely<Tables>, itemId: string, sealed: readonly SealedValue[]): Promise<void> {
    if (sealed.length === 0) return;
    await query
      .insertInto("vault_values")
      .values(sealed.map(({ key, sealed: value }) => ({ item_id: itemId, name: key, sealed: value })))
      .onConflict((conflict) =>
        conflict.columns(["item_id", "name"]).doUpdateSet((update) => ({ sealed: update.ref("excluded.sealed") })),
      )
      .execute();
  }

  async remove(query: Kysely<Tables>, itemId: string, names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    await query.deleteFrom("vault_values").where("item_id", "=", itemId).where("name", "in", names).execute();
  }

  /** Names of the stored values, by item. */
  async names(itemIds: readonly string[], query: Kysely<Tables> = this.#query): Promise<Map<string, Set<string>>> {
    const found = new Map(itemIds.map((id) => [id, new Set<string>()]));
    if (itemIds.length === 0) return found;
    const rows = await query
      .selectFrom("vault_values")
      .select(["item_id", "name"])
      .where("item_id", "in", itemIds)
      .execute();
    for (const { item_id: id, name } of rows) found.get(id)?.add(name);
    return found;
  }

  /** The only way to the values. @param wanted - by item. @returns the values by item; none of an item that has changed. */
  async open(
    { project_id }: VaultRef,
    wanted: ReadonlyMap<string, Wanted>,
  ): Promise<Map<string, Record<string, string>>> {
    const opened = new Map<string, Record<string, string>>();
    const names = new Set([...wanted.values()].flatMap((item) => item.names));
    if (names.size === 0) return opened;
    const rows = await this.#query
      .selectFrom("vault_values")
      .innerJoin("vault_items", "vault_items.id", "item_id")
      .select(["item_id", "name as key", "sealed", "version"])
      .where("item_id", "in", [...wanted.keys()])
      .where("name", "in", [...names])
      .execute();
    const byItem = Map.groupBy(rows, ({ item_id: id }) => id);
    // Item after item: other projects need key management too.
    for (const [id, stored] of byItem) {
      const item = wanted.get(id);
      // A change may have made a field sensitive after its definition was read.
      const own = stored.filter(({ key, version }) => version === item?.version && item.names.includes(key));
      opened.set(id, await this.#secrets.openAll({ id, project_id }, own));
    }
    return opened;
  }
}
