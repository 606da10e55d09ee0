import type { Page } from "@shoal/contract";
import { type Database, outageOf, type Tables } from "@shoal/database";
import { ServiceError } from "@shoal/router";
import type { ProfileVersion } from "@shoal/schemas";
import { Readable } from "node:stream";
import type { Transaction } from "kysely";
import { type Blobs, sweepBlobs } from "../../storage/blobs/blobs.ts";
import { BlobTooLarge, MeasuredContent } from "../../storage/blobs/measured-content.ts";
import { openStream, SealBroken, sealStream } from "../../storage/blobs/sealed-stream.ts";
import type { Log } from "../../log/log.ts";
import type { Secrets } from "../../storage/secrets.ts";
import {
  contentOf,
  currentContentOf,
  type ProfileSource,
  ProfileVersions,
  refuseWriter,
  requireWriter,
  type VersionContent,
} from "./profile-versions.ts";

export interface SaveOrigin {
  readonly source: ProfileSource;
  /**
   * Only while this session runs, so that a server that others consider dead overwrites nothing. Absent: only while no
   * session writes to the profile.
   */
  readonly sessionId?: string;
  /** Keep versions of this session up to this number. */
  readonly keepThroughVersion?: number;
}

/** The project is part of the encryption key of the states. */
export interface ProfileRef {
  readonly id: string;
  readonly project_id: string;
}

/** Read or destroy the archive. */
export interface OpenedState {
  readonly version: number;
  readonly sizeBytes: number;
  /** Tar, compressed with Zstandard. */
  readonly archive: Readable;
}

/** A state outside of the versions of profiles. */
export interface LentState {
  /** Read or destroy the archive. */
  open(): Promise<Readable>;
  /** Never rejects. */
  drop(): Promise<void>;
}

export interface ProfileStatesOptions {
  readonly database: Database;
  readonly blobs: Blobs;
  readonly secrets: Pick<Secrets, "keysOfStream">;
  /** Per profile. */
  readonly keepVersions: number;
  readonly maxBytes: number;
  readonly onChange: (profileId: string) => void;
  readonly log: Log;
}

export class ProfileStates {
  readonly #database: Database;
  readonly #versions: ProfileVersions;
  readonly #blobs: Blobs;
  readonly #secrets: Pick<Secrets, "keysOfStream">;
  readonly #maxBytes: number;
  readonly #onChange: (profileId: string) => void;
  readonly #log: Log;

  constructor({ database, blobs, secrets, keepVersions, maxBytes, onChange, log }: ProfileStatesOptions) {
    this.#database = database;
    this.#versions = new ProfileVersions(database, keepVersions);
    this.#blobs = blobs;
    this.#secrets = secrets;
    this.#maxBytes = maxBytes;
    this.#onChange = onChange;
    this.#log = log;
  }

  /** Skips archives that a version refers to. */
  async dropBlobs(candidates: readonly string[]): Promise<void> {
    try {
      const kept = await this.#versions.named(candidates);
      for (const blob of candidates) if (!kept.has(blob)) await this.#blobs.delete(blob);
    } catch (error) {
      this.#log.warn({ err: error }, "old states of a profile could not be removed; a sweep removes them later");
    }
  }

  /** @param version - default: the current one. */
  async open(profile: ProfileRef, version?: number): Promise<OpenedState | undefined> {
    const first = await this.#versions.find(profile.id, version);
    return first && this.#openVersion(profile, first, version);
  }

  async #openVersion(
    profile: ProfileRef,
    row: NonNullable<Awaited<ReturnType<ProfileVersions["find"]>>>,
    version: number | undefined,
  ): Promise<OpenedState | undefined> {
    const found = await this.#blobs.get(row.blob);
    if (found === undefined) {
      // The session that writes to the profile may have replaced it after the row was read.
      const now = await this.#versions.find(profile.id, version);
      if (now?.blob !== row.blob) return now && this.#openVersion(profile, now, version);
      throw new ServiceError(
        500,
        "internal_error",
        `Version ${String(row.version)} of profile ${profile.id} is not ${this.#blobs.place}`,
      );
    }
    const archive = this.#archiveOf(found.stream, profile, { profile_id: profile.id, version: row.version });
    return { version: row.version, sizeBytes: row.size_bytes, archive };
  }

  /** Stores a state that several browsers of the project start with. @throws {ServiceError} 413. */
  async lend(project: Pick<ProfileRef, "project_id">, archive: Readable, what: string): Promise<LentState> {
    const { blob } = await this.#store(project, archive, what);
    return {
      open: async () => {
        const found = await this.#blobs.get(blob);
        if (found === undefined)
          throw new ServiceError(500, "internal_error", `The state of ${what} is not ${this.#blobs.place}`);
        return this.#archiveOf(found.stream, project, { blob });
      },
      drop: () => this.dropBlobs([blob]),
    };
  }

  #archiveOf(sealed: Readable, project: Pick<ProfileRef, "project_id">, facts: object): Readable {
    const archive = Readable.from(this.#unsealed(sealed, project, facts), { objectMode: false });
    // The generator does not run if the archive is never read.
    archive.once("close", () => sealed.destroy());
    return archive;
  }

  async *#unsealed(
    sealed: Readable,
    project: Pick<ProfileRef, "project_id">,
    facts: object,
  ): AsyncGenerator<Buffer, void, undefined> {
    try {
      yield* openStream(sealed as AsyncIterable<Buffer>, this.#keysOf(project));
    } catch (error) {
      if (error instanceof SealBroken)
        this.#log.error({ ...facts, err: error }, "cannot decrypt a saved profile state");
      throw error;
    } finally {
      sealed.destroy();
    }
  }

  /**
   * Replaces states that the same session saved automatically; keeps versions that a user saved.
   * @returns the number of the new version. @throws {ServiceError} 404 when the profile is gone, 409, 413.
   */
  async save(
    profile: ProfileRef,
    { source, sessionId, keepThroughVersion }: SaveOrigin,
    archive: Readable,
  ): Promise<number> {
    const content = await this.#store(profile, archive, `profile ${profile.id}`);
    let added: { readonly version: number; readonly blobs: string[] };
    try {
      added = await this.#versions.locked(profile.id, async (transaction) => {
        if (sessionId === undefined) await refuseWriter(transaction, profile.id);
        else await requireWriter(transaction, profile.id, sessionId);
        const version = { ...content, source, session_id: sessionId ?? null };
        return this.#versions.add(transaction, profile.id, version, keepThroughVersion);
      });
    } catch (error) {
      // After a broken connection the version may exist: a sweep removes the archive if it does not.
      if (outageOf(error) === undefined) await this.dropBlobs([content.blob]);
      throw error;
    }
    this.#onChange(profile.id);
    await this.dropBlobs(added.blobs);
    return added.version;
  }

  /** Makes a version the current one, under a new number. @throws {ServiceError} 404, 409. */
  async rollback(profile: ProfileRef, version: number): Promise<void> {
    const { blobs: old } = await this.#versions.locked(profile.id, async (transaction) => {
      await refuseWriter(transaction, profile.id);
      const content = await contentOf(transaction, profile.id, version);
      return this.#versions.add(transaction, profile.id, { ...content, source: "rollback", session_id: null });
    });
    await this.#database.afterwards(async () => {
      this.#onChange(profile.id);
      await this.dropBlobs(old);
    });
  }

  /** Runs in the transaction that creates the new profile. */
  async copyInto(transaction: Transaction<Tables>, from: string, to: string): Promise<void> {
    const content = await currentContentOf(transaction, from);
    if (content !== undefined)
      await this.#versions.add(transaction, to, { ...content, source: "clone", session_id: null });
  }

  list(profileId: string, window: { readonly limit: number; readonly offset: number }): Promise<Page<ProfileVersion>> {
    return this.#versions.list(profileId, window);
  }

  /** Records why the latest save failed. Never rejects. */
  async noteFailure(profileId: string, message: string): Promise<void> {
    try {
      await this.#versions.noteFailure(profileId, message);
      this.#onChange(profileId);
    } catch (error) {
      this.#log.warn({ profile_id: profileId, err: error }, "the failed save of a profile could not be recorded");
    }
  }

  /** Removes archives that a killed server left. @returns their number. */
  sweep(): Promise<number> {
    return sweepBlobs(this.#blobs, (names) => this.#versions.named(names));
  }

  #keysOf({ project_id }: Pick<ProfileRef, "project_id">) {
    return (salt: Uint8Array) => this.#secrets.keysOfStream(salt, `profile states of ${project_id}`);
  }

  async #store(project: Pick<ProfileRef, "project_id">, archive: Readable, what: string): Promise<VersionContent> {
    const content = new MeasuredContent(archive, this.#maxBytes);
    const sealed = Readable.from(sealStream(content.chunks(), this.#keysOf(project)), { objectMode: false });
    try {
      // The limit of the content applies first; sealing adds at most 0.1 %.
      const { name } = await this.#blobs.put(sealed, { maxBytes: this.#maxBytes * 2 + 2 ** 20 });
      const { sha256, sizeBytes } = content.result();
      return { blob: name, size_bytes: sizeBytes, checksum: sha256 };
    } catch (error) {
      archive.destroy();
      if (!(error instanceof BlobTooLarge)) throw error;
      throw new ServiceError(
        413,
        "payload_too_large",
        `The state of ${what} is larger than ${String(Math.floor(this.#maxBytes / 2 ** 20))} MiB (profile_max_mib) after compression.`,
        { limit: this.#maxBytes, hint: "Clear data of its sites, or raise the limit.", cause: error },
      );
    }
  }
}
