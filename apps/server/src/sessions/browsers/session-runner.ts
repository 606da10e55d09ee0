import type { Instance } from "@shoal/placement";
import { ClientPresence } from "./clients/client-presence.ts";
import { OutsideUse } from "./clients/outside-use.ts";
import { ServiceError } from "@shoal/router";
import type { EndedReason } from "@shoal/schemas";
import { setTimeout as delay } from "node:timers/promises";
import type { LiveFields } from "../../cluster/live-fields.ts";
import type { Log } from "../../log/log.ts";
import type { SessionLimits } from "../../storage/errors/session-limits.ts";
import type { DownloadStore } from "../downloads/download-store.ts";
import type { NetworkRecordings } from "../network-recordings/network-recordings.ts";
import type { ReplayStore } from "../replays/replay-store.ts";
import { categoriesNamed } from "../telemetry/categories.ts";
import type { TelemetryExports } from "../telemetry/export/exports.ts";
import type { UsageMeter } from "../../usage/usage-meter.ts";
import { crashText, type EndCause, lifecycleAtEnd, noteUse } from "./lifecycle.ts";
import type { RunningSession, SessionView } from "./running-session.ts";
import { hasEnded } from "./session-errors.ts";
import type { SessionProfiles } from "./session-profiles.ts";
import type { SessionRow, SessionStore } from "./session-store.ts";

/** Their browser still runs, so its profile is saved. Otherwise the latest checkpoint remains. */
const savedEnds: ReadonlySet<EndedReason> = new Set([
  "deleted",
  "timeout",
  "max_duration",
  "disconnected",
  "server_stopped",
]);

export interface SessionRules {
  readonly maxSessions: number;
  readonly limits: SessionLimits;
  readonly idleTimeoutSeconds: number;
  readonly sleepAfterSeconds: number;
  /** For projects without their own: see `SessionDefaults`. */
  readonly defaultTelemetry: readonly string[];
  readonly defaultRecording: boolean;
  /** `Infinity` = the machine's memory. */
  readonly maxMemoryBytes: number;
}

export interface SessionRunnerParts {
  readonly store: SessionStore;
  readonly profiles: Pick<SessionProfiles, "saveAtEnd">;
  readonly downloads: Pick<DownloadStore, "finish" | "keep" | "keepsAny">;
  readonly replays: Pick<ReplayStore, "finish" | "wasRecorded">;
  readonly networkRecordings: Pick<NetworkRecordings, "finish">;
  readonly exports: Pick<TelemetryExports, "settled">;
  /** Called after the last file of an ended session is complete. */
  readonly onFiles: (sessionId: string) => void;
  readonly handoffs: { isActive(sessionId: string): Promise<boolean> };
  readonly rules: SessionRules;
  readonly usage: Pick<UsageMeter, "follow">;
  /** True while the other servers may have declared this server dead. */
  readonly isDoubtful: () => boolean;
  readonly log: Log;
}

export class SessionRunner {
  readonly sessions = new Map<string, RunningSession>();
  /** Ends and removals of rows that {@link record} could not write, by the session's id. */
  readonly unwritten = new Map<string, () => Promise<void>>();
  readonly #parts: SessionRunnerParts;
  readonly #cut = new AbortController();
  #closed = false;
  #draining = false;

  constructor(parts: SessionRunnerParts) {
    this.#parts = parts;
  }

  /** True while running sessions go on and no new ones start. */
  get isDraining(): boolean {
    return this.#draining;
  }

  /** Starts no more sessions. Running ones go on. */
  drain(): void {
    this.#draining = true;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** @param live - the fields that the server of a remote session reports. */
  view(row: SessionRow, live?: LiveFields): SessionView {
    const running = this.sessions.get(row.id);
    const idleSinceMs = row.ended_at === null ? ((running ?? live)?.idleSinceMs ?? null) : null;
    return {
      row:
        running === undefined
          ? row
          : { ...row, browser_restarts: running.row.browser_restarts, lifecycle: running.lifecycle },
      pageUrl: row.ended_at === null ? (running ?? live)?.pageUrl : undefined,
      asleepSinceMs: row.ended_at === null ? (running?.instance?.sleep ?? live)?.asleepSinceMs : undefined,
      expiresAt: idleSinceMs === null ? undefined : new Date(idleSinceMs + row.timeout_seconds * 1000),
      captured:
        row.ended_at === null && live === undefined
          ? running?.captured
          : categoriesNamed((row.ended_at === null ? live?.captured : row.lifecycle.captured) ?? []),
    };
  }

  /** Writes the end or the removal of a row. After a long outage of the database, `ForgottenRows` writes it. */
  async record(session: Pick<RunningSession, "row">, write: () => Promise<void>): Promise<void> {
    if (!(await this.persist(session, write))) this.unwritten.set(session.row.id, write);
  }

  /** Retries a write for 25 seconds during a database outage. @returns whether it was written. */
  async persist(session: Pick<RunningSession, "row">, write: () => Promise<void>): Promise<boolean> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await write();
        return true;
      } catch (error) {
        this.#parts.log.warn(
          { session_id: session.row.id, attempt, err: error },
          "the session's row could not be written",
        );
        if (attempt === 8 || this.#closed) return false;
        await delay(100 * 2 ** attempt, undefined, { ref: false });
      }
    }
  }

  room(): number {
    if (this.#closed || this.#draining) return 0;
    const running = [...this.sessions.values()].filter(({ ending }) => ending === undefined).length;
    return Math.max(0, this.#parts.rules.maxSessions - running);
  }

  /** @throws {ServiceError} 503 when the server stops or was declared dead, 529 at its limit. */
  requireRoom(): void {
    this.refuseStopping();
    if (this.room() === 0)
      throw new ServiceError(
        529,
        "capacity_exhausted",
        `This server runs ${String(this.#parts.rules.maxSessions)} sessions, its limit (max_sessions).`,
        {
          limit: this.#parts.rules.maxSessions,
          hint: "Wait until one ends, or raise the limit if the machine has enough memory.",
          retryAfterSeconds: 5,
        },
      );
  }

  /** @throws {ServiceError} 503 when the server stops or was declared dead. */
  refuseStopping(): void {
    if (this.#closed || this.#draining)
      throw new ServiceError(503, "shutting_down", "The server is stopping and starts no new sessions.", {
        retryAfterSeconds: 5,
      });
    this.refuseDoubtful();
  }

  /** Ends the session after `seconds` from now even if it is used; replaces an earlier limit. */
  limit(session: RunningSession, seconds: number): void {
    clearTimeout(session.endTimer);
    session.endTimer = setTimeout(() => void this.end(session, "max_duration"), seconds * 1000).unref();
  }

  /** @throws {ServiceError} 503 while the other servers may have ended this server's sessions in the database. */
  refuseDoubtful(): void {
    if (this.#parts.isDoubtful())
      throw new ServiceError(
        503,
        "server_unreachable",
        "This server was paused for some seconds and is checking whether its sessions still exist.",
        { hint: "Repeat the request in a moment.", retryAfterSeconds: 1 },
      );
  }

  /** @throws {ServiceError} 404 when the session has ended, 409 while it starts. */
  instanceOf(session: RunningSession): Instance {
    this.refuseDoubtful();
    if (session.ending !== undefined) throw hasEnded(session.row.id, session.ending.reason, session.ending.at);
    if (session.instance === undefined)
      throw new ServiceError(409, "browser_not_running", `Browser ${session.row.id} is still starting.`, {
        retryAfterSeconds: 1,
      });
    return session.instance;
  }

  /** Counts as a use of the session, as its instance counts it. @throws as {@link SessionRunner.instanceOf}. */
  async inUse<Result>(session: RunningSession, work: (instance: Instance) => Promise<Result>): Promise<Result> {
    const instance = this.instanceOf(session);
    const finish = session.outsideUse?.begin();
    try {
      return await work(instance);
    } finally {
      finish?.();
    }
  }

  /** Updates the name and tags in the session's telemetry. */
  rename({ id, name, tags }: Pick<SessionRow, "id" | "name" | "tags">): void {
    const session = this.sessions.get(id);
    if (session !== undefined) session.row = { ...session.row, name, tags };
  }

  follow(session: RunningSession, instance: Instance): void {
    const { log, store, usage } = this.#parts;
    usage.follow(session.row.id, instance);
    session.lifecycle = { ...session.lifecycle, start: instance.wasWarm === true ? "warm" : "cold" };
    session.presence = new ClientPresence(
      () => session.row.options,
      () => void this.end(session, "disconnected"),
    );
    session.outsideUse = new OutsideUse({
      timeoutSeconds: () => session.row.timeout_seconds,
      isHandedOver: () => this.#parts.handoffs.isActive(session.row.id),
      onIdle: () => {
        log.warn({ session_id: session.row.id }, "the session's instance did not end it after its idle timeout");
        this.end(session, "timeout");
      },
    });
    this.#followSleep(session, instance);
    instance.onEvent((event) => {
      switch (event.type) {
        case "state":
          session.idleSinceMs = event.idle_since_ms;
          noteUse(session);
          session.pageUrl = event.page_url;
          break;
        case "activity":
          session.idleSinceMs = event.idle_since_ms;
          noteUse(session);
          break;
        case "page":
          session.pageUrl = event.page_url;
          break;
        case "browser_restarted": {
          // A person closed its last tab or its window.
          if (event.exit_code === 0) break;
          const restarts = session.row.browser_restarts + 1;
          session.row = { ...session.row, browser_restarts: restarts };
          session.lifecycle = { ...session.lifecycle, ended_detail: crashText(event) };
          log.warn(
            { session_id: session.row.id, exit_code: event.exit_code, signal: event.signal },
            "the browser crashed and was restarted",
          );
          void this.persist(session, () => store.setRestarts(session.row.id, restarts));
          break;
        }
        case "download_finished": {
          const { type: _type, ...download } = event;
          const { id: sessionId, project_id: projectId } = session.row;
          this.#parts.downloads.keep({ sessionId, projectId }, instance, event.download_id);
          void this.persist(session, () => store.emitDownload(session.row, download));
          break;
        }
        case "expired":
          this.end(session, "timeout");
          break;
        case "ready":
        case "ending":
          break;
      }
    });
    void instance.ended.then(({ reason, detail }) => {
      if (session.ending === undefined && reason !== "timeout")
        log.warn({ session_id: session.row.id, reason, detail }, "the session's instance ended unexpectedly");
      return this.end(session, reason === "stopped" ? "instance_lost" : reason, { detail }).done;
    });
  }

  #followSleep(session: RunningSession, { sleep }: Instance): void {
    const { log } = this.#parts;
    const { id, options, pool_state } = session.row;
    sleep.onChange((change) => {
      if (change.type === "asleep") {
        log.debug({ session_id: id }, "session sleeps");
        session.lifecycle = { ...session.lifecycle, sleeps: (session.lifecycle.sleeps ?? 0) + 1 };
      } else if (change.type === "awake")
        log.debug({ session_id: id, slept_ms: Math.round(change.sleptMs) }, "session wakes");
    });
    // A browser that waits in a pool must be ready at once.
    if (pool_state === null) sleep.after(options.sleep_after_seconds ?? 0);
  }

  /** Ends a session once; later calls return the first ending. */
  end(session: RunningSession, reason: EndedReason, cause: EndCause = {}): NonNullable<RunningSession["ending"]> {
    if (session.ending === undefined) session.lifecycle = lifecycleAtEnd(session, reason, cause);
    return (session.ending ??= this.#ending(session, reason));
  }

  #ending(session: RunningSession, reason: EndedReason): NonNullable<RunningSession["ending"]> {
    const { log, store } = this.#parts;
    const { lifecycle } = session;
    const { id, project_id } = session.row;
    const at = new Date().toISOString();
    clearTimeout(session.endTimer);
    session.presence?.close();
    session.outsideUse?.close();
    session.abort.abort(new ServiceError(409, "conflict", `Browser ${id} was ended while it started (${reason}).`));
    session.stopKeeping?.();
    const hasFiles = this.#hasFiles(session);
    const savesProfile = session.savesAtEnd && session.row.profile_save_changes && savedEnds.has(reason);
    const { saved, stopped: stopping } = this.#stopInstance(session, savesProfile);
    const stopped = stopping
      ?.catch((error: unknown) => {
        log.error({ session_id: id, err: error }, "the session's instance did not stop cleanly");
      })
      .then(() => this.#parts.networkRecordings.finish(id));
    const write = () => this.record(session, () => store.end(id, at, reason, { filesStored: !hasFiles, lifecycle }));
    // The row is the lock on the profile: it ends after the save, so that the next session starts from that state.
    const recorded = Promise.all([session.inserted, saved]).then(write);
    const done = Promise.all([stopped, recorded, session.collector?.done]).then(() => {
      this.sessions.delete(id);
      log.info({ session_id: id, project_id, reason }, "session ended");
      if (hasFiles)
        void this.#parts.exports.settled(id).then(() => {
          this.#parts.onFiles(id);
        });
    });
    void session.collector?.done.then(() => session.exporting?.finish());
    return { reason, at, recorded, saved, done };
  }

  #hasFiles({ collector, row }: RunningSession): boolean {
    const { downloads, replays } = this.#parts;
    return [collector !== undefined, replays.wasRecorded(row.id), downloads.keepsAny].includes(true);
  }

  /** Waits for the last telemetry and recordings, then for the profile, and stops the instance. */
  #stopInstance(
    { row, collector, instance }: RunningSession,
    savesProfile: boolean,
  ): { readonly saved: Promise<boolean> | undefined; readonly stopped: Promise<void> | undefined } {
    if (instance === undefined) return { saved: undefined, stopped: collector?.finish() };
    const { downloads, profiles, replays } = this.#parts;
    const recordings = replays.finish(row.id, instance);
    const kept = downloads.finish({ sessionId: row.id, projectId: row.project_id }, instance);
    if (collector === undefined && recordings === undefined && kept === undefined && !savesProfile)
      return { saved: undefined, stopped: instance.stop() };
    const finished = Promise.all([collector?.finish(), recordings, kept]);
    const saved = savesProfile
      ? finished.catch(() => undefined).then(() => profiles.saveAtEnd(row, instance, this.#cut.signal))
      : undefined;
    return { saved, stopped: (saved ?? finished).then(() => instance.stop()) };
  }

  /** Ends every session as `instance_lost`, because the other servers have already recorded that. */
  giveUp(): void {
    for (const session of this.sessions.values()) this.end(session, "instance_lost");
  }

  /** Kills every remaining session without saving. Its profile keeps the latest checkpoint. */
  cut(): void {
    this.#closed = true;
    const left = [...this.sessions.values()];
    if (left.length > 0)
      this.#parts.log.warn({ sessions: left.length }, "sessions were killed: they took longer than shutdown_seconds");
    this.#cut.abort(new Error("The server stopped before the session had saved its state (shutdown_seconds)."));
    for (const session of left) {
      this.end(session, "server_stopped");
      void session.instance?.stop();
    }
  }

  /** Ends every session as `server_stopped` and starts no more. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.sessions.values()].map((session) => this.end(session, "server_stopped").done));
  }
}
