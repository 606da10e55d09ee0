import { connectionNotFound, loginInProgress } from "@shoal/contract/refusals";
import type { Change, Database } from "@shoal/database";
import { anySignal } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { TimelineEvent } from "@shoal/schemas";
import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "../../log/log.ts";
import { Lookout } from "../../work/lookout.ts";
import { requireMember } from "../../storage/errors/require-member.ts";
import { canReauthOf, type ConnectionRow, toTimelineEvent } from "../connections/connection-row.ts";
import { reauthPauseSeconds } from "../connections/can-reauth.ts";
import type { ConnectionStore } from "../connections/connection-store.ts";
import type { Logins } from "../logins/logins.ts";
import type { CheckResult, Claim } from "./check-result.ts";
import type { CheckStore, Postponement } from "./check-store.ts";

export interface ChecksParts {
  readonly database: Pick<Database, "onChange">;
  readonly store: CheckStore;
  readonly checker: { check(connection: ConnectionRow, signal: AbortSignal): Promise<CheckResult> };
  readonly connections: Pick<ConnectionStore, "find">;
  readonly logins: Pick<Logins, "start">;
  readonly rules: CheckRules;
  /** Free places for sessions on this server. */
  readonly room: () => number;
  /** True while the other servers may have declared this server dead. */
  readonly isDoubtful: () => boolean;
  readonly isDraining: () => boolean;
  readonly log: Log;
}

export interface CheckRules {
  /** Browsers of checks and automatic logins at once. */
  readonly maxBrowsers: number;
  readonly maxSessions: number;
  readonly limits: { readonly perProject: number; readonly perOrganization: number };
}

interface Run {
  readonly claim: Claim;
  readonly isRequested: boolean;
  readonly stop: AbortController;
  readonly done: Promise<void>;
}

const lookEveryMs = 1_000;
const maxCheckMs = 120_000;
const noRoomSeconds = 60;
const profileBusySeconds = 900;
const pollMs = 250;
/** Places for sessions that checks leave to others, on this server. */
const reservedShare = 0.1;

/** Thrown into a check when a login of its connection starts. */
class LoginStarted extends Error {}

/**
 * Checks connections on schedule and on request, and signs in again automatically. The database knows the due times:
 * each server takes connections while it has room.
 */
export class Checks {
  readonly #parts: ChecksParts;
  /** By the check's id. */
  readonly #runs = new Map<string, Run>();
  readonly #unlisten: () => void;
  #lookout: Lookout | undefined;
  #isClosed = false;

  constructor(parts: ChecksParts) {
    this.#parts = parts;
    this.#unlisten = parts.database.onChange((change) => {
      this.#onChange(change);
    });
  }

  /** Begins with the scheduled checks. */
  start(): void {
    this.#lookout = new Lookout({
      everyMs: lookEveryMs,
      look: () => this.#runDue(),
      log: this.#parts.log,
      problem: "due health checks could not be started",
    });
  }

  /** Ends the checks of this server. Another one repeats them. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#unlisten();
    await this.#lookout?.close();
    const runs = [...this.#runs.values()];
    for (const { stop } of runs) stop.abort(new Error("The server is stopping."));
    await Promise.all(runs.map(({ done }) => done));
    await this.#parts.store.releaseAll().catch((error: unknown) => {
      this.#parts.log.warn({ err: error }, "the checks of this server could not be released");
    });
  }

  /** Starts a check, or joins the running check. @throws {ServiceError} 409 during a login, 503. */
  async check(
    { id, project_id, status }: Pick<ConnectionRow, "id" | "project_id" | "status">,
    waitSeconds: number,
    signal: AbortSignal,
  ): Promise<TimelineEvent> {
    requireMember("checks", { isClosed: this.#isClosed, isDoubtful: this.#parts.isDoubtful() });
    const { store } = this.#parts;
    const taken = await store.take(project_id, id);
    if (taken === undefined) throw ServiceError.of(loginInProgress(id));
    const startedAt = "startedAt" in taken ? taken.startedAt : new Date().toISOString();
    if (!("startedAt" in taken)) this.#begin(taken, true);
    await this.#untilDone(id, taken.checkId, waitSeconds * 1000, signal);
    const row = await store.row(taken.checkId);
    if (row !== undefined) return toTimelineEvent(row);
    if (waitSeconds > 0 && !(await store.isRunning(id, taken.checkId))) throw ServiceError.of(connectionNotFound(id));
    return {
      type: "health_check",
      id: taken.checkId,
      timestamp: startedAt,
      status: "IN_PROGRESS",
      previous_status: status,
    };
  }

  /** The check may run on another server. */
  async #untilDone(connectionId: string, checkId: string, waitMs: number, signal: AbortSignal): Promise<void> {
    const deadline = performance.now() + waitMs;
    while (performance.now() < deadline && !signal.aborted) {
      if (!(await this.#parts.store.isRunning(connectionId, checkId))) return;
      await delay(pollMs, undefined, { signal }).catch(() => undefined);
    }
  }

  async #runDue(): Promise<void> {
    while (await this.#hasPlace()) {
      const due = await this.#parts.store.takeDue();
      if (due === undefined) return;
      if (due.kind === "check") this.#begin(due.claim, false);
      else await this.#signIn(due.projectId, due.id);
    }
  }

  async #hasPlace(): Promise<boolean> {
    const { isDoubtful, isDraining, room, rules, store } = this.#parts;
    const reserved = Math.max(1, Math.ceil(rules.maxSessions * reservedShare));
    if (this.#isClosed || isDoubtful() || isDraining() || room() <= reserved) return false;
    const { size } = this.#runs;
    return size < rules.maxBrowsers && size + (await store.workingLogins()) < rules.maxBrowsers;
  }

  #begin(claim: Claim, isRequested: boolean): void {
    const stop = new AbortController();
    const done = this.#run({ claim, isRequested, stop }).finally(() => {
      this.#runs.delete(claim.checkId);
    });
    this.#runs.set(claim.checkId, { claim, isRequested, stop, done });
  }

  /** Never rejects. */
  async #run(run: Omit<Run, "done">): Promise<void> {
    const { claim, isRequested, stop } = run;
    const { checker, connections, log, store } = this.#parts;
    const signal = anySignal([stop.signal, AbortSignal.timeout(maxCheckMs)]);
    try {
      const connection = await connections.find(claim.projectId, claim.connectionId);
      if (connection === undefined) return;
      if (!isRequested && !(await store.leavesRoom(claim.projectId, this.#parts.rules.limits))) {
        await store.postpone(claim, { seconds: noRoomSeconds });
        return;
      }
      if ((await store.signingIn([connection.id])).has(connection.id)) throw new LoginStarted();
      signal.throwIfAborted();
      await store.finish(claim, await checker.check(connection, signal));
    } catch (error) {
      if (this.#isClosed) return;
      const reason: unknown = stop.signal.aborted ? stop.signal.reason : error;
      await this.#afterFailure(run, reason).catch((failure: unknown) => {
        log.warn({ connection_id: claim.connectionId, err: failure }, "a health check could not be recorded");
      });
    }
  }

  async #afterFailure({ claim, isRequested }: Omit<Run, "done">, error: unknown): Promise<void> {
    const { log, store } = this.#parts;
    const postponement = postponementOf(error, isRequested);
    if (postponement !== undefined) return store.postpone(claim, postponement);
    log.warn({ connection_id: claim.connectionId, err: error }, "a health check failed");
    const reason = "The check took too long, or its browser did not answer.";
    await store.finish(claim, { status: "unknown", code: "browser_error", reason });
  }

  /** Signs in without a person, unless that is impossible or failed for good. */
  async #signIn(projectId: string, id: string): Promise<void> {
    const { connections, log, logins, rules, store } = this.#parts;
    const connection = await connections.find(projectId, id);
    if (connection === undefined) return;
    if (!canReauthOf(connection).can_reauth) return store.postponeLogin(id, connection.health_check_interval);
    if (!(await store.leavesRoom(projectId, rules.limits))) return store.postponeLogin(id, noRoomSeconds);
    await store.postponeLogin(id, reauthPauseSeconds(connection.reauth_failures ?? 0));
    try {
      await logins.start(connection, "reauth");
    } catch (error) {
      log.warn({ connection_id: id, err: error }, "an automatic login could not be started");
    }
  }

  /** A person's login must not wait for a check. */
  #onChange(change: Change | undefined): void {
    if (this.#runs.size === 0 || (change !== undefined && change.table !== "auth_flows")) return;
    const runs = [...this.#runs.values()];
    this.#parts.store
      .signingIn(runs.map(({ claim }) => claim.connectionId))
      .then((ids) => {
        for (const { claim, stop } of runs) if (ids.has(claim.connectionId)) stop.abort(new LoginStarted());
      })
      .catch((error: unknown) => {
        this.#parts.log.debug({ err: error }, "the logins of checked connections could not be read");
      });
  }
}

function postponementOf(error: unknown, isRequested: boolean): Postponement | undefined {
  if (error instanceof LoginStarted) {
    const why = { code: "conflict", reason: "A login of the connection started.", isRequested };
    return { seconds: noRoomSeconds, ...(isRequested && { why }) };
  }
  if (!ServiceError.isInstance(error)) return undefined;
  const why = { code: error.code, reason: error.message, isRequested };
  if (error.status === 409) return { seconds: profileBusySeconds, why };
  return { seconds: noRoomSeconds, ...(isRequested && { why }) };
}
