import { invalid, vaultItemExists, vaultItemNotFound, vaultItemOfOthers } from "@shoal/contract/refusals";
import type { Database } from "@shoal/database";
import { createId } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import { type PutVaultItem, SlugName, type UpdateVaultItem, type VaultItem, type VaultItemState } from "@shoal/schemas";
import { createHash, timingSafeEqual } from "node:crypto";
import type * as z from "zod/mini";
import type { Envelopes } from "../../storage/envelopes/envelopes.ts";
import type { ConnectionValues } from "./connection-values.ts";
import { changedFields } from "./item-changes.ts";
import {
  isCollected,
  type ItemDefinition,
  type OwnDefinition,
  requireDescription,
  requireFieldList,
  requireFields,
  requireSeeds,
  requireSites,
  requireValue,
} from "./item-definition.ts";
import { addEvent } from "./item-events.ts";
import { type ItemRow, ItemRows } from "./item-rows.ts";
import type { ItemValues } from "./item-values.ts";
import type { VaultRef } from "./vault-keys.ts";

interface ItemParts {
  readonly database: Pick<Database, "query">;
  readonly envelopes: Envelopes;
  readonly values: ItemValues;
  readonly connections: ConnectionValues;
}

/** A new definition, with values to store and names of values to remove. */
interface ItemChange {
  readonly definition: OwnDefinition;
  readonly removed: readonly string[];
  readonly values: Readonly<Record<string, string>>;
}

/** Stored parts of an item. */
interface Stored {
  /** Of its values. */
  readonly names: ReadonlySet<string>;
  /** Values of fields that are not sensitive. */
  readonly shown: Readonly<Record<string, string>>;
}

type SpecInput = z.output<typeof PutVaultItem>["spec"];

/** The items of vaults. */
export class Items {
  readonly rows: ItemRows;
  readonly #parts: ItemParts;

  constructor(parts: ItemParts) {
    this.#parts = parts;
    this.rows = new ItemRows(parts.database.query);
  }

  /** Without the fields of items of connections. */
  async listed(vault: VaultRef, rows: readonly ItemRow[]): Promise<VaultItem[]> {
    const storedOf = await this.#stored(vault, rows);
    const items: VaultItem[] = [];
    // One after another: all at once would use every connection to the database.
    for (const row of rows) items.push(await this.#toItem(vault, row, { ...storedOf(row), isListed: true }));
    return items;
  }

  async shown(vault: VaultRef, row: ItemRow): Promise<VaultItem> {
    const storedOf = await this.#stored(vault, [row]);
    return this.#toItem(vault, row, { ...storedOf(row), isListed: false });
  }

  /** Whether the item waits for no value of a person. Opens no value. */
  async isSettled({ definition, id }: ItemRow): Promise<boolean> {
    if (definition.provider !== "kernel") return true;
    return isReady(definition.fields, (await this.#parts.values.names([id])).get(id) ?? new Set());
  }

  /** @throws {ServiceError} 409 if the key has an item that another request created, and for a full vault. */
  async put(vault: VaultRef, key: string, request: z.output<typeof PutVaultItem>): Promise<ItemRow> {
    refuseOthers(request.type, request.spec.provider);
    requireKey(key);
    const digest = digestOf(request);
    const known = await this.#createdBy(vault, key, digest);
    if (known !== undefined) return known;
    const id = createId();
    const { definition, values } = await this.#defined(vault, request.spec);
    const sealed = await this.#parts.values.seal(vault, id, values);
    const requestSealed = await this.#parts.envelopes.seal(digest, placeOfRequest(vault, id));
    await this.#parts.database.query.transaction().execute(async (transaction) => {
      await this.rows.lockVault(transaction, vault.id);
      const inserted = await transaction
        .insertInto("vault_items")
        .values({ id, vault_id: vault.id, key, definition: JSON.stringify(definition), request: requestSealed })
        .onConflict((conflict) => conflict.columns(["vault_id", "key"]).doNothing())
        .returning("id")
        .executeTakeFirst();
      if (inserted === undefined) return;
      await this.#parts.values.store(transaction, id, sealed);
      await this.rows.requireRoom(transaction, vault.id);
      await addEvent(transaction, id, { name: "created", data: { version: 1 } });
    });
    const created = await this.#createdBy(vault, key, digest);
    if (created === undefined) throw ServiceError.of(vaultItemNotFound(key));
    return created;
  }

  async update(vault: VaultRef, key: string, request: z.output<typeof UpdateVaultItem>): Promise<ItemRow> {
    refuseOthers(request.type, undefined);
    const row = await this.rows.existing(vault.id, key);
    const change = await changedFields(row, request, this.#parts.values.reader(vault));
    await this.#change(vault, row, change, "updated");
    return this.rows.existing(vault.id, key);
  }

  /** Stores what a person entered. @throws {ServiceError} 400 unless every required field has a value then. */
  collect(vault: VaultRef, row: ItemRow, change: ItemChange): Promise<void> {
    return this.#change(vault, row, change, "collected");
  }

  /** All or nothing. @throws {ServiceError} 400, 404, 409 */
  async #change(
    vault: VaultRef,
    row: ItemRow,
    { definition, removed, values }: ItemChange,
    event: "collected" | "updated",
  ): Promise<void> {
    // Before the transaction: a key management service can take seconds.
    const sealed = await this.#parts.values.seal(vault, row.id, values);
    await this.#parts.database.query.transaction().execute(async (transaction) => {
      await this.rows.lockVault(transaction, vault.id);
      const { version } = await this.rows.change(transaction, row, definition);
      await this.#parts.values.remove(transaction, row.id, removed);
      await this.#parts.values.store(transaction, row.id, sealed);
      if (sealed.length > 0) await this.rows.requireRoom(transaction, vault.id);
      const stored = (await this.#parts.values.names([row.id], transaction)).get(row.id) ?? new Set();
      requireSeeds(definition.fields, stored, "body.spec");
      const missing = definition.fields.find(({ name, required }) => required && !stored.has(name));
      if (event === "collected" && missing !== undefined)
        throw ServiceError.of(invalid("body.values", `the field ${missing.label ?? missing.name} needs a value`));
      await addEvent(transaction, row.id, { name: event, data: { version } });
    });
  }

  async delete(vault: VaultRef, key: string): Promise<void> {
    const { id } = await this.rows.existing(vault.id, key);
    if (!(await this.rows.delete(id))) throw ServiceError.of(vaultItemNotFound(key));
  }

  /** @throws {ServiceError} 409 if another request created it. */
  async #createdBy(vault: VaultRef, key: string, digest: string): Promise<ItemRow | undefined> {
    const row = await this.rows.find(vault.id, key);
    if (row === undefined) return undefined;
    const { request } = await this.rows.query
      .selectFrom("vault_items")
      .select("request")
      .where("id", "=", row.id)
      .executeTakeFirstOrThrow(() => ServiceError.of(vaultItemNotFound(key)));
    const known = await this.#parts.envelopes.unseal(request, placeOfRequest(vault, row.id));
    if (timingSafeEqual(Buffer.from(known), Buffer.from(digest))) return row;
    throw ServiceError.of(vaultItemExists(key));
  }

  async #defined(vault: VaultRef, spec: SpecInput) {
    const description = requireDescription(spec.description);
    const about = description === undefined ? {} : { description };
    if (spec.provider === "managed_auth") {
      const { connection_id: connectionId } = spec;
      if (connectionId === undefined)
        throw ServiceError.of(invalid("body.spec.connection_id", "provider managed_auth needs it"));
      refuseGiven(spec, ["fields", "sites"]);
      await this.#parts.connections.require(vault.project_id, connectionId);
      const definition: ItemDefinition = { provider: "managed_auth", connection_id: connectionId, ...about };
      return { definition, values: {} };
    }
    if (spec.fields === undefined) throw ServiceError.of(invalid("body.spec.fields", "provider kernel needs it"));
    refuseGiven(spec, ["connection_id"]);
    const fields = requireFields(spec.fields, "body.spec.fields");
    requireFieldList(fields, "body.spec.fields");
    const sites = requireSites(spec.sites);
    const values: Record<string, string> = {};
    const read = this.#parts.values.reader(vault);
    for (const [index, given] of spec.fields.entries()) {
      const field = `body.spec.fields[${String(index)}]`;
      const value = await read(given, { path: field, sensitive: given.sensitive });
      if (value === undefined) continue;
      requireValue(given.type, value, `${field}.${given.value === undefined ? "encrypted_value" : "value"}`);
      values[given.name] = value;
    }
    requireSeeds(fields, new Set(Object.keys(values)), "body.spec.fields");
    const definition: ItemDefinition = { provider: "kernel", fields, ...about, ...(sites && { sites }) };
    return { definition, values };
  }

  /** Reads the stored parts of several items with two queries. */
  async #stored(vault: VaultRef, rows: readonly ItemRow[]): Promise<(row: ItemRow) => Stored> {
    const names = await this.#parts.values.names(rows.map(({ id }) => id));
    const namesOf = ({ id }: ItemRow) => names.get(id) ?? new Set<string>();
    const plain = new Map(
      rows.map((row) => [row.id, { version: row.version, names: plainNames(row.definition, namesOf(row)) }]),
    );
    const opened = await this.#parts.values.open(vault, plain);
    return (row) => ({ names: namesOf(row), shown: opened.get(row.id) ?? {} });
  }

  async #toItem(
    vault: VaultRef,
    row: ItemRow,
    { isListed, ...stored }: Stored & { readonly isListed: boolean },
  ): Promise<VaultItem> {
    const { created_at, definition, id, key, updated_at, version } = row;
    const state =
      definition.provider === "managed_auth"
        ? await this.#parts.connections.state(vault.project_id, definition.connection_id, !isListed)
        : ownState(definition, stored);
    return {
      ...{ id, key, type: "credential", version, created_at, updated_at },
      spec: definition as VaultItem["spec"],
      state,
      available_operations: abilitiesOf(definition, state),
      available_expansions: [],
    };
  }
}

function plainNames(definition: ItemDefinition, stored: ReadonlySet<string>): string[] {
  if (definition.provider !== "kernel") return [];
  return definition.fields.filter(({ name, sensitive }) => !sensitive && stored.has(name)).map(({ name }) => name);
}

function ownState({ fields }: OwnDefinition, { names, shown }: Stored): VaultItemState {
  return {
    provider: "kernel",
    status: isReady(fields, names) ? "ready" : "pending_collection",
    fields: Object.fromEntries(
      fields.map(({ name }) => [
        name,
        { has_value: names.has(name), ...(Object.hasOwn(shown, name) && { value: shown[name] }) },
      ]),
    ),
  };
}

function abilitiesOf(definition: ItemDefinition, { fields = {}, status }: VaultItemState) {
  const isOwn = definition.provider === "kernel";
  const isFillable = isOwn
    ? definition.fields.some(({ name, type }) => type !== "passkey" && fields[name]?.has_value === true)
    : status === "ready";
  return [...(isOwn && definition.fields.some(isCollected) ? [collecting] : []), ...(isFillable ? [filling] : [])];
}

const collecting = {
  type: "collect",
  description: "Returns the item with `action.url`, a form in which a person enters values.",
};
const filling = {
  type: "fill",
  description:
    "Types values into fields of a page: browser_id, page_url, and fields with field and selector. The session must have been created with the vault.",
};

function isReady(fields: OwnDefinition["fields"], stored: ReadonlySet<string>): boolean {
  return fields.every(({ name, required }) => !required || stored.has(name));
}

/** @throws {ServiceError} 501 */
function refuseOthers(type: string, provider: string | undefined): void {
  if (type !== "credential") throw ServiceError.of(vaultItemOfOthers("body.type", `an item of type ${type}`));
  if (provider !== undefined && provider !== "kernel" && provider !== "managed_auth")
    throw ServiceError.of(vaultItemOfOthers("body.spec.provider", `provider ${provider}`));
}

/** @throws {ServiceError} 400 */
function requireKey(key: string): void {
  if (SlugName.safeParse(key).success) return;
  throw ServiceError.of(
    invalid("params.key", 'letters, digits, dots, underscores and hyphens only, and not "." or ".."', { limit: 255 }),
  );
}

function refuseGiven(spec: SpecInput, fields: readonly (keyof SpecInput)[]): void {
  const given = fields.find((field) => spec[field] !== undefined);
  if (given !== undefined)
    throw ServiceError.of(invalid(`body.spec.${given}`, `provider ${spec.provider} does not take it`));
}

const placeOfRequest = ({ project_id }: VaultRef, id: string) => ({
  projectId: project_id,
  id,
  field: "vault_items.request",
});

/** Equal for equal requests in any order of their fields. */
function digestOf(request: object): string {
  const text = JSON.stringify(request, (_name, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([one], [two]) => (one < two ? -1 : 1)))
      : value,
  );
  return createHash("sha256").update(text).digest("base64url");
}
