import { profileHasWriter, profileNotFound } from "@shoal/contract/refusals";
import type { Database } from "@shoal/database";
import { instanceControl } from "@shoal/instance";
import { type Instance, InstanceRefusal, streamFromInstance } from "@shoal/placement";
import { anySignal, KeyedMutex, messageOf } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { BrowserProfile, Profile } from "@shoal/schemas";
import { setTimeout as delay } from "node:timers/promises";
import type * as z from "zod/mini";
import { endsAtOnce } from "./answering-instance.ts";
import type { Log } from "../../log/log.ts";
import { type ProfileSource, writerOf } from "../../resources/profiles/profile-versions.ts";
import type { LentState, ProfileStates } from "../../resources/profiles/profile-states.ts";
import type { Profiles } from "../../resources/profiles/profiles.ts";
import { ProfileLoad } from "./start/profile-load.ts";

export interface SessionOfProfile {
  readonly id: string;
  readonly project_id: string;
  readonly profile_id: string | null;
  readonly profile_save_changes: boolean;
  readonly browser_restarts: number;
}

export type ChosenProfile = Pick<SessionOfProfile, "profile_id" | "profile_save_changes">;

export interface SessionProfilesOptions {
  readonly database: Database;
  readonly profiles: Pick<Profiles, "get" | "forget">;
  readonly states: ProfileStates;
  /** 0 = none. */
  readonly checkpointMs: number;
  readonly log: Log;
}

const saveTimeoutMs = 120_000;
const firstRetryMs = 500;
const saveTries = 4;
/** A pause is at least this many times as long as the save before it, so that saving does not dominate. */
const pauseFactor = 20;

type SessionSource = Extract<ProfileSource, "session" | "checkpoint" | "save">;

type Archive = ReturnType<typeof streamFromInstance>;

interface LatestSave {
  readonly version: number;
  readonly restarts: number;
  readonly keepThroughVersion: number;
}

/** Loads profiles into the browsers of sessions, and saves them. */
export class SessionProfiles {
  readonly #options: SessionProfilesOptions;
  /** By session. Serialized, or an early save might be stored last. */
  readonly #saving = new KeyedMutex<string>();
  readonly #latestSaves = new WeakMap<Instance, LatestSave>();

  constructor(options: SessionProfilesOptions) {
    this.#options = options;
  }

  async choose(projectId: string, { id, name, save_changes }: z.output<typeof BrowserProfile>): Promise<ChosenProfile> {
    const profile = await this.#options.profiles.get(projectId, id ?? name ?? "");
    // `get` takes both; an id must not match another profile's name, or the reverse.
    if (id === undefined ? profile.name !== name : profile.id !== id)
      throw ServiceError.of(profileNotFound(id ?? name ?? ""));
    return { profile_id: profile.id, profile_save_changes: save_changes };
  }

  /** What sessions of a profile get from it, in addition to its state. */
  async settingsOf(
    projectId: string,
    profileId: string,
  ): Promise<Pick<Profile, "conditions" | "location" | "web_bot_auth">> {
    return this.#options.profiles.get(projectId, profileId);
  }

  async explainWriter(profileId: string): Promise<ServiceError> {
    const writer = await writerOf(this.#options.database.query, profileId);
    return ServiceError.of(profileHasWriter(profileId, writer ?? "that has just ended"));
  }

  /** Prepares to load the profile's present state. @returns `undefined` for an empty profile. */
  async load({ id, project_id, profile_id }: SessionOfProfile): Promise<ProfileLoad | undefined> {
    if (profile_id === null) return undefined;
    const { database, profiles, states } = this.#options;
    const used = await database.query
      .updateTable("profiles")
      .set({ last_used_at: new Date() })
      .where("id", "=", profile_id)
      .returning("version")
      .executeTakeFirst();
    profiles.forget(profile_id);
    const isEmpty = (used?.version ?? undefined) === undefined;
    return isEmpty ? undefined : new ProfileLoad(id, { id: profile_id, project_id }, states);
  }

  /** Reads the state of a running browser with its tabs. Drop it. @throws {ServiceError} 413, 503. */
  async readForFork({ id, project_id }: SessionOfProfile, instance: Instance, cut: AbortSignal): Promise<LentState> {
    const signal = anySignal([cut, AbortSignal.timeout(saveTimeoutMs)]);
    try {
      const archive = await explained(id, streamFromInstance(instance, instanceControl.saveForFork, { signal }));
      return await this.#options.states.lend({ project_id }, archive, `browser ${id}`);
    } catch (error) {
      if (ServiceError.isInstance(error) || cut.aborted) throw error;
      const isGone = await endsAtOnce(instance);
      throw new ServiceError(
        isGone ? 503 : 500,
        isGone ? "browser_not_running" : "internal_error",
        `The state of browser ${id} could not be read: ${messageOf(error)}`,
        { cause: error },
      );
    }
  }

  /** Saves a version that later saves of this session do not replace. @throws {ServiceError} */
  async save(session: SessionOfProfile, instance: Instance): Promise<void> {
    try {
      await this.#save(session, instance, "save");
    } catch (error) {
      await this.#note(session, error);
      if (ServiceError.isInstance(error)) throw error;
      const isGone = await endsAtOnce(instance);
      throw new ServiceError(
        isGone ? 503 : 500,
        isGone ? "browser_not_running" : "internal_error",
        `Browser ${session.id} could not be saved to profile ${session.profile_id ?? ""}: ${messageOf(error)} Earlier versions are unchanged.`,
        { cause: error },
      );
    }
  }

  /**
   * Retries for up to 120 s. Never rejects. @param cut - its reason becomes the profile's `last_save_error`.
   * @returns whether the profile was saved.
   */
  async saveAtEnd(session: SessionOfProfile, instance: Instance, cut: AbortSignal): Promise<boolean> {
    const signal = anySignal([cut, AbortSignal.timeout(saveTimeoutMs)]);
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#save(session, instance, "session", signal);
        return true;
      } catch (error) {
        const isFinal = ServiceError.isInstance(error) && error.status < 500;
        if (attempt === saveTries || isFinal || signal.aborted) {
          await this.#note(session, cut.aborted ? cut.reason : error);
          return false;
        }
        const { log } = this.#options;
        log.warn({ session_id: session.id, attempt, err: error }, "the session's profile could not be saved yet");
        await delay(firstRetryMs * 2 ** (attempt - 1), undefined, { signal }).catch(() => undefined);
      }
    }
  }

  /** Saves at intervals while the session is used. @returns a function that stops this after the current save. */
  keep(current: () => SessionOfProfile, instance: Instance, idleSinceMs: () => number | null): () => void {
    const { checkpointMs } = this.#options;
    const stopping = new AbortController();
    const { signal } = stopping;
    let savedAtMs = Date.now();
    const look = async (): Promise<number> => {
      const idle = idleSinceMs();
      if (idle !== null && idle < savedAtMs) return checkpointMs;
      const startedAt = performance.now();
      const atMs = Date.now();
      try {
        await this.#save(current(), instance, "checkpoint");
        savedAtMs = atMs;
      } catch (error) {
        if (!signal.aborted) await this.#note(current(), error);
      }
      return Math.max(checkpointMs, pauseFactor * (performance.now() - startedAt));
    };
    if (checkpointMs > 0) void repeat(look, checkpointMs, signal);
    return () => {
      stopping.abort();
    };
  }

  #save(
    session: SessionOfProfile,
    instance: Instance,
    source: SessionSource,
    signal = AbortSignal.timeout(saveTimeoutMs),
  ): Promise<void> {
    return this.#saving.run(session.id, () => this.#saveNow(session, instance, { source, signal }));
  }

  async #saveNow(
    session: SessionOfProfile,
    instance: Instance,
    { source, signal }: { readonly source: SessionSource; readonly signal: AbortSignal },
  ): Promise<void> {
    signal.throwIfAborted();
    const { id, project_id, profile_id } = session;
    if (profile_id === null) return;
    const answer = await explained(id, readState(instance, source, signal));
    const keepThroughVersion = keptThrough(this.#latestSaves.get(instance), session.browser_restarts);
    const version = await this.#options.states.save(
      { id: profile_id, project_id },
      { source, sessionId: id, keepThroughVersion },
      answer,
    );
    this.#latestSaves.set(instance, { version, restarts: session.browser_restarts, keepThroughVersion });
  }

  /** Does nothing if the profile is gone or has another writer. */
  async #note({ id, profile_id }: SessionOfProfile, error: unknown): Promise<void> {
    const { log, states } = this.#options;
    log.warn({ session_id: id, profile_id, err: error }, "the session's profile could not be saved");
    const isOver = ServiceError.isInstance(error) && (error.status === 404 || error.status === 409);
    if (profile_id !== null && !isOver)
      await states.noteFailure(profile_id, `Browser ${id}, at ${new Date().toISOString()}: ${messageOf(error)}`);
  }
}

function readState(instance: Instance, source: SessionSource, signal: AbortSignal): Archive {
  const { saveProfile, saveProfileAtEnd } = instanceControl;
  return source === "session"
    ? streamFromInstance(instance, saveProfileAtEnd, { signal })
    : streamFromInstance(instance, saveProfile, { signal, ...(source === "checkpoint" && { query: { source } }) });
}

/** @throws {ServiceError} 503 when the instance refuses. */
async function explained(id: string, archive: Archive): Archive {
  return archive.catch((error: unknown) => {
    if (!(error instanceof InstanceRefusal)) throw error;
    const what = `The profile of browser ${id} could not be read: ${error.problem}`;
    throw new ServiceError(503, "browser_not_running", what, { hint: error.hint, cause: error });
  });
}

/** Of the first crash only, so that a hostile instance cannot evict versions by reporting many. */
function keptThrough(latest: LatestSave | undefined, restarts: number): number {
  if (latest === undefined) return 0;
  return latest.restarts === 0 && restarts > 0 ? latest.version : latest.keepThroughVersion;
}

/** @param work - returns the pause before its next call, in milliseconds. */
async function repeat(work: () => Promise<number>, firstPauseMs: number, signal: AbortSignal): Promise<void> {
  let pauseMs = firstPauseMs;
  for (;;) {
    await delay(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
    if (signal.aborted) return;
    pauseMs = await work();
  }
}
