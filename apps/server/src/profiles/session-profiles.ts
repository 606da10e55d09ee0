import type { Database } from "@shoal/database";
import { answerText, type Instance } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import type { BrowserProfile } from "@shoal/schemas";
import type { IncomingMessage } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type * as z from "zod/mini";
import { endsAtOnce } from "../browsers/answering-instance.ts";
import type { Log } from "../log.ts";
import { heldBy, type ProfileSource, type ProfileStates, writerOf } from "./profile-states.ts";
import type { Profiles } from "./profiles.ts";

/** What of a session's row tells of its profile. */
export interface SessionOfProfile {
  readonly id: string;
  readonly project_id: string;
  readonly profile_id: string | null;
  readonly profile_save_changes: boolean;
  /** How often its browser was started again after a crash. */
  readonly browser_restarts: number;
}

/** A profile that a session starts from. */
export type ChosenProfile = Pick<SessionOfProfile, "profile_id" | "profile_save_changes">;

/** What sessions do with their profiles. */
export interface SessionProfiles {
  /** Finds the profile that a request names. @throws {ServiceError} 404. */
  choose(projectId: string, request: z.output<typeof BrowserProfile>): Promise<ChosenProfile>;
  /** Why a second writer is refused. */
  explainWriter(profileId: string): Promise<ServiceError>;
  /** Puts the present state into a session's browser, which starts again with it. @returns its number; `null` for an empty profile. @throws {ServiceError} */
  load(session: SessionOfProfile, instance: Instance, signal: AbortSignal): Promise<number | null>;
  /** Saves while the session goes on, as a version that later saves of the session do not replace. @throws {ServiceError} */
  save(session: SessionOfProfile, instance: Instance): Promise<void>;
  /**
   * Ends the session's browser and saves what it leaves; some tries, for no other will follow. All of them together get 120 s. Never rejects.
   *
   * @param cut - gives up when aborted; its reason is noted as the profile's `last_save_error`.
   */
  saveAtEnd(session: SessionOfProfile, instance: Instance, cut: AbortSignal): Promise<void>;
  /** Saves from time to time, as long as the session is used. @returns stops that; what is being saved then is finished. */
  keep(current: () => SessionOfProfile, instance: Instance, idleSinceMs: () => number | null): () => void;
}

export interface SessionProfilesOptions {
  readonly database: Database;
  readonly profiles: Pick<Profiles, "get" | "forget">;
  readonly states: ProfileStates;
  /** How often a session that goes on is saved, in milliseconds; 0 = only when it is asked for. */
  readonly checkpointMs: number;
  readonly log: Log;
}

const loadTimeoutMs = 120_000;
const saveTimeoutMs = 120_000;
/** Before another try, twice as long each time. */
const firstRetryMs = 500;
const saveTries = 4;
/** Saving must not become what a session does: a pause is at least so many times as long as the save before it. */
const pauseFactor = 20;

/** Why a session saves. */
type SessionSource = Extract<ProfileSource, "session" | "checkpoint" | "save">;

interface LatestSave {
  readonly version: number;
  /** Crashes of the browser before it. */
  readonly restarts: number;
  readonly keepThroughVersion: number;
}

/** Keeps the latest version before the first crash. Only the first one counts: a hostile instance must not evict other versions by reporting many. */
function keptThrough(latest: LatestSave | undefined, restarts: number): number {
  if (latest === undefined) return 0;
  return latest.restarts === 0 && restarts > 0 ? latest.version : latest.keepThroughVersion;
}

async function refusal(answer: IncomingMessage, what: string): Promise<ServiceError> {
  const said = await answerText(answer).catch(() => "");
  return new ServiceError(503, "browser_not_running", `${what}: ${said.slice(0, 500)}`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function createSessionProfiles({ database, profiles, states, checkpointMs, log }: SessionProfilesOptions): SessionProfiles {
  const { query } = database;

  /** One save of a session follows the other, or an early one might be stored last. */
  const queues = new Map<string, Promise<unknown>>();
  function inTurn(sessionId: string, work: () => Promise<void>): Promise<void> {
    const done = (queues.get(sessionId) ?? Promise.resolve()).then(work);
    const settled = done
      .catch(() => undefined)
      .then(() => {
        if (queues.get(sessionId) === settled) queues.delete(sessionId);
      });
    queues.set(sessionId, settled);
    return done;
  }
  const save = (session: SessionOfProfile, instance: Instance, source: SessionSource, signal = AbortSignal.timeout(saveTimeoutMs)): Promise<void> =>
    inTurn(session.id, () => saveNow(session, instance, { source, signal }));

  const latestSaves = new WeakMap<Instance, LatestSave>();

  async function saveNow(
    session: SessionOfProfile,
    instance: Instance,
    { source, signal }: { readonly source: SessionSource; readonly signal: AbortSignal },
  ): Promise<void> {
    signal.throwIfAborted();
    const { id, project_id, profile_id } = session;
    if (profile_id === null) return;
    const isEnd = source === "session";
    const answer = await instance.request({
      method: isEnd ? "POST" : "GET",
      path: isEnd ? "/_instance/profile/final" : "/_instance/profile",
      signal,
    });
    if (answer.statusCode !== 200) throw await refusal(answer, `The browser of session ${id} could not hand out what it keeps`);
    const keepThroughVersion = keptThrough(latestSaves.get(instance), session.browser_restarts);
    const version = await states.save({ id: profile_id, project_id }, { source, sessionId: id, keepThroughVersion }, answer);
    latestSaves.set(instance, { version, restarts: session.browser_restarts, keepThroughVersion });
  }

  /** Tells those who look at the profile, unless it is nobody's affair any more. */
  async function note(session: SessionOfProfile, error: unknown): Promise<void> {
    log.warn({ session_id: session.id, profile_id: session.profile_id, err: error }, "the session's profile could not be saved");
    const isOver = ServiceError.isInstance(error) && (error.status === 404 || error.status === 409);
    if (session.profile_id !== null && !isOver)
      await states.noteFailure(session.profile_id, `Browser ${session.id}, at ${new Date().toISOString()}: ${messageOf(error)}`);
  }

  return {
    async choose(projectId, { id, name, save_changes }) {
      const profile = await profiles.get(projectId, id ?? name ?? "");
      // An id that is another profile's name is not meant, nor the other way round.
      if (id === undefined ? profile.name !== name : profile.id !== id)
        throw new ServiceError(
          404,
          "not_found",
          `Profile ${id ?? name ?? ""} was not found in this project. List the profiles with profiles.list, or create it with profiles.create.`,
        );
      return { profile_id: profile.id, profile_save_changes: save_changes };
    },

    async explainWriter(profileId) {
      return heldBy(profileId, (await writerOf(query, profileId)) ?? "that has just ended", "or leave save_changes away.");
    },

    async load({ id, project_id, profile_id }, instance, signal) {
      if (profile_id === null) return null;
      const state = await states.open({ id: profile_id, project_id });
      await query.updateTable("profiles").set({ last_used_at: new Date() }).where("id", "=", profile_id).execute();
      profiles.forget(profile_id);
      if (state === undefined) return null;
      try {
        const answer = await instance.request(
          {
            method: "PUT",
            path: "/_instance/profile",
            headers: { "content-type": "application/zstd" },
            signal: AbortSignal.any([signal, AbortSignal.timeout(loadTimeoutMs)]),
          },
          state.archive,
        );
        if (answer.statusCode !== 200)
          throw await refusal(answer, `Version ${String(state.version)} of profile ${profile_id} could not be loaded into browser ${id}`);
        await answerText(answer);
      } catch (error) {
        const cause = state.archive.errored ?? error;
        if (ServiceError.isInstance(cause)) throw cause;
        throw new ServiceError(
          500,
          "internal_error",
          `Version ${String(state.version)} of profile ${profile_id} could not be loaded into browser ${id}: ${messageOf(cause)} Roll the profile back with profiles.rollback if that goes on.`,
          { cause },
        );
      } finally {
        state.archive.destroy();
      }
      return state.version;
    },

    async save(session, instance) {
      try {
        await save(session, instance, "save");
      } catch (error) {
        await note(session, error);
        if (ServiceError.isInstance(error)) throw error;
        const isGone = await endsAtOnce(instance);
        throw new ServiceError(
          isGone ? 503 : 500,
          isGone ? "browser_not_running" : "internal_error",
          `What browser ${session.id} keeps could not be saved to profile ${session.profile_id ?? ""}: ${messageOf(error)} What was saved before is untouched.`,
          { cause: error },
        );
      }
    },

    async saveAtEnd(session, instance, cut) {
      const signal = AbortSignal.any([cut, AbortSignal.timeout(saveTimeoutMs)]);
      for (let attempt = 1; ; attempt += 1) {
        try {
          await save(session, instance, "session", signal);
          return;
        } catch (error) {
          const isFinal = ServiceError.isInstance(error) && error.status < 500;
          if (attempt < saveTries && !isFinal && !signal.aborted) {
            log.warn({ session_id: session.id, attempt, err: error }, "the session's profile could not be saved yet");
            await delay(firstRetryMs * 2 ** (attempt - 1), undefined, { signal }).catch(() => undefined);
            continue;
          }
          await note(session, cut.aborted ? cut.reason : error);
          return;
        }
      }
    },

    keep(current, instance, idleSinceMs) {
      let timer: NodeJS.Timeout | undefined;
      let stopped = checkpointMs === 0;
      let savedAtMs = Date.now();
      function next(afterMs: number): void {
        if (!stopped) timer = setTimeout(() => void look(), afterMs).unref();
      }
      async function look(): Promise<void> {
        const idle = idleSinceMs();
        // Nobody has used it since.
        if (idle !== null && idle < savedAtMs) {
          next(checkpointMs);
          return;
        }
        const startedAt = performance.now();
        const atMs = Date.now();
        try {
          await save(current(), instance, "checkpoint");
          savedAtMs = atMs;
        } catch (error) {
          if (!stopped) await note(current(), error);
        }
        next(Math.max(checkpointMs, pauseFactor * (performance.now() - startedAt)));
      }
      next(checkpointMs);
      return () => {
        stopped = true;
        clearTimeout(timer);
      };
    },
  };
}
