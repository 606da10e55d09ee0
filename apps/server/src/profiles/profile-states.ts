import type { Page } from "@shoal/contract";
import type { Database, Tables } from "@shoal/database";
import { ServiceError } from "@shoal/router";
import type { ProfileVersion } from "@shoal/schemas";
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { Transaction } from "kysely";
import { type Blobs, BlobTooLarge, sweepBlobs } from "../blobs/blobs.ts";
import { openStream, SealBroken, sealStream } from "../blobs/sealed-stream.ts";
import type { Log } from "../log.ts";
import { toPage } from "../paging.ts";
import type { Secrets } from "../secrets.ts";

/** What a state comes from. */
export type ProfileSource = "session" | "checkpoint" | "save" | "import" | "rollback" | "clone";

/** Who saves a state, and which earlier states of the same session it leaves alone. */
export interface SaveOrigin {
  readonly source: ProfileSource;
  /** Saves only while this session has not ended, so that a server that was removed overwrites nothing. Absent: only while no session writes. */
  readonly sessionId?: string;
  /** Versions of the session up to this one stay. */
  readonly keepThroughVersion?: number;
}

/** Which profile: its project is part of what its states are sealed with. */
export interface ProfileRef {
  readonly id: string;
  readonly project_id: string;
}

/** A saved state that is read. The archive must be read or destroyed. */
export interface OpenedState {
  readonly version: number;
  readonly sizeBytes: number;
  /** A tar archive, compressed with Zstandard. */
  readonly archive: Readable;
}

/** What is saved in profiles, version by version. */
export interface ProfileStates {
  /** @param version - the present one when absent. @returns `undefined` when there is none. */
  open(profile: ProfileRef, version?: number): Promise<OpenedState | undefined>;
  /**
   * Stores a state and makes it the current one. It replaces what the same session saved automatically before, and no version that a user saved.
   *
   * @returns its number.
   * @throws {ServiceError} 404 when the profile is gone, 409, 413.
   */
  save(profile: ProfileRef, origin: SaveOrigin, archive: Readable): Promise<number>;
  /** Makes a version the present one, under a new number. @throws {ServiceError} 404, 409. */
  rollback(profile: ProfileRef, version: number): Promise<void>;
  /** Gives a new profile the present state of another, in the same transaction in which it is made. */
  copyInto(transaction: Transaction<Tables>, from: string, to: string): Promise<void>;
  list(profileId: string, window: { readonly limit: number; readonly offset: number }): Promise<Page<ProfileVersion>>;
  /** Notes why the latest save failed. Never rejects. */
  noteFailure(profileId: string, message: string): Promise<void>;
  /** Removes archives that no version names any more. @param blobs - names of candidates. */
  dropBlobs(blobs: readonly string[]): Promise<void>;
  /** Removes archives that a killed server left. @returns how many. */
  sweep(): Promise<number>;
}

export interface ProfileStatesOptions {
  readonly database: Database;
  readonly blobs: Blobs;
  readonly secrets: Pick<Secrets, "keyOfStream">;
  /** States that are kept of each profile. */
  readonly keepVersions: number;
  /** Largest archive, in bytes. */
  readonly maxBytes: number;
  /** Told of each profile that has changed. */
  readonly onChange: (profileId: string) => void;
  readonly log: Log;
}

/** The session that writes to a profile now, on whichever server. */
export async function writerOf(query: Pick<Transaction<Tables>, "selectFrom">, profileId: string): Promise<string | undefined> {
  const row = await query
    .selectFrom("sessions")
    .select("id")
    .where("profile_id", "=", profileId)
    .where("profile_save_changes", "=", true)
    .where("ended_at", "is", null)
    .executeTakeFirst();
  return row?.id;
}

export function heldBy(profile: string, session: string, way: string): ServiceError {
  return new ServiceError(
    409,
    "profile_in_use",
    `Browser ${session} saves its changes to profile ${profile}, and only one session may write to it at a time. Wait until it ends, or end it; ${way}`,
  );
}

function gone(profileId: string): ServiceError {
  return new ServiceError(404, "not_found", `Profile ${profileId} was deleted meanwhile.`);
}

export function createProfileStates({ database, blobs, secrets, keepVersions, maxBytes, onChange, log }: ProfileStatesOptions): ProfileStates {
  const { query } = database;
  const keyOf =
    ({ project_id }: ProfileRef) =>
    (salt: Uint8Array) =>
      secrets.keyOfStream(salt, `profile states of ${project_id}`);

  interface Content {
    readonly blob: string;
    readonly size_bytes: number;
    readonly checksum: string;
  }

  /** The archive as it comes, sealed on its way to the blobs. */
  async function store(profile: ProfileRef, archive: Readable): Promise<Content> {
    const hash = createHash("sha256");
    let sizeBytes = 0;
    async function* measured(): AsyncGenerator<Buffer, void, undefined> {
      for await (const piece of archive as AsyncIterable<Buffer>) {
        sizeBytes += piece.length;
        if (sizeBytes > maxBytes) throw new BlobTooLarge(`More than ${String(maxBytes)} bytes.`);
        hash.update(piece);
        yield piece;
      }
    }
    try {
      // Its seal makes it longer, by a thousandth at most.
      const { name } = await blobs.put(Readable.from(sealStream(measured(), keyOf(profile)), { objectMode: false }), {
        maxBytes: maxBytes * 2 + 2 ** 20,
      });
      return { blob: name, size_bytes: sizeBytes, checksum: hash.digest("hex") };
    } catch (error) {
      archive.destroy();
      if (!(error instanceof BlobTooLarge)) throw error;
      throw new ServiceError(
        413,
        "payload_too_large",
        `The state of profile ${profile.id} has more than ${String(Math.floor(maxBytes / 2 ** 20))} MiB (profile_max_mib), compressed. Have its sites keep less, or raise the limit.`,
        { cause: error },
      );
    }
  }

  /** @returns the number of the new version, and blobs that may have no version any more. */
  async function add(
    transaction: Transaction<Tables>,
    profileId: string,
    version: Content & { readonly source: ProfileSource; readonly session_id: string | null },
    keepThroughVersion = 0,
  ): Promise<{ readonly version: number; readonly blobs: string[] }> {
    const now = new Date();
    const numbered = await transaction
      .updateTable("profiles")
      .set((set) => ({
        last_version: set("last_version", "+", 1),
        version: set("last_version", "+", 1),
        saved_at: now,
        updated_at: now,
        size_bytes: version.size_bytes,
        last_save_error: null,
      }))
      .where("id", "=", profileId)
      .returning("version")
      .executeTakeFirst();
    if (numbered === undefined || numbered.version === null) throw gone(profileId);
    const replaced =
      version.session_id === null
        ? []
        : await transaction
            .deleteFrom("profile_versions")
            .where("profile_id", "=", profileId)
            .where("session_id", "=", version.session_id)
            .where("source", "!=", "save")
            .where("version", ">", keepThroughVersion)
            .returning("blob")
            .execute();
    await transaction
      .insertInto("profile_versions")
      .values({ profile_id: profileId, version: numbered.version, ...version, created_at: now })
      .execute();
    const old = await transaction
      .selectFrom("profile_versions")
      .select("version")
      .where("profile_id", "=", profileId)
      .orderBy("version", "desc")
      .offset(keepVersions)
      .execute();
    const pruned =
      old.length === 0
        ? []
        : await transaction
            .deleteFrom("profile_versions")
            .where("profile_id", "=", profileId)
            .where(
              "version",
              "in",
              old.map((row) => row.version),
            )
            .returning("blob")
            .execute();
    return { version: numbered.version, blobs: [...replaced, ...pruned].map(({ blob }) => blob) };
  }

  /** Nobody else changes the states of the profile meanwhile; sessions may start with it. */
  async function locked<Result>(profile: ProfileRef, work: (transaction: Transaction<Tables>) => Promise<Result>): Promise<Result> {
    return query.transaction().execute(async (transaction) => {
      const found = await transaction.selectFrom("profiles").select("id").where("id", "=", profile.id).forNoKeyUpdate().executeTakeFirst();
      if (found === undefined) throw gone(profile.id);
      return work(transaction);
    });
  }

  async function refuseWriter(transaction: Transaction<Tables>, profileId: string): Promise<void> {
    const writer = await writerOf(transaction, profileId);
    if (writer !== undefined) throw heldBy(profileId, writer, "what you change now it would overwrite.");
  }

  async function named(names: readonly string[]): Promise<Set<string>> {
    const rows = names.length === 0 ? [] : await query.selectFrom("profile_versions").select("blob").where("blob", "in", names).execute();
    return new Set(rows.map(({ blob }) => blob));
  }

  async function dropBlobs(candidates: readonly string[]): Promise<void> {
    try {
      const kept = await named(candidates);
      for (const blob of candidates) if (!kept.has(blob)) await blobs.delete(blob);
    } catch (error) {
      log.warn({ err: error }, "old states of a profile could not be removed; they are swept later");
    }
  }

  return {
    async open(profile, version) {
      let rows = query
        .selectFrom("profile_versions")
        .innerJoin("profiles", "profiles.id", "profile_versions.profile_id")
        .select(["profile_versions.version", "blob", "profile_versions.size_bytes"])
        .where("profile_id", "=", profile.id);
      rows =
        version === undefined
          ? rows.whereRef("profile_versions.version", "=", "profiles.version")
          : rows.where("profile_versions.version", "=", version);
      const row = await rows.executeTakeFirst();
      if (row === undefined) return undefined;
      const found = await blobs.get(row.blob);
      if (found === undefined)
        throw new ServiceError(500, "internal_error", `Version ${String(row.version)} of profile ${profile.id} is not ${blobs.place}`);
      const stored = found.stream;
      async function* opened(): AsyncGenerator<Buffer, void, undefined> {
        try {
          yield* openStream(stored as AsyncIterable<Buffer>, keyOf(profile));
        } catch (error) {
          if (error instanceof SealBroken)
            log.error({ profile_id: profile.id, version: row?.version, err: error }, "a saved state of a profile cannot be read");
          throw error;
        } finally {
          stored.destroy();
        }
      }
      const archive = Readable.from(opened(), { objectMode: false });
      // Also when nobody ever reads it.
      archive.once("close", () => stored.destroy());
      return { version: row.version, sizeBytes: row.size_bytes, archive };
    },

    async save(profile, { source, sessionId, keepThroughVersion }, archive) {
      const content = await store(profile, archive);
      let added: Awaited<ReturnType<typeof add>>;
      try {
        added = await locked(profile, async (transaction) => {
          if (sessionId === undefined) await refuseWriter(transaction, profile.id);
          else {
            const session = await transaction
              .selectFrom("sessions")
              .select("id")
              .where("id", "=", sessionId)
              .where("ended_at", "is", null)
              .where("profile_id", "=", profile.id)
              .where("profile_save_changes", "=", true)
              .forShare()
              .executeTakeFirst();
            if (session === undefined)
              throw new ServiceError(409, "conflict", `Browser ${sessionId} has ended, and does not write to profile ${profile.id} any more.`);
          }
          return add(transaction, profile.id, { ...content, source, session_id: sessionId ?? null }, keepThroughVersion);
        });
      } catch (error) {
        await dropBlobs([content.blob]);
        throw error;
      }
      onChange(profile.id);
      await dropBlobs(added.blobs);
      return added.version;
    },

    async rollback(profile, version) {
      const { blobs: old } = await locked(profile, async (transaction) => {
        await refuseWriter(transaction, profile.id);
        const row = await transaction
          .selectFrom("profile_versions")
          .select(["blob", "size_bytes", "checksum"])
          .where("profile_id", "=", profile.id)
          .where("version", "=", version)
          .executeTakeFirst();
        if (row === undefined)
          throw new ServiceError(
            404,
            "not_found",
            `Profile ${profile.id} has no version ${String(version)}. See profiles.versions.list for those that are kept.`,
          );
        return add(transaction, profile.id, { ...row, source: "rollback", session_id: null });
      });
      await database.afterwards(async () => {
        onChange(profile.id);
        await dropBlobs(old);
      });
    },

    async copyInto(transaction, from, to) {
      const row = await transaction
        .selectFrom("profile_versions")
        .innerJoin("profiles", (join) =>
          join.onRef("profiles.id", "=", "profile_versions.profile_id").onRef("profiles.version", "=", "profile_versions.version"),
        )
        .select(["blob", "profile_versions.size_bytes", "checksum"])
        .where("profile_id", "=", from)
        .executeTakeFirst();
      if (row !== undefined) await add(transaction, to, { ...row, source: "clone", session_id: null });
    },

    async list(profileId, { limit, offset }) {
      const rows = await query
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
    },

    async noteFailure(profileId, message) {
      try {
        await query
          .updateTable("profiles")
          .set({ last_save_error: message.slice(0, 1000) })
          .where("id", "=", profileId)
          .execute();
        onChange(profileId);
      } catch (error) {
        log.warn({ profile_id: profileId, err: error }, "a failed save of a profile could not be noted");
      }
    },

    dropBlobs,
    sweep: () => sweepBlobs(blobs, named),
  };
}
