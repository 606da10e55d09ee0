import type { ProjectLookup } from "../../../http/auth/project-lookup.ts";
import type { Log } from "../../../log/log.ts";
import type { ReplayStore } from "../../replays/replay-store.ts";
import { startRecording } from "../../replays/start-recording.ts";
import { type CapturedCategories, categoriesAtStart, defaultCategories } from "../../telemetry/categories.ts";
import type { PooledRequest, RunningSession } from "../running-session.ts";
import type { SessionRules } from "../session-runner.ts";

export interface SessionDefaultsParts {
  readonly projects: Pick<ProjectLookup, "find">;
  readonly replays: Pick<ReplayStore, "admit" | "keep">;
  readonly rules: Pick<SessionRules, "defaultRecording" | "defaultTelemetry">;
  readonly log: Log;
}

/** What sessions capture and record. If they do not say it: as their project, or else the service says. */
export class SessionDefaults {
  readonly #parts: SessionDefaultsParts;

  constructor(parts: SessionDefaultsParts) {
    this.#parts = parts;
  }

  /**
   * What a new session captures. Sessions of the service itself, such as logins, have no defaults.
   *
   * @throws {ServiceError} 400 for contradictory telemetry fields.
   */
  async captured(
    projectId: string,
    { stealth, telemetry }: Pick<PooledRequest, "stealth" | "telemetry">,
    isOfService = false,
  ): Promise<CapturedCategories | undefined> {
    if (isOfService) return categoriesAtStart(telemetry, undefined);
    const project = await this.#parts.projects.find(projectId);
    const standard = defaultCategories(project?.default_telemetry ?? this.#parts.rules.defaultTelemetry, stealth);
    return categoriesAtStart(telemetry, standard);
  }

  /** Waits only for a recording that the session itself requests. @param end - ends the session. @throws {ServiceError} 409, 507 if that recording cannot start. */
  async recordNew(session: RunningSession, end: () => unknown): Promise<void> {
    if (session.row.options.recording_video !== true) {
      void this.record(session);
      return;
    }
    try {
      await this.#start(session);
    } catch (error) {
      end();
      throw error;
    }
  }

  /** Records a session from now on, if it or else its project says so. Never rejects: the session goes on without. */
  async record(session: RunningSession): Promise<void> {
    const { log, projects, rules } = this.#parts;
    const { id, options, project_id: projectId } = session.row;
    try {
      const stated = options.recording_video;
      if (stated ?? (await projects.find(projectId))?.default_recording ?? rules.defaultRecording)
        await this.#start(session, { byDefault: stated === undefined });
    } catch (error) {
      if (session.ending === undefined)
        log.warn({ session_id: id, err: error }, "a session could not be recorded from its start");
    }
  }

  async #start(
    { instance, row: { id, project_id: projectId } }: RunningSession,
    { byDefault = false }: { readonly byDefault?: boolean } = {},
  ): Promise<void> {
    if (instance === undefined) return;
    await startRecording(
      this.#parts.replays,
      { session: { id, projectId }, instance, byDefault },
      { body: { record_audio: false }, requestId: `start-${id}` },
    );
  }
}
