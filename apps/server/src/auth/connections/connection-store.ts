import { containsFolded, type Database, type Tables } from "@shoal/database";
import { createId, siteDomain } from "@shoal/primitives";
import type { ListAuthConnections, ListTimeline } from "@shoal/schemas";
import {
  type ExpressionBuilder,
  type Insertable,
  type RawBuilder,
  sql,
  type Transaction,
  type Updateable,
} from "kysely";
import type * as z from "zod/mini";
import { newestFirst } from "../../http/paging.ts";
import { containing } from "../../storage/like.ts";
import type { ConnectionRow, FlowRow, ListedConnection } from "./connection-row.ts";

const columns = [
  "id",
  "project_id",
  "profile_id",
  "domain",
  "status",
  "login_url",
  "post_login_url",
  "allowed_domains",
  "credential_id",
  "credential_provider",
  "credential_path",
  "proxy_id",
  "proxy_mode",
  "stealth",
  "browser_telemetry",
  "health_check_interval",
  "health_checks",
  "auto_reauth",
  "save_credentials",
  "record_session",
  "flow_id",
  "last_auth_check_at",
  "signed_in_at",
  "needs",
  "next_check_at",
  "check_id",
  "check_server_id",
  "check_started_at",
  "created_at",
  "updated_at",
] as const;

type ConnectionColumns = Updateable<Tables["auth_connections"]>;
export interface ConnectionChange extends Omit<ConnectionColumns, "next_check_at"> {
  readonly next_check_at?: RawBuilder<string>;
}

export type ConnectionReferences = Pick<ConnectionRow, "credential_id" | "credential_provider" | "proxy_id">;

export class ConnectionStore {
  readonly #query: Database["query"];

  constructor({ query }: Pick<Database, "query">) {
    this.#query = query;
  }

  /** Creates the profile in the same transaction if it does not exist. @throws a unique violation for its second connection to a site. */
  insert(
    row: Omit<Insertable<Tables["auth_connections"]>, "profile_id"> & { readonly profile_name: string },
  ): Promise<void> {
    const { profile_name: name, ...values } = row;
    return this.#query.transaction().execute(async (transaction) => {
      const profile_id = await profileNamed(transaction, row.project_id, name);
      await transaction
        .insertInto("auth_connections")
        .values({ ...values, profile_id })
        .execute();
    });
  }

  async idOf(projectId: string, profileName: string, domain: string): Promise<string | undefined> {
    const row = await this.#query
      .selectFrom("auth_connections")
      .innerJoin("profiles", "profiles.id", "auth_connections.profile_id")
      .select("auth_connections.id")
      .where("auth_connections.project_id", "=", projectId)
      .where("profiles.name", "=", profileName)
      .where("domain", "=", domain)
      .executeTakeFirst();
    return row?.id;
  }

  find(projectId: string, id: string): Promise<ConnectionRow | undefined> {
    return this.#rows().select("plan").where("project_id", "=", projectId).where("id", "=", id).executeTakeFirst();
  }

  list(
    projectId: string,
    { domain, profile_name: profile, query: part, ...window }: z.output<typeof ListAuthConnections>,
  ): Promise<ListedConnection[]> {
    let rows = this.#rows().where("project_id", "=", projectId);
    if (domain !== undefined) rows = rows.where("domain", "=", siteDomain(domain) ?? "");
    if (profile !== undefined) rows = rows.where((where) => where.exists(profileOf(where).where("name", "=", profile)));
    if (part !== undefined)
      rows = rows.where((where) =>
        where.or([
          where("id", "=", part),
          where("domain", "ilike", containing(part)),
          where.exists(profileOf(where).where(containsFolded("name_folded", part))),
        ]),
      );
    return newestFirst(rows, window).execute();
  }

  /**
   * @param checked - the row must still have its references, which allowed the change.
   * @returns `false` when it does not exist, or when its references have changed.
   */
  async update(id: string, change: ConnectionChange, checked?: ConnectionReferences): Promise<boolean> {
    let update = this.#query
      .updateTable("auth_connections")
      .set({ ...change, updated_at: new Date() })
      .where("id", "=", id);
    if (checked !== undefined)
      for (const column of ["credential_id", "credential_provider", "proxy_id"] as const)
        update = update.where(column, "is not distinct from", checked[column]);
    const { numUpdatedRows } = await update.executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /** @returns `false` when the connection has got a credential, or must not save one. */
  async addCredential(id: string, credentialId: string): Promise<boolean> {
    const { numUpdatedRows } = await this.#query
      .updateTable("auth_connections")
      .set({ credential_id: credentialId, updated_at: new Date() })
      .where("id", "=", id)
      .where("credential_id", "is", null)
      .where("credential_provider", "is", null)
      .where("save_credentials", "=", true)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /** Deletes its timeline, too. @returns `false` when it does not exist. */
  async delete(projectId: string, id: string): Promise<boolean> {
    const { numDeletedRows } = await this.#query
      .deleteFrom("auth_connections")
      .where("project_id", "=", projectId)
      .where("id", "=", id)
      .executeTakeFirst();
    return numDeletedRows > 0n;
  }

  flow(id: string): Promise<FlowRow | undefined> {
    return this.#query.selectFrom("auth_flows").selectAll().where("id", "=", id).executeTakeFirst();
  }

  flows(ids: readonly string[]): Promise<FlowRow[]> {
    return ids.length === 0
      ? Promise.resolve([])
      : this.#query.selectFrom("auth_flows").selectAll().where("id", "in", ids).execute();
  }

  timeline(connectionId: string, { type, ...window }: z.output<typeof ListTimeline>): Promise<FlowRow[]> {
    let rows = this.#query.selectFrom("auth_flows").selectAll().where("connection_id", "=", connectionId);
    if (type !== undefined) rows = rows.where("type", "=", type);
    return newestFirst(rows, window).execute();
  }

  #rows() {
    return this.#query
      .selectFrom("auth_connections")
      .select(columns)
      .select((select) => [
        profileOf(select).select("name").as("profile_name"),
        credentialOf(select).select("name").as("credential_name"),
        select
          .selectFrom("proxies")
          .whereRef("proxies.id", "=", "auth_connections.proxy_id")
          .select("name")
          .as("proxy_name"),
        credentialOf(select)
          .select(sql<boolean>`totp is not null`.as("has_totp"))
          .as("has_totp"),
        select
          .selectFrom("credential_values")
          .whereRef("credential_values.credential_id", "=", "auth_connections.credential_id")
          .select(sql<string[]>`jsonb_agg(key)`.as("names"))
          .as("stored_names"),
        failedReauths(select)
          .select(sql<number>`count(*)::int`.as("count"))
          .as("reauth_failures"),
        failedReauths(select)
          .select("error_code")
          .orderBy("created_at", "desc")
          .orderBy("id")
          .limit(1)
          .as("reauth_last_failure"),
      ]);
  }
}

function profileOf(select: ExpressionBuilder<Tables, "auth_connections">) {
  return select.selectFrom("profiles").whereRef("profiles.id", "=", "auth_connections.profile_id");
}

function credentialOf(select: ExpressionBuilder<Tables, "auth_connections">) {
  return select.selectFrom("credentials").whereRef("credentials.id", "=", "auth_connections.credential_id");
}

/** Automatic logins since the last success and the last change of the connection or its credential. */
function failedReauths(select: ExpressionBuilder<Tables, "auth_connections">) {
  return select
    .selectFrom("auth_flows")
    .whereRef("auth_flows.connection_id", "=", "auth_connections.id")
    .where("auth_flows.type", "=", "reauth")
    .where("auth_flows.status", "in", ["FAILED", "EXPIRED", "CANCELED"])
    .where(
      sql<boolean>`auth_flows.created_at > greatest(auth_connections.signed_in_at, auth_connections.updated_at,
        (select credentials.updated_at from credentials where credentials.id = auth_connections.credential_id))`,
    );
}

/** The lock keeps the profile until its connection is stored. */
async function profileNamed(transaction: Transaction<Tables>, projectId: string, name: string): Promise<string> {
  await transaction
    .insertInto("profiles")
    .values({ id: createId(), project_id: projectId, name })
    .onConflict((conflict) => conflict.columns(["project_id", "name"]).doNothing())
    .execute();
  const { id } = await transaction
    .selectFrom("profiles")
    .select("id")
    .where("project_id", "=", projectId)
    .where("name", "=", name)
    .forKeyShare()
    .executeTakeFirstOrThrow();
  return id;
}
