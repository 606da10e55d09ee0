import type { NetworkRuleLists } from "@shoal/contract/network";
import { containsFolded, type Database, folded, type Tables } from "@shoal/database";
import type { ListProjects } from "@shoal/schemas";
import { type Kysely, sql, type Transaction } from "kysely";
import type * as z from "zod/mini";
import { isStorable, newestFirst, type Seen } from "../../http/paging.ts";
import { contentsOf } from "./contents.ts";

export interface ProjectRow {
  readonly id: string;
  readonly name: string;
  readonly status: "active" | "archived";
  readonly is_default: boolean;
  readonly created_at: string;
  readonly updated_at: string;
  readonly max_sessions: number | null;
  readonly max_invocations: number | null;
  readonly network: NetworkRuleLists | null;
  readonly default_telemetry: readonly string[] | null;
  readonly default_recording: boolean | null;
}

/** Columns that requests set. */
export type ProjectSettings = Pick<ProjectRow, "default_recording" | "default_telemetry" | "name" | "network">;

export type Closing<Done> =
  | {
      readonly kind: "done";
      readonly value: Done;
      /** The new default project, when the closed project was the default. */
      readonly heirId: string | undefined;
    }
  | { readonly kind: "missing" }
  | { readonly kind: "last" }
  | { readonly kind: "full"; readonly contents: readonly string[] };

const columns = [
  "id",
  "name",
  "status",
  "is_default",
  "created_at",
  "updated_at",
  "max_sessions",
  "max_invocations",
  "network",
  "default_telemetry",
  "default_recording",
] as const;
/** Advisory lock for closing projects: "shoa", and "l" and 3. */
const closingLock = sql`select pg_advisory_xact_lock(1936223073, 27651)`;

/** `onlyId` limits each query to that project; `null` = no limit. */
export class ProjectStore {
  readonly #query: Database["query"];

  constructor({ query }: Database) {
    this.#query = query;
  }

  async insert({ network, ...row }: Pick<ProjectRow, "id"> & ProjectSettings): Promise<ProjectRow> {
    const now = new Date().toISOString();
    return this.#query
      .insertInto("projects")
      .values({ ...row, network: network && JSON.stringify(network), created_at: now, updated_at: now })
      .returning(columns)
      .executeTakeFirstOrThrow();
  }

  async find(idOrName: string, onlyId: string | null): Promise<ProjectRow | undefined> {
    if (!isStorable(idOrName)) return undefined;
    let rows = this.#present().where((where) => where.or([where("id", "=", idOrName), where("name", "=", idOrName)]));
    if (onlyId !== null) rows = rows.where("id", "=", onlyId);
    const found = await rows.execute();
    return found.find((row) => row.id === idOrName) ?? found[0];
  }

  /** Newest first; one row more than the limit when there are more. */
  async list(
    { query: part, name, limit, offset, visible }: Seen<z.output<typeof ListProjects>>,
    onlyId: string | null,
  ): Promise<ProjectRow[]> {
    if (!isStorable(part) || !isStorable(name)) return [];
    let rows = this.#present();
    if (onlyId !== null) rows = rows.where("id", "=", onlyId);
    if (part !== undefined) rows = rows.where(containsFolded("name_folded", part));
    if (name !== undefined) rows = rows.where("name_folded", "=", folded(name));
    return newestFirst(rows, { limit, offset, visible }).execute();
  }

  /** Renames or reopens. @returns `undefined` when the project was deleted. */
  async update(
    id: string,
    { network, ...changes }: Partial<ProjectSettings> & { readonly status?: "active" },
  ): Promise<ProjectRow | undefined> {
    return this.#query
      .updateTable("projects")
      .set({
        ...changes,
        ...(network !== undefined && { network: network && JSON.stringify(network) }),
        updated_at: new Date(),
      })
      .where("id", "=", id)
      .where("deleted_at", "is", null)
      .returning(columns)
      .executeTakeFirst();
  }

  async archive(id: string, { network, ...changes }: Partial<ProjectSettings>): Promise<Closing<ProjectRow>> {
    return this.#query.transaction().execute(async (transaction): Promise<Closing<ProjectRow>> => {
      await closingLock.execute(transaction);
      const row = await this.#present(transaction).where("id", "=", id).forUpdate().executeTakeFirst();
      if (row === undefined) return { kind: "missing" };
      const { isLast, heirId } = await this.#passOn(transaction, row);
      if (isLast) return { kind: "last" };
      const value = await transaction
        .updateTable("projects")
        .set({
          ...changes,
          status: "archived",
          updated_at: new Date(),
          ...(network !== undefined && { network: network && JSON.stringify(network) }),
        })
        .where("id", "=", id)
        .returning(columns)
        .executeTakeFirstOrThrow();
      return { kind: "done", value, heirId };
    });
  }

  /** Marks an empty project and its keys as deleted. @returns the ids of the keys. */
  async delete(id: string): Promise<Closing<readonly string[]>> {
    return this.#query.transaction().execute(async (transaction): Promise<Closing<readonly string[]>> => {
      await closingLock.execute(transaction);
      // Later inserts into the project wait for this lock, then fail.
      const row = await this.#present(transaction).where("id", "=", id).forUpdate().executeTakeFirst();
      if (row === undefined) return { kind: "missing" };
      const contents = await contentsOf(transaction, id);
      if (contents.length > 0) return { kind: "full", contents };
      const { isLast, heirId } = await this.#passOn(transaction, row);
      if (isLast) return { kind: "last" };
      const now = new Date();
      await transaction.updateTable("projects").set({ deleted_at: now }).where("id", "=", id).execute();
      await transaction.deleteFrom("bot_keys").where("project_id", "=", id).execute();
      await transaction.deleteFrom("searches").where("project_id", "=", id).execute();
      // A sweep deletes their content.
      await transaction.deleteFrom("network_recordings").where("project_id", "=", id).execute();
      await transaction.deleteFrom("snapshots").where("project_id", "=", id).execute();
      const keys = await transaction
        .updateTable("api_keys")
        .set({ deleted_at: now })
        .where("project_id", "=", id)
        .where("deleted_at", "is", null)
        .returning("id")
        .execute();
      return { kind: "done", value: keys.map((key) => key.id), heirId };
    });
  }

  async setLimits(
    id: string,
    limits: { readonly max_sessions?: number | null; readonly max_invocations?: number | null },
  ): Promise<ProjectRow | undefined> {
    return this.#query
      .updateTable("projects")
      .set(limits)
      .where("id", "=", id)
      .where("deleted_at", "is", null)
      .returning(columns)
      .executeTakeFirst();
  }

  #present(source: Kysely<Tables> = this.#query) {
    return source.selectFrom("projects").select(columns).where("deleted_at", "is", null);
  }

  /** Makes the oldest other active project the default. @returns its id; `undefined` without another active project. */
  async #passOn(
    transaction: Transaction<Tables>,
    { id, is_default }: ProjectRow,
  ): Promise<{ readonly isLast: boolean; readonly heirId?: string }> {
    const heir = await this.#present(transaction)
      .where("status", "=", "active")
      .where("id", "!=", id)
      .orderBy("created_at")
      .orderBy("id")
      .limit(1)
      .forUpdate()
      .executeTakeFirst();
    if (heir === undefined) return { isLast: true };
    if (!is_default) return { isLast: false };
    await transaction.updateTable("projects").set({ is_default: false }).where("id", "=", id).execute();
    await transaction.updateTable("projects").set({ is_default: true }).where("id", "=", heir.id).execute();
    return { isLast: false, heirId: heir.id };
  }
}
