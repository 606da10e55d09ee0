import { readLocation } from "@shoal/contract/network";
import {
  profileNameTaken,
  profileNotFound,
  profileUsedByBrowser,
  profileUsedByConnection,
} from "@shoal/contract/refusals";
import type { Page } from "@shoal/contract";
import { containsFolded, type Database, folded, type Tables } from "@shoal/database";
import { ServiceError } from "@shoal/router";
import type {
  BrowserConditions,
  BrowserLocationConfig,
  CreateProfile,
  ListProfiles,
  Profile,
  UpdateProfile,
  WebBotAuth,
} from "@shoal/schemas";
import type { Transaction } from "kysely";
import type * as z from "zod/mini";
import { isUniqueViolation } from "../../storage/errors/database-errors.ts";
import { createId } from "@shoal/primitives";
import { emptyPage, isStorable, newestFirst, type Seen, toPage } from "../../http/paging.ts";
import { createReadCache, type ReadCache } from "../../storage/read-cache.ts";
import { containing } from "../../storage/like.ts";
import type { ProfileStates } from "./profile-states.ts";

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
  readonly web_bot_auth: WebBotAuth | null;
  readonly location: BrowserLocationConfig | null;
  readonly conditions: BrowserConditions | null;
}

const columns = [
  "id",
  "name",
  "created_at",
  "updated_at",
  "last_used_at",
  "saved_at",
  "size_bytes",
  "version",
  "last_save_error",
  "web_bot_auth",
  "location",
  "conditions",
] as const;
const empty = {
  updated_at: null,
  last_used_at: null,
  saved_at: null,
  size_bytes: null,
  version: null,
  last_save_error: null,
};

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
    ...(row.web_bot_auth?.enabled === true && { web_bot_auth: row.web_bot_auth }),
    ...(row.location && Object.keys(row.location).length > 0 && { location: row.location }),
    ...(row.conditions && Object.keys(row.conditions).length > 0 && { conditions: row.conditions }),
    ...(row.last_save_error && { last_save_error: row.last_save_error }),
  };
}

const stored = (value: object | null): string | null => (value === null ? null : JSON.stringify(value));

/** @returns the canonical spelling. @throws {ServiceError} 400 `invalid_browser_location`. */
function canonical(location: BrowserLocationConfig | null): BrowserLocationConfig | null {
  if (location === null) return null;
  const read = readLocation(location);
  if ("refusal" in read) throw ServiceError.of(read.refusal);
  return read.location;
}

function notFound(idOrName: string): ServiceError {
  return ServiceError.of(profileNotFound(idOrName));
}

function nameTaken(name: string): ServiceError {
  return ServiceError.of(profileNameTaken(name));
}

async function refuseUsed(transaction: Transaction<Tables>, id: string, idOrName: string): Promise<void> {
  const session = await transaction
    .selectFrom("sessions")
    .select(["id", "pool_id"])
    .where("profile_id", "=", id)
    .where("ended_at", "is", null)
    .where("pool_id", "is", null)
    .executeTakeFirst();
  if (session !== undefined) throw ServiceError.of(profileUsedByBrowser(idOrName, session.id));
  const connection = await transaction
    .selectFrom("auth_connections")
    .select("id")
    .where("profile_id", "=", id)
    .executeTakeFirst();
  if (connection !== undefined) throw ServiceError.of(profileUsedByConnection(idOrName, connection.id));
  const pool = await transaction
    .selectFrom("browser_pools")
    .select("id")
    .where((where) => where(where.ref("config", "->>").key("profile_id"), "=", id))
    .executeTakeFirst();
  if (pool !== undefined)
    throw new ServiceError(
      409,
      "profile_in_use",
      `Browser pool ${pool.id} starts its browsers from profile ${idOrName}.`,
      { hint: 'Detach it first with browserPools.update and profile: { "id": "" }, or delete the pool.' },
    );
}

export class Profiles {
  readonly #states: Pick<ProfileStates, "copyInto" | "dropBlobs">;
  readonly #query: Database["query"];
  readonly #cache: ReadCache<Profile>;

  /** @param isLive - whether this server receives changes of other servers. */
  constructor(database: Database, isLive: () => boolean, states: Pick<ProfileStates, "copyInto" | "dropBlobs">) {
    this.#states = states;
    this.#query = database.query;
    this.#cache = createReadCache<Profile>({
      max: 10_000,
      isLive,
      isPrivate: database.isJoined,
      idOf: (profile) => profile.id,
      load: async (lookup) => {
        const [projectId = "", idOrName = ""] = lookup.split("\0");
        const row = await this.#find(projectId, idOrName);
        return row && toProfile(row);
      },
    });
  }

  get(projectId: string, idOrName: string): Profile | Promise<Profile> {
    if (!isStorable(idOrName)) throw notFound(idOrName);
    const found = this.#cache.get(`${projectId}\0${idOrName}`);
    if (!(found instanceof Promise)) return found;
    return found.then((profile) => {
      if (profile === undefined) throw notFound(idOrName);
      return profile;
    });
  }

  async create(
    projectId: string,
    { conditions = {}, location, name, web_bot_auth }: z.output<typeof CreateProfile>,
  ): Promise<Profile> {
    const row = { id: createId(), project_id: projectId, name: name ?? null, created_at: new Date().toISOString() };
    const bot = web_bot_auth ?? null;
    const seen = canonical(location ?? null);
    try {
      await this.#query
        .insertInto("profiles")
        .values({ ...row, web_bot_auth: stored(bot), location: stored(seen), conditions: stored(conditions) })
        .execute();
    } catch (error) {
      throw name !== undefined && isUniqueViolation(error) ? nameTaken(name) : error;
    }
    return toProfile({ ...row, ...empty, web_bot_auth: bot, location: seen, conditions });
  }

  async list(
    projectId: string,
    { query: part, name, limit, offset, visible }: Seen<z.output<typeof ListProfiles>>,
  ): Promise<Page<Profile>> {
    if (!isStorable(part) || !isStorable(name)) return emptyPage();
    let rows = this.#query.selectFrom("profiles").select(columns).where("project_id", "=", projectId);
    if (part !== undefined)
      rows = rows.where((where) =>
        where.or([containsFolded("name_folded", part), where("id", "ilike", containing(part))]),
      );
    if (name !== undefined) rows = rows.where("name_folded", "=", folded(name));
    const found = await newestFirst(rows, { limit, offset, visible }).execute();
    return toPage(found, { limit, offset }, toProfile);
  }

  /** Bypasses the cache. */
  async reread(projectId: string, id: string): Promise<Profile> {
    const row = await this.#find(projectId, id);
    if (row === undefined) throw notFound(id);
    return toProfile(row);
  }

  async update(
    projectId: string,
    idOrName: string,
    { conditions, location, name, web_bot_auth: bot }: z.output<typeof UpdateProfile>,
  ): Promise<Profile> {
    const seen = location === undefined ? undefined : canonical(location);
    const id = await this.#existing(projectId, idOrName);
    try {
      const row = await this.#query
        .updateTable("profiles")
        .set({
          ...(name !== undefined && { name }),
          ...(bot !== undefined && { web_bot_auth: stored(bot) }),
          ...(seen !== undefined && { location: stored(seen) }),
          ...(conditions !== undefined && { conditions: stored(conditions) }),
          updated_at: new Date(),
        })
        .where("id", "=", id)
        .returning(columns)
        .executeTakeFirst();
      if (row === undefined) throw notFound(idOrName);
      return toProfile(row);
    } catch (error) {
      throw name !== undefined && isUniqueViolation(error) ? nameTaken(name) : error;
    } finally {
      this.#cache.forget(id);
    }
  }

  /** @throws {ServiceError} 409 while a browser, a pool or a connection uses it. */
  async delete(projectId: string, idOrName: string): Promise<void> {
    const id = await this.#existing(projectId, idOrName);
    try {
      const blobs = await this.#query.transaction().execute(async (transaction) => {
        // Sessions that start with the profile wait for this lock, then fail.
        const found = await transaction
          .selectFrom("profiles")
          .select("id")
          .where("id", "=", id)
          .forUpdate()
          .executeTakeFirst();
        if (found === undefined) throw notFound(idOrName);
        await refuseUsed(transaction, id, idOrName);
        const versions = await transaction
          .deleteFrom("profile_versions")
          .where("profile_id", "=", id)
          .returning("blob")
          .execute();
        await transaction.deleteFrom("profiles").where("id", "=", id).execute();
        return versions.map(({ blob }) => blob);
      });
      await this.#states.dropBlobs(blobs);
    } finally {
      this.#cache.forget(id);
    }
  }

  async clone(projectId: string, idOrName: string, name: string | undefined): Promise<Profile> {
    const from = await this.#existing(projectId, idOrName);
    const row = { id: createId(), project_id: projectId, name: name ?? null, created_at: new Date().toISOString() };
    try {
      return await this.#query.transaction().execute(async (transaction) => {
        // The lock keeps the states until they are copied.
        const found = await transaction
          .selectFrom("profiles")
          .select(["id", "web_bot_auth", "location", "conditions"])
          .where("id", "=", from)
          .forNoKeyUpdate()
          .executeTakeFirst();
        if (found === undefined) throw notFound(idOrName);
        await transaction
          .insertInto("profiles")
          .values({
            ...row,
            web_bot_auth: stored(found.web_bot_auth),
            location: stored(found.location),
            conditions: stored(found.conditions),
          })
          .execute();
        await this.#states.copyInto(transaction, from, row.id);
        return toProfile(
          await transaction.selectFrom("profiles").select(columns).where("id", "=", row.id).executeTakeFirstOrThrow(),
        );
      });
    } catch (error) {
      throw name !== undefined && isUniqueViolation(error) ? nameTaken(name) : error;
    }
  }

  forget(id: string): void {
    this.#cache.forget(id);
  }

  forgetAll(): void {
    this.#cache.forgetAll();
  }

  async #find(projectId: string, idOrName: string): Promise<ProfileRow | undefined> {
    const rows = await this.#query
      .selectFrom("profiles")
      .select(columns)
      .where("project_id", "=", projectId)
      .where((where) => where.or([where("id", "=", idOrName), where("name", "=", idOrName)]))
      .execute();
    return rows.find((row) => row.id === idOrName) ?? rows[0];
  }

  /** Bypasses the cache: a write must use the current meaning of the name. */
  async #existing(projectId: string, idOrName: string): Promise<string> {
    const row = isStorable(idOrName) ? await this.#find(projectId, idOrName) : undefined;
    if (row === undefined) throw notFound(idOrName);
    return row.id;
  }
}
