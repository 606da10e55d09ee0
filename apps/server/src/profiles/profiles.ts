import type { Page } from "@shoal/contract";
import { containsFolded, type Database, folded, type Tables } from "@shoal/database";
import { ServiceError } from "@shoal/router";
import type { ListProfiles, Profile } from "@shoal/schemas";
import type { Transaction } from "kysely";
import type * as z from "zod/mini";
import { isUniqueViolation } from "../database-errors.ts";
import { createId } from "../ids.ts";
import { emptyPage, isStorable, newestFirst, toPage } from "../paging.ts";
import { createReadCache } from "../read-cache.ts";
import { containing } from "../like.ts";
import type { ProfileStates } from "./profile-states.ts";

/** The profiles of every project. */
export interface Profiles {
  create(projectId: string, name: string | undefined): Promise<Profile>;
  list(projectId: string, filter: z.output<typeof ListProfiles>): Promise<Page<Profile>>;
  /** By id, or else by name. */
  get(projectId: string, idOrName: string): Profile | Promise<Profile>;
  /** The same as it is in the database now, for whoever has just changed it. */
  reread(projectId: string, id: string): Promise<Profile>;
  rename(projectId: string, idOrName: string, name: string): Promise<Profile>;
  /** @throws {ServiceError} 409 while a browser runs with it, or a pool starts its browsers from it. */
  delete(projectId: string, idOrName: string): Promise<void>;
  /** A new profile with the present state of another. */
  clone(projectId: string, idOrName: string, name: string | undefined): Promise<Profile>;
  forget(id: string): void;
  forgetAll(): void;
}

interface ProfileRow {
  readonly id: string;
  readonly name: string | null;
  readonly created_at: string;
  readonly updated_at: string | null;
  readonly last_used_at: string | null;
  readonly saved_at: string | null;
  readonly size_bytes: number | null;
  readonly version: number | null;
  readonly last_save_error: string | null;
}

const columns = ["id", "name", "created_at", "updated_at", "last_used_at", "saved_at", "size_bytes", "version", "last_save_error"] as const;
const empty = { updated_at: null, last_used_at: null, saved_at: null, size_bytes: null, version: null, last_save_error: null };

function toProfile(row: ProfileRow): Profile {
  return {
    id: row.id,
    name: row.name,
    created_at: row.created_at,
    ...(row.updated_at && { updated_at: row.updated_at }),
    ...(row.last_used_at && { last_used_at: row.last_used_at }),
    ...(row.saved_at && { saved_at: row.saved_at }),
    ...(row.size_bytes !== null && { size_bytes: row.size_bytes }),
    ...(row.version !== null && { version: row.version }),
    ...(row.last_save_error && { last_save_error: row.last_save_error }),
  };
}

function notFound(idOrName: string): ServiceError {
  return new ServiceError(
    404,
    "not_found",
    `Profile ${idOrName} was not found in this project. List the profiles with profiles.list, or create it with profiles.create.`,
  );
}

function nameTaken(name: string): ServiceError {
  return new ServiceError(
    409,
    "name_taken",
    `A profile named ${JSON.stringify(name)} exists in this project already. Choose another name, or use that profile.`,
  );
}

async function refuseUsed(transaction: Transaction<Tables>, id: string, idOrName: string): Promise<void> {
  const session = await transaction
    .selectFrom("sessions")
    .select(["id", "pool_id"])
    .where("profile_id", "=", id)
    .where("ended_at", "is", null)
    .where("pool_id", "is", null)
    .executeTakeFirst();
  if (session !== undefined)
    throw new ServiceError(
      409,
      "profile_in_use",
      `Browser ${session.id} runs with profile ${idOrName}. Delete the profile when it has ended, or end it first.`,
    );
  const pool = await transaction
    .selectFrom("browser_pools")
    .select("id")
    .where((where) => where(where.ref("config", "->>").key("profile_id"), "=", id))
    .executeTakeFirst();
  if (pool !== undefined)
    throw new ServiceError(
      409,
      "profile_in_use",
      `Browser pool ${pool.id} starts its browsers from profile ${idOrName}. Detach it first with browserPools.update and profile: { "id": "" }, or delete the pool.`,
    );
}

/**
 * @param isLive - whether changes of other servers are being heard.
 * @param states - what is saved in them.
 */
export function createProfiles(database: Database, isLive: () => boolean, states: Pick<ProfileStates, "copyInto" | "dropBlobs">): Profiles {
  const { query } = database;
  const cache = createReadCache<Profile>({
    max: 10_000,
    isLive,
    isPrivate: database.isJoined,
    idOf: (profile) => profile.id,
    async load(lookup) {
      const [projectId = "", idOrName = ""] = lookup.split("\0");
      const row = await find(projectId, idOrName);
      return row && toProfile(row);
    },
  });

  async function find(projectId: string, idOrName: string): Promise<ProfileRow | undefined> {
    const rows = await query
      .selectFrom("profiles")
      .select(columns)
      .where("project_id", "=", projectId)
      .where((where) => where.or([where("id", "=", idOrName), where("name", "=", idOrName)]))
      .execute();
    return rows.find((row) => row.id === idOrName) ?? rows[0];
  }

  /** Past the cache: what a write hits must be what the name means now. */
  async function existing(projectId: string, idOrName: string): Promise<string> {
    const row = isStorable(idOrName) ? await find(projectId, idOrName) : undefined;
    if (row === undefined) throw notFound(idOrName);
    return row.id;
  }

  function read(projectId: string, idOrName: string): Profile | Promise<Profile> {
    if (!isStorable(idOrName)) throw notFound(idOrName);
    const found = cache.get(`${projectId}\0${idOrName}`);
    if (!(found instanceof Promise)) return found;
    return found.then((profile) => {
      if (profile === undefined) throw notFound(idOrName);
      return profile;
    });
  }

  return {
    async create(projectId, name) {
      const row = { id: createId(), project_id: projectId, name: name ?? null, created_at: new Date().toISOString() };
      try {
        await query.insertInto("profiles").values(row).execute();
      } catch (error) {
        throw name !== undefined && isUniqueViolation(error) ? nameTaken(name) : error;
      }
      return toProfile({ ...row, ...empty });
    },

    async list(projectId, { query: part, name, limit, offset }) {
      if (!isStorable(part) || !isStorable(name)) return emptyPage();
      let rows = query.selectFrom("profiles").select(columns).where("project_id", "=", projectId);
      if (part !== undefined) rows = rows.where((where) => where.or([containsFolded("name_folded", part), where("id", "ilike", containing(part))]));
      if (name !== undefined) rows = rows.where("name_folded", "=", folded(name));
      const found = await newestFirst(rows, { limit, offset }).execute();
      return toPage(found, { limit, offset }, toProfile);
    },

    get: read,

    async reread(projectId, id) {
      const row = await find(projectId, id);
      if (row === undefined) throw notFound(id);
      return toProfile(row);
    },

    async rename(projectId, idOrName, name) {
      const id = await existing(projectId, idOrName);
      try {
        const row = await query
          .updateTable("profiles")
          .set({ name, updated_at: new Date() })
          .where("id", "=", id)
          .returning(columns)
          .executeTakeFirst();
        if (row === undefined) throw notFound(idOrName);
        return toProfile(row);
      } catch (error) {
        throw isUniqueViolation(error) ? nameTaken(name) : error;
      } finally {
        cache.forget(id);
      }
    },

    async delete(projectId, idOrName) {
      const id = await existing(projectId, idOrName);
      try {
        const blobs = await query.transaction().execute(async (transaction) => {
          // Sessions that begin with it wait from here on, and find it gone.
          const found = await transaction.selectFrom("profiles").select("id").where("id", "=", id).forUpdate().executeTakeFirst();
          if (found === undefined) throw notFound(idOrName);
          await refuseUsed(transaction, id, idOrName);
          const versions = await transaction.deleteFrom("profile_versions").where("profile_id", "=", id).returning("blob").execute();
          await transaction.deleteFrom("profiles").where("id", "=", id).execute();
          return versions.map(({ blob }) => blob);
        });
        await states.dropBlobs(blobs);
      } finally {
        cache.forget(id);
      }
    },

    async clone(projectId, idOrName, name) {
      const from = await existing(projectId, idOrName);
      const row = { id: createId(), project_id: projectId, name: name ?? null, created_at: new Date().toISOString() };
      try {
        return await query.transaction().execute(async (transaction) => {
          // Its states stay until the copy has them too.
          const found = await transaction.selectFrom("profiles").select("id").where("id", "=", from).forNoKeyUpdate().executeTakeFirst();
          if (found === undefined) throw notFound(idOrName);
          await transaction.insertInto("profiles").values(row).execute();
          await states.copyInto(transaction, from, row.id);
          return toProfile(await transaction.selectFrom("profiles").select(columns).where("id", "=", row.id).executeTakeFirstOrThrow());
        });
      } catch (error) {
        throw name !== undefined && isUniqueViolation(error) ? nameTaken(name) : error;
      }
    },

    forget: (id) => {
      cache.forget(id);
    },
    forgetAll: () => {
      cache.forgetAll();
    },
  };
}
