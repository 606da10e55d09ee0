import { containsFolded, type CredentialProvidersTable, type Database, type Tables } from "@shoal/database";
import { type Kysely, type Selectable, sql } from "kysely";
import { createId } from "@shoal/primitives";
import type { Envelopes, SealedPlace } from "../../storage/envelopes/envelopes.ts";

export type ProviderRow = Omit<Selectable<CredentialProvidersTable>, "name_folded">;

/** Absent fields stay unchanged. */
export interface ProviderChanges {
  readonly name?: string | undefined;
  readonly enabled?: boolean | undefined;
  readonly priority?: number | undefined;
  readonly cache_ttl_seconds?: number | undefined;
  readonly settings?: Readonly<Record<string, string>> | undefined;
  readonly token?: string | undefined;
}

const columns = [
  "id",
  "project_id",
  "name",
  "provider_type",
  "settings",
  "token",
  "cache_ttl_seconds",
  "enabled",
  "priority",
  "revision",
  "created_at",
  "updated_at",
] as const;

const placeOf = ({ id, project_id }: Pick<ProviderRow, "id" | "project_id">): SealedPlace => ({
  projectId: project_id,
  id,
  field: "credential_providers.token",
});

/** The rows of providers; tokens are sealed. */
export class ProviderStore {
  readonly #query: Database["query"];
  readonly #envelopes: Envelopes;

  constructor({ query }: Pick<Database, "query">, envelopes: Envelopes) {
    this.#query = query;
    this.#envelopes = envelopes;
  }

  /** @returns `undefined` when the project has `max` providers. @throws on a name that is taken. */
  async insert(
    projectId: string,
    {
      settings,
      token,
      ...fields
    }: Pick<ProviderRow, "name" | "provider_type" | "cache_ttl_seconds" | "priority" | "settings"> & {
      readonly token: string;
    },
    max: number,
  ): Promise<ProviderRow | undefined> {
    const id = createId();
    const sealed = await this.#envelopes.seal(token, placeOf({ id, project_id: projectId }));
    return this.#query.transaction().execute(async (transaction) => {
      // Concurrent requests must not exceed the limit.
      await sql`select pg_advisory_xact_lock(hashtextextended(${`credential providers of ${projectId}`}, 0))`.execute(
        transaction,
      );
      const { count } = await transaction
        .selectFrom("credential_providers")
        .select(({ fn }) => fn.countAll<number>().as("count"))
        .where("project_id", "=", projectId)
        .executeTakeFirstOrThrow();
      if (count >= max) return undefined;
      return transaction
        .insertInto("credential_providers")
        .values({ id, project_id: projectId, token: sealed, settings: JSON.stringify(settings), ...fields })
        .returning(columns)
        .executeTakeFirstOrThrow();
    });
  }

  /** In the order in which they are asked. */
  list(
    projectId: string,
    {
      limit,
      offset,
      query: part,
    }: { readonly limit: number; readonly offset: number; readonly query?: string | undefined },
  ): Promise<ProviderRow[]> {
    let rows = this.#inOrder(projectId);
    if (part !== undefined)
      rows = rows.where((where) => where.or([containsFolded("name_folded", part), where("id", "=", part)]));
    return rows
      .limit(limit + 1)
      .offset(offset)
      .execute();
  }

  /** The providers that logins use, in the order in which they are asked. */
  enabled(projectId: string): Promise<ProviderRow[]> {
    return this.#inOrder(projectId).where("enabled", "=", true).execute();
  }

  find(projectId: string, id: string): Promise<ProviderRow | undefined> {
    return this.#query
      .selectFrom("credential_providers")
      .select(columns)
      .where("project_id", "=", projectId)
      .where("id", "=", id)
      .executeTakeFirst();
  }

  findByName(projectId: string, name: string): Promise<ProviderRow | undefined> {
    return this.#query
      .selectFrom("credential_providers")
      .select(columns)
      .where("project_id", "=", projectId)
      .where("name", "=", name)
      .executeTakeFirst();
  }

  /** @param changesOf - gets the locked row. @returns `undefined` when it does not exist. */
  async update(
    projectId: string,
    id: string,
    changesOf: (row: ProviderRow) => Promise<ProviderChanges>,
  ): Promise<ProviderRow | undefined> {
    return this.#query.transaction().execute(async (transaction) => {
      const row = await lockedRow(transaction, projectId, id);
      if (row === undefined) return undefined;
      const { settings, token, ...fields } = await changesOf(row);
      // Connections name their provider, since those of the operator have no row.
      if (fields.name !== undefined && fields.name !== row.name)
        await transaction
          .updateTable("auth_connections")
          .set({ credential_provider: fields.name })
          .where("project_id", "=", projectId)
          .where("credential_provider", "=", row.name)
          .execute();
      return transaction
        .updateTable("credential_providers")
        .set({
          ...given(fields),
          ...(settings !== undefined && { settings: JSON.stringify(settings) }),
          ...(token !== undefined && { token: await this.#envelopes.seal(token, placeOf(row)) }),
          revision: sql<number>`revision + 1`,
          updated_at: new Date(),
        })
        .where("id", "=", id)
        .returning(columns)
        .executeTakeFirstOrThrow();
    });
  }

  async delete(projectId: string, id: string): Promise<boolean> {
    const { numDeletedRows } = await this.#query
      .deleteFrom("credential_providers")
      .where("project_id", "=", projectId)
      .where("id", "=", id)
      .executeTakeFirst();
    return numDeletedRows > 0n;
  }

  tokenOf(row: ProviderRow): Promise<string> {
    return this.#envelopes.unseal(row.token, placeOf(row));
  }

  #inOrder(projectId: string) {
    return this.#query
      .selectFrom("credential_providers")
      .select(columns)
      .where("project_id", "=", projectId)
      .orderBy("priority")
      .orderBy("created_at")
      .orderBy("id");
  }
}

function lockedRow(transaction: Kysely<Tables>, projectId: string, id: string): Promise<ProviderRow | undefined> {
  return transaction
    .selectFrom("credential_providers")
    .select(columns)
    .where("project_id", "=", projectId)
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirst();
}

function given(fields: Omit<ProviderChanges, "settings" | "token">) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    readonly [Name in keyof typeof fields]?: NonNullable<(typeof fields)[Name]>;
  };
}
