import { profileHasWriter } from "@shoal/contract/refusals";
import type { Page } from "@shoal/contract";
import type { Database, Tables } from "@shoal/database";
import { ServiceError } from "@shoal/router";
import type { ProfileVersion } from "@shoal/schemas";
import type { Kysely, Transaction } from "kysely";
import { toPage } from "../../http/paging.ts";

export type ProfileSource = "session" | "checkpoint" | "save" | "import" | "rollback" | "clone";

export interface VersionContent {
  readonly blob: string;
  readonly size_bytes: number;
  readonly checksum: string;
}

export interface NewVersion extends VersionContent {
  readonly source: ProfileSource;
  readonly session_id: string | null;
}

export async function writerOf(
  query: Pick<Transaction<Tables>, "selectFrom">,
  profileId: string,
): Promise<string | undefined> {
  const row = await query
    .selectFrom("sessions")
    .select("id")
    .where("profile_id", "=", profileId)
    .where("profile_save_changes", "=", true)
    .where("ended_at", "is", null)
    .executeTakeFirst();
  return row?.id;
}

/** Locks a session against ending. @throws {ServiceError} 409 when it does not write to the profile. */
export async function requireWriter(
  transaction: Transaction<Tables>,
  profileId: string,
  sessionId: string,
): Promise<void> {
  const session = await transaction
    .selectFrom("sessions")
    .select("id")
    .where("id", "=", sessionId)
    .where("ended_at", "is", null)
    .where("profile_id", "=", profileId)
    .where("profile_save_changes", "=", true)
    .forShare()
    .executeTakeFirst();
  if (session === undefined)
    throw new ServiceError(
      409,
      "conflict",
      `Browser ${sessionId} has ended and no longer writes to profile ${profileId}.`,
    );
}

function gone(profileId: string): ServiceError {
  return new ServiceError(404, "not_found", `Profile ${profileId} was deleted during the request.`);
}

export class ProfileVersions {
  readonly #query: Kysely<Tables>;
  readonly #keepVersions: number;

  constructor({ query }: Database, keepVersions: number) {
    this.#query = query;
    this.#keepVersions = keepVersions;
  }

  /** @param version - default: the current one. */
  async find(
    profileId: string,
    version?: number,
  ): Promise<{ readonly version: number; readonly blob: string; readonly size_bytes: number } | undefined> {
    const rows = this.#query
      .selectFrom("profile_versions")
      .innerJoin("profiles", "profiles.id", "profile_versions.profile_id")
      .select(["profile_versions.version", "blob", "profile_versions.size_bytes"])
      .where("profile_id", "=", profileId);
    return (
      version === undefined
        ? rows.whereRef("profile_versions.version", "=", "profiles.version")
        : rows.where("profile_versions.version", "=", version)
    ).executeTakeFirst();
  }

  async list(
    profileId: string,
    { limit, offset }: { readonly limit: number; readonly offset: number },
  ): Promise<Page<ProfileVersion>> {
    const rows = await this.#query
      .selectFrom("profile_versions")
      .innerJoin("profiles", "profiles.id", "profile_versions.profile_id")
      .select([
        "profile_versions.version",
        "profiles.version as current",
        "profile_versions.created_at",
        "profile_versions.size_bytes",
        "checksum",
        "source",
        "session_id",
      ])
      .where("profile_id", "=", profileId)
      .orderBy("profile_versions.version", "desc")
      .limit(limit + 1)
      .offset(offset)
      .execute();
    return toPage(rows, { limit, offset }, ({ current, session_id, ...row }) => ({
      ...row,
      ...(session_id !== null && { session_id }),
      is_current: current === row.version,
    }));
  }

  async noteFailure(profileId: string, message: string): Promise<void> {
    await this.#query
      .updateTable("profiles")
      .set({ last_save_error: message.slice(0, 1000) })
      .where("id", "=", profileId)
      .execute();
  }

  /** Returns those of the blobs that a version refers to. */
  async named(blobs: readonly string[]): Promise<Set<string>> {
    const rows =
      blobs.length === 0
        ? []
        : await this.#query.selectFrom("profile_versions").select("blob").where("blob", "in", blobs).execute();
    return new Set(rows.map(({ blob }) => blob));
  }

  /** Locks the states of the profile; sessions may still start with it. */
  async locked<Result>(
    profileId: string,
    work: (transaction: Transaction<Tables>) => Promise<Result>,
  ): Promise<Result> {
    return this.#query.transaction().execute(async (transaction) => {
      const found = await transaction
        .selectFrom("profiles")
        .select("id")
        .where("id", "=", profileId)
        .forNoKeyUpdate()
        .executeTakeFirst();
      if (found === undefined) throw gone(profileId);
      return work(transaction);
    });
  }

  /**
   * @param keepThroughVersion - keeps versions of the same session up to this number.
   * @returns the number of the new version, and the blobs of removed versions.
   */
  async add(
    transaction: Transaction<Tables>,
    profileId: string,
    added: NewVersion,
    keepThroughVersion = 0,
  ): Promise<{ readonly version: number; readonly blobs: string[] }> {
    const now = new Date();
    const version = await nextVersion(transaction, profileId, { now, size_bytes: added.size_bytes });
    const replaced =
      added.session_id === null
        ? []
        : await removeAutomatic(transaction, profileId, { sessionId: added.session_id, after: keepThroughVersion });
    await transaction
      .insertInto("profile_versions")
      .values({ profile_id: profileId, version, ...added, created_at: now })
      .execute();
    return { version, blobs: [...replaced, ...(await this.#prune(transaction, profileId))] };
  }

  async #prune(transaction: Transaction<Tables>, profileId: string): Promise<string[]> {
    const old = await transaction
      .selectFrom("profile_versions")
      .select("version")
      .where("profile_id", "=", profileId)
      .orderBy("version", "desc")
      .offset(this.#keepVersions)
      .execute();
    if (old.length === 0) return [];
    const removed = await transaction
      .deleteFrom("profile_versions")
      .where("profile_id", "=", profileId)
      .where(
        "version",
        "in",
        old.map((row) => row.version),
      )
      .returning("blob")
      .execute();
    return removed.map(({ blob }) => blob);
  }
}

async function nextVersion(
  transaction: Transaction<Tables>,
  profileId: string,
  { now, size_bytes }: { readonly now: Date; readonly size_bytes: number },
): Promise<number> {
  const numbered = await transaction
    .updateTable("profiles")
    .set((set) => ({
      last_version: set("last_version", "+", 1),
      version: set("last_version", "+", 1),
      saved_at: now,
      updated_at: now,
      size_bytes,
      last_save_error: null,
    }))
    .where("id", "=", profileId)
    .returning("version")
    .executeTakeFirst();
  const version = numbered?.version ?? undefined;
  if (version === undefined) throw gone(profileId);
  return version;
}

/** Removes the states that a session saved automatically. */
async function removeAutomatic(
  transaction: Transaction<Tables>,
  profileId: string,
  { sessionId, after }: { readonly sessionId: string; readonly after: number },
): Promise<string[]> {
  const removed = await transaction
    .deleteFrom("profile_versions")
    .where("profile_id", "=", profileId)
    .where("session_id", "=", sessionId)
    .where("source", "!=", "save")
    .where("version", ">", after)
    .returning("blob")
    .execute();
  return removed.map(({ blob }) => blob);
}

/** Returns the content of a version. @throws {ServiceError} 404. */
export async function contentOf(
  transaction: Transaction<Tables>,
  profileId: string,
  version: number,
): Promise<VersionContent> {
  const row = await transaction
    .selectFrom("profile_versions")
    .select(["blob", "size_bytes", "checksum"])
    .where("profile_id", "=", profileId)
    .where("version", "=", version)
    .executeTakeFirst();
  if (row === undefined)
    throw new ServiceError(404, "not_found", `Profile ${profileId} has no version ${String(version)}.`, {
      hint: "List the kept versions with profiles.versions.list.",
    });
  return row;
}

export async function currentContentOf(
  transaction: Transaction<Tables>,
  profileId: string,
): Promise<VersionContent | undefined> {
  return transaction
    .selectFrom("profile_versions")
    .innerJoin("profiles", (join) =>
      join
        .onRef("profiles.id", "=", "profile_versions.profile_id")
        .onRef("profiles.version", "=", "profile_versions.version"),
    )
    .select(["blob", "profile_versions.size_bytes", "checksum"])
    .where("profile_id", "=", profileId)
    .executeTakeFirst();
}

/** @throws {ServiceError} 409 while a session writes to the profile. */
export async function refuseWriter(transaction: Transaction<Tables>, profileId: string): Promise<void> {
  const writer = await writerOf(transaction, profileId);
  if (writer !== undefined)
    throw ServiceError.of(profileHasWriter(profileId, writer, "it would overwrite this change."));
}
