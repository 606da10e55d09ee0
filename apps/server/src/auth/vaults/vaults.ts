import type { Page } from "@shoal/contract";
import { invalid, vaultNotFound } from "@shoal/contract/refusals";
import { containsFolded, type Database } from "@shoal/database";
import { createId } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { ListVaults, Vault } from "@shoal/schemas";
import type * as z from "zod/mini";
import { emptyPage, isStorable, newestFirst, type Seen, toPage } from "../../http/paging.ts";

const columns = ["id", "project_id", "name", "created_at", "updated_at"] as const;

export interface VaultRow extends Vault {
  readonly project_id: string;
}

export function toVault({ project_id: _projectId, ...vault }: VaultRow): Vault {
  return vault;
}

export class Vaults {
  readonly #query: Database["query"];

  constructor({ query }: Pick<Database, "query">) {
    this.#query = query;
  }

  async create(projectId: string, name: string): Promise<Vault> {
    if (/^[a-z][a-z0-9]{23}$/.test(name))
      throw ServiceError.of(
        invalid("body.name", "has the form of an id", { hint: "Use a name with a capital letter, hyphen or dot." }),
      );
    await this.#query
      .insertInto("vaults")
      .values({ id: createId(), project_id: projectId, name })
      .onConflict((conflict) => conflict.columns(["project_id", "name"]).doNothing())
      .execute();
    return toVault(await this.existing(projectId, name));
  }

  async list(
    projectId: string,
    { limit, offset, query: part, visible }: Seen<z.output<typeof ListVaults>>,
  ): Promise<Page<Vault>> {
    if (!isStorable(part)) return emptyPage();
    let rows = this.#query.selectFrom("vaults").select(columns).where("project_id", "=", projectId);
    if (part !== undefined)
      rows = rows.where((where) => where.or([containsFolded("name_folded", part), where("id", "=", part)]));
    return toPage(await newestFirst(rows, { limit, offset, visible }).execute(), { limit, offset }, toVault);
  }

  async delete(projectId: string, idOrName: string): Promise<void> {
    const { id } = await this.existing(projectId, idOrName);
    const { numDeletedRows } = await this.#query.deleteFrom("vaults").where("id", "=", id).executeTakeFirst();
    if (numDeletedRows === 0n) throw ServiceError.of(vaultNotFound(idOrName));
  }

  /** @throws {ServiceError} 404. */
  async existing(projectId: string, idOrName: string): Promise<VaultRow> {
    // No name has the form of an id, so at most one vault has the text.
    const row = isStorable(idOrName)
      ? await this.#query
          .selectFrom("vaults")
          .select(columns)
          .where("project_id", "=", projectId)
          .where((where) => where.or([where("id", "=", idOrName), where("name", "=", idOrName)]))
          .executeTakeFirst()
      : undefined;
    if (row === undefined) throw ServiceError.of(vaultNotFound(idOrName));
    return row;
  }
}

/** Finds the vaults of a new session. @throws {ServiceError} 404 with the field. */
export function createChooseVaults(database: Pick<Database, "query">) {
  const vaults = new Vaults(database);
  return (
    projectId: string,
    wanted: readonly { readonly id?: string | undefined; readonly name?: string | undefined }[],
  ) =>
    Promise.all(
      wanted.map(async ({ id: wantedId, name: wantedName = "" }, index) => {
        const { id, name } = await vaults.existing(projectId, wantedId ?? wantedName).catch((error: unknown) => {
          throw ServiceError.isInstance(error) && error.status === 404
            ? ServiceError.of({ ...vaultNotFound(wantedId ?? wantedName), field: `body.vaults[${String(index)}]` })
            : error;
        });
        if (wantedId === undefined ? name === wantedName : id === wantedId) return { id, name };
        throw ServiceError.of({ ...vaultNotFound(wantedId ?? wantedName), field: `body.vaults[${String(index)}]` });
      }),
    );
}
