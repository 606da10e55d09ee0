import type { Page } from "@shoal/contract";
import { containsFolded, type Database, folded } from "@shoal/database";
import { KeyPolicy, type PolicyStatements } from "@shoal/contract/rights";
import type { ApiKey, ListApiKeys } from "@shoal/schemas";
import type * as z from "zod/mini";
import type { KeyRow } from "../../http/auth/access.ts";
import { emptyPage, isStorable, toPage } from "../../http/paging.ts";
import { beginningWith, containing } from "../../storage/like.ts";

export interface StoredKey {
  readonly id: string;
  readonly name: string;
  readonly masked_key: string;
  readonly project_id: string | null;
  readonly project_name: string | null;
  readonly created_by_id: string;
  readonly created_by_email: string;
  readonly created_by_name: string | null;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly deleted_at: string | null;
  readonly lifetime_days: number | null;
  readonly last_used_at: string | null;
  readonly policy: PolicyStatements | null;
}

/** Only the hash of the secret is stored. */
export type NewKey = Omit<StoredKey, "project_name" | "deleted_at" | "last_used_at"> & { readonly key_hash: Buffer };

export function toApiKey(row: StoredKey): ApiKey {
  return {
    id: row.id,
    name: row.name,
    created_at: row.created_at,
    created_by: { id: row.created_by_id, email: row.created_by_email, name: row.created_by_name },
    expires_at: row.expires_at,
    deleted_at: row.deleted_at,
    project_id: row.project_id,
    project_name: row.project_name,
    masked_key: row.masked_key,
    ...(row.last_used_at !== null && { last_used_at: row.last_used_at }),
    ...(row.policy !== null && { policy: { statements: [...row.policy.statements] } }),
  };
}

function toKeyRow(
  row:
    | (Omit<KeyRow, "expiresAtMs" | "policy"> & {
        readonly expires_at: string | null;
        readonly policy: PolicyStatements | null;
      })
    | undefined,
): KeyRow | undefined {
  if (row === undefined) return undefined;
  const { policy, ...plain } = row;
  return {
    ...plain,
    expiresAtMs: row.expires_at === null ? Infinity : Date.parse(row.expires_at),
    ...(policy !== null && { policy: new KeyPolicy(policy) }),
  };
}

const inserted = ({ policy, ...key }: NewKey) => ({
  ...key,
  policy: policy === null ? null : JSON.stringify(policy),
});

/** `projectId` limits each query to keys of that project; `null` = no limit. */
export class ApiKeyStore {
  readonly #query: Database["query"];

  constructor({ query }: Database) {
    this.#query = query;
  }

  /** Skips deleted keys. */
  async findByHash(hash: string): Promise<KeyRow | undefined> {
    return toKeyRow(await this.#active().where("key_hash", "=", Buffer.from(hash, "hex")).executeTakeFirst());
  }

  /** Skips deleted keys. */
  async findActive(id: string): Promise<KeyRow | undefined> {
    return toKeyRow(await this.#active().where("id", "=", id).executeTakeFirst());
  }

  async organizationId(): Promise<string> {
    return (await this.#query.selectFrom("organization").select("id").executeTakeFirstOrThrow()).id;
  }

  /** Counts deleted keys as well. */
  async isEmpty(): Promise<boolean> {
    return (await this.#query.selectFrom("api_keys").select("id").limit(1).executeTakeFirst()) === undefined;
  }

  async find(projectId: string | null, id: string, includeDeleted: boolean): Promise<StoredKey | undefined> {
    if (!isStorable(id)) return undefined;
    let rows = this.#selected().where("api_keys.id", "=", id);
    if (projectId !== null) rows = rows.where("api_keys.project_id", "=", projectId);
    if (!includeDeleted) rows = rows.where("api_keys.deleted_at", "is", null);
    return rows.executeTakeFirst();
  }

  async list(projectId: string | null, filter: z.output<typeof ListApiKeys>): Promise<Page<ApiKey>> {
    const { query: part, name, limit, offset } = filter;
    if (!isStorable(part) || !isStorable(name)) return emptyPage();
    // oxlint-disable-next-line typescript/no-deprecated -- deprecated, but still accepted
    const status = filter.include_deleted ? "all" : filter.status;
    let rows = this.#selected();
    if (projectId !== null) rows = rows.where("api_keys.project_id", "=", projectId);
    if (status !== "all") rows = rows.where("api_keys.deleted_at", status === "active" ? "is" : "is not", null);
    if (name !== undefined) rows = rows.where("api_keys.name_folded", "=", folded(name));
    if (part !== undefined) {
      const inside = containing(part);
      const beginning = beginningWith(part);
      rows = rows.where((where) =>
        where.or([
          containsFolded("api_keys.name_folded", part),
          where("api_keys.created_by_name", "ilike", inside),
          where("api_keys.created_by_email", "ilike", inside),
          where("projects.name", "ilike", inside),
          where("api_keys.id", "like", beginning),
          where("api_keys.masked_key", "like", beginning),
        ]),
      );
    }
    const found = await rows
      // Keys that never expire come last in either direction.
      .orderBy(filter.sort_by === "name" ? "api_keys.name_folded" : `api_keys.${filter.sort_by}`, (order) =>
        (filter.sort_direction === "asc" ? order.asc() : order.desc()).nullsLast(),
      )
      .orderBy("api_keys.id", filter.sort_direction)
      .limit(limit + 1)
      .offset(offset)
      .execute();
    return toPage(found, { limit, offset }, toApiKey);
  }

  async insert(key: NewKey): Promise<void> {
    await this.#query.insertInto("api_keys").values(inserted(key)).execute();
  }

  /** @returns `undefined` when the project does not have the key. */
  async rename(id: string, name: string, projectId: string | null): Promise<StoredKey | undefined> {
    if (!isStorable(id)) return undefined;
    return this.#query
      .updateTable("api_keys")
      .set({ name })
      .where("id", "=", id)
      .where("deployment_id", "is", null)
      .where("deleted_at", "is", null)
      .$if(projectId !== null, (rows) => rows.where("project_id", "=", projectId))
      .returning([
        "id",
        "name",
        "masked_key",
        "project_id",
        "created_by_id",
        "created_by_email",
        "created_by_name",
        "created_at",
        "expires_at",
        "deleted_at",
        "lifetime_days",
        "policy",
      ])
      .returning((row) =>
        row
          .selectFrom("projects")
          .select("projects.name")
          .whereRef("projects.id", "=", "api_keys.project_id")
          .as("project_name"),
      )
      .returning((row) =>
        row.selectFrom("api_key_uses").select("last_used_at").whereRef("key_id", "=", "api_keys.id").as("last_used_at"),
      )
      .executeTakeFirst();
  }

  /** With the keys of apps that end with it. @returns `false` when it was deleted before, or does not exist. */
  async delete(id: string): Promise<boolean> {
    const deleted_at = new Date().toISOString();
    return this.#query.transaction().execute(async (transaction) => {
      const live = transaction.updateTable("api_keys").set({ deleted_at }).where("deleted_at", "is", null);
      const { numUpdatedRows } = await live.where("id", "=", id).executeTakeFirst();
      // A separate statement, because it sees the keys of apps that were made meanwhile.
      await live.where("issuer_key_id", "=", id).execute();
      return numUpdatedRows > 0n;
    });
  }

  /** The keys of apps that end with it. */
  async issuedBy(id: string): Promise<string[]> {
    const rows = await this.#query.selectFrom("api_keys").select("id").where("issuer_key_id", "=", id).execute();
    return rows.map((row) => row.id);
  }

  /**
   * Stores the successor and lets the key expire at `endsAt` at the latest. Keys of apps end with the successor. @returns `false` when the key is gone.
   */
  async replace(id: string, successor: NewKey, endsAt: Date): Promise<boolean> {
    return this.#query.transaction().execute(async (transaction) => {
      const { numUpdatedRows } = await transaction
        .updateTable("api_keys")
        .set((set) => ({ expires_at: set.fn<string>("least", ["expires_at", set.val(endsAt)]) }))
        .where("id", "=", id)
        .where("deleted_at", "is", null)
        .executeTakeFirst();
      if (numUpdatedRows === 0n) return false;
      await transaction.insertInto("api_keys").values(inserted(successor)).execute();
      const issuer_key_id = successor.id;
      const { expires_at } = successor;
      await transaction
        .updateTable("api_keys")
        .set({ issuer_key_id, expires_at })
        .where("issuer_key_id", "=", id)
        .execute();
      await transaction.updateTable("deployments").set({ issuer_key_id }).where("issuer_key_id", "=", id).execute();
      return true;
    });
  }

  /** Keys of deployments belong to the service. */
  #selected() {
    return this.#query
      .selectFrom("api_keys")
      .leftJoin("projects", "projects.id", "api_keys.project_id")
      .leftJoin("api_key_uses", "api_key_uses.key_id", "api_keys.id")
      .select([
        "api_keys.id",
        "api_keys.name",
        "api_keys.masked_key",
        "api_keys.project_id",
        "projects.name as project_name",
        "api_keys.created_by_id",
        "api_keys.created_by_email",
        "api_keys.created_by_name",
        "api_keys.created_at",
        "api_keys.expires_at",
        "api_keys.deleted_at",
        "api_keys.lifetime_days",
        "api_keys.policy",
        "api_key_uses.last_used_at",
      ])
      .where("api_keys.deployment_id", "is", null);
  }

  #active() {
    return this.#query
      .selectFrom("api_keys")
      .select(["id", "name", "project_id", "created_by_email", "deployment_id", "expires_at", "policy"])
      .where("deleted_at", "is", null);
  }
}
