import { browserHasProfile, browserIdTaken } from "@shoal/contract/refusals";
import { outageOf } from "@shoal/database";
import type { AssignInstance } from "@shoal/instance";
import {
  assignInstance,
  type EgressProxyRoute,
  type ExchangePlayer,
  type HeaderSource,
  type Instance,
  type InstanceCopy,
  InstanceRefusal,
  type Placement,
  type SessionSurroundings,
} from "@shoal/placement";
import { anySignal } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import { isForeignKeyViolation, isUniqueViolation } from "../../../storage/errors/database-errors.ts";
import type { Log } from "../../../log/log.ts";
import type { BotIdentities } from "../../../resources/bot-identity/bot-identities.ts";
import type { Extensions } from "../../../resources/extensions/extensions.ts";
import type { ChosenProxy } from "../../../resources/proxies/proxies.ts";
import { namesOf } from "../../telemetry/categories.ts";
import { explainDestination } from "../../telemetry/export/choice.ts";
import type { TelemetryStore } from "../../telemetry/telemetry-store.ts";
import { bytesOfMemory } from "../options/session-memory.ts";
import { egressRulesOf } from "../options/allowlist.ts";
import { exitHeadersFrom } from "../options/exit-headers.ts";
import { trustedBy } from "../change-ways.ts";
import { launchOf } from "../options/session-options.ts";
import type { ProjectRules } from "../project-rules.ts";
import type { RunningSession } from "../running-session.ts";
import { nameTaken } from "../session-errors.ts";
import type { ChosenProfile, SessionProfiles } from "../session-profiles.ts";
import type { SessionRules, SessionRunner } from "../session-runner.ts";
import type { SessionRow, SessionStore } from "../session-store.ts";
import type { SessionTelemetry } from "../session-telemetry.ts";
import type { NetworkRecordings } from "../../network-recordings/network-recordings.ts";
import { explainStart } from "./explain-start.ts";
import type { StateLoad } from "./profile-load.ts";
import { defaultViewport } from "./session-choices.ts";

/** The ways out of a session. */
export interface ChosenWays {
  readonly proxy?: Partial<ChosenProxy> | null | undefined;
  readonly routes?: readonly EgressProxyRoute[] | undefined;
  readonly headers?: HeaderSource | undefined;
  /** Answers its requests. */
  readonly player?: ExchangePlayer | undefined;
  /** The session starts with this state, not with that of its profile. */
  readonly fork?: StateLoad | undefined;
  /**
   * Returns the copy of another session as which this one starts. Its browser has all settings. Called after the row is
   * stored, because a refused row must not cost a copy.
   */
  readonly copyOf?: ((signal: AbortSignal) => Promise<InstanceCopy>) | undefined;
}

const startTimeoutMs = 60_000;
const noProfile = { profile_id: null, profile_version: null, profile_save_changes: false };

export interface SessionStarterParts {
  readonly runner: SessionRunner;
  readonly sessionTelemetry: SessionTelemetry;
  readonly store: SessionStore;
  readonly placement: Pick<Placement, "acquire">;
  readonly profiles: SessionProfiles;
  readonly projectRules: ProjectRules;
  readonly extensions: Pick<Extensions, "open">;
  readonly botIdentities: Pick<BotIdentities, "signerOf">;
  readonly networkRecordings: Pick<NetworkRecordings, "drop" | "start">;
  readonly telemetry: TelemetryStore;
  readonly rules: SessionRules;
  readonly log: Log;
}

export class SessionStarter {
  readonly #parts: SessionStarterParts;

  constructor(parts: SessionStarterParts) {
    this.#parts = parts;
  }

  /** Starts a new session, which ends after its maximum duration. */
  async run(session: RunningSession, ways: ChosenWays, signal: AbortSignal): Promise<void> {
    const { runner } = this.#parts;
    const { id, max_duration_seconds: seconds } = session.row;
    if (runner.sessions.has(id)) throw ServiceError.of(browserIdTaken(id));
    if (seconds !== null) runner.limit(session, seconds);
    runner.sessions.set(id, session);
    try {
      await this.start(session, ways, signal);
    } catch (error) {
      clearTimeout(session.endTimer);
      runner.sessions.delete(id);
      throw error;
    }
  }

  /** If the row or the start fails, neither remains. @param isStored - the row exists already. */
  async start(session: RunningSession, ways: ChosenWays, signal: AbortSignal, isStored = false): Promise<void> {
    const { row, abort } = session;
    const stored = isStored ? Promise.resolve() : this.#insert(row);
    session.inserted = Promise.allSettled([stored]);
    // A taken name must not cost a browser. Without a name, both run concurrently.
    if (row.name !== null || row.profile_id !== null || ways.copyOf !== undefined) await stored;
    const [storing, acquiring] = await Promise.allSettled([
      stored.catch((error: unknown) => {
        abort.abort(error);
        throw error;
      }),
      this.#acquire(
        session,
        ways,
        // Each step of the placement has its own limit, which explains what the start waited for.
        anySignal([signal, abort.signal]),
      ),
    ]);
    if (storing.status === "fulfilled" && acquiring.status === "fulfilled" && !abort.signal.aborted) {
      this.#begin(session, acquiring.value);
      await this.#parts.projectRules.apply(session);
      return;
    }
    if (acquiring.status === "fulfilled") await acquiring.value.stop();
    const { log, networkRecordings, runner, store } = this.#parts;
    if (session.ending !== undefined) await session.ending.recorded;
    else if (storing.status === "fulfilled") await runner.record(session, () => store.remove(row.id));
    await networkRecordings.drop(row.id).catch((error: unknown) => {
      log.warn({ session_id: row.id, err: error }, "the recording of a session that did not start was not removed");
    });
    if (storing.status === "rejected") throw storing.reason;
    if (abort.signal.aborted) throw abort.signal.reason;
    throw explainStart(acquiring.status === "rejected" ? acquiring.reason : undefined, row.id, log);
  }

  /** Synchronous, so that a caller that ends the session from now on finds its instance. */
  #begin(session: RunningSession, instance: Instance): void {
    const { log, runner, sessionTelemetry, telemetry } = this.#parts;
    const { id, project_id } = session.row;
    session.instance = instance;
    session.idleSinceMs = Date.now();
    runner.follow(session, instance);
    if (session.captured !== undefined) session.collector = telemetry.collect(id, instance);
    sessionTelemetry.send(session);
    this.#keepProfile(session, instance);
    log.info({ session_id: id, project_id, pid: instance.pid }, "session started");
  }

  async #insert(row: SessionRow): Promise<void> {
    const { rules, runner, store } = this.#parts;
    try {
      await store.insert(row, rules.limits);
    } catch (error) {
      // The answer may be lost, not the row. The caller does not wait for its removal.
      if (outageOf(error) !== undefined) void runner.record({ row }, () => store.removeOwn(row));
      const explained = await this.explainProfile(row.profile_id, explainDestination(error));
      if (explained !== error) throw explained;
      if (isUniqueViolation(error, "sessions_pkey")) throw ServiceError.of(browserIdTaken(row.id), { cause: error });
      throw row.name !== null && isUniqueViolation(error) ? nameTaken(row.name) : error;
    }
  }

  async #acquire(
    session: RunningSession,
    { copyOf, fork, headers, player, proxy, routes: proxyRoutes }: ChosenWays,
    signal: AbortSignal,
  ): Promise<Instance> {
    const { placement, profiles, projectRules, store } = this.#parts;
    const { row } = session;
    const upstream = proxy?.upstream;
    const recorder = await this.#recorder(row);
    const exitHeaders = exitHeadersFrom(headers, { player, recorder });
    const load = copyOf === undefined ? (fork ?? (await profiles.load(row))) : undefined;
    const rules = { project: await projectRules.of(row.project_id), session: egressRulesOf(row.options) };
    const assignment =
      copyOf === undefined
        ? this.#assignment(session, trustedBy({ upstream, exitHeaders }), fork !== undefined)
        : assignmentOfCopy(session);
    const instance = await placement
      .acquire(assignment, signal, {
        ...this.#surroundings(row, upstream, load),
        copyOf: await copyOf?.(signal),
        proxyRoutes,
        exitHeaders,
        rules,
      })
      .catch((error: unknown) => {
        throw explainFiles(error, load);
      });
    if (load === undefined) return instance;
    try {
      session.row = { ...row, profile_version: load.version };
      await store.setProfile(row.id, session.row);
      return instance;
    } catch (error) {
      await instance.stop();
      throw error;
    }
  }

  async #recorder({ id: sessionId, options, project_id: projectId }: SessionRow) {
    const { network_recording: id, random_seed: seed } = options;
    return id === undefined ? undefined : this.#parts.networkRecordings.start({ id, projectId, sessionId, seed });
  }

  #assignment({ captured, row }: RunningSession, authorities: string, isFork: boolean): AssignInstance {
    const launch = launchOf(row);
    const { web_bot_auth: bot } = row.options;
    return {
      session_id: row.id,
      timeout_seconds: row.timeout_seconds,
      viewport: row.viewport ?? defaultViewport,
      ...(launch && { launch }),
      ...(row.profile_save_changes && { saves_profile: true }),
      ...(authorities !== "" && { authorities }),
      ...(captured !== undefined && { telemetry: namesOf(captured) }),
      ...(row.start_url !== null && { start_url: row.start_url }),
      ...(bot !== undefined && { sign_hosts: bot.sign_only ?? [] }),
      ...(isFork && { opens_tabs: true }),
    };
  }

  #surroundings(
    { options, project_id: project }: SessionRow,
    upstream: ChosenProxy["upstream"] | undefined,
    load: StateLoad | undefined,
  ): SessionSurroundings {
    const {
      chrome_policy: policies,
      extensions: ids = [],
      forkable,
      isolation,
      location,
      memory,
      private_hosts: privateHosts,
      web_bot_auth: bot,
    } = options;
    const extensions = ids.map((id) => () => this.#parts.extensions.open(project, id));
    return {
      project,
      upstream,
      policies,
      privateHosts,
      isolation,
      forkable,
      signer: bot && this.#parts.botIdentities.signerOf(project, bot),
      locale: location?.locale,
      memoryBytes: memory && bytesOfMemory(memory),
      ...((load !== undefined || extensions.length > 0) && {
        files: { extensions, profile: load && (() => load.open()) },
      }),
    };
  }

  #keepProfile(session: RunningSession, instance: Instance): void {
    const { profile_id, profile_save_changes } = session.row;
    if (profile_id === null || !profile_save_changes || !session.savesAtEnd) return;
    session.stopKeeping = this.#parts.profiles.keep(
      () => session.row,
      instance,
      // A checkpoint would wake it, and nothing changes while it sleeps.
      () => (instance.sleep.asleepSinceMs === undefined ? session.idleSinceMs : 0),
    );
  }

  /**
   * Restarts the browser. @returns `undefined` when the session has just ended.
   * @throws {ServiceError} 409 when the session has a profile, or the profile has another writer.
   */
  async adoptProfile(session: RunningSession, profile: ChosenProfile): Promise<SessionRow | undefined> {
    const { profiles, runner, store } = this.#parts;
    const instance = runner.instanceOf(session);
    const { id, profile_id: present, timeout_seconds } = session.row;
    if (present !== null) throw hasProfile(id, present);
    const signal = anySignal([session.abort.signal, AbortSignal.timeout(startTimeoutMs)]);
    try {
      if ((await store.setProfile(id, { ...profile, profile_version: null })) === undefined) return undefined;
    } catch (error) {
      throw await this.explainProfile(profile.profile_id, error);
    }
    session.row = { ...session.row, ...profile };
    try {
      const load = await profiles.load(session.row);
      const saves = profile.profile_save_changes && { saves_profile: true };
      if (load !== undefined || saves !== false)
        await runner
          .inUse(session, (used) =>
            assignInstance(
              used,
              { session_id: id, timeout_seconds, ...saves },
              { signal, files: { profile: load && (() => load.open()) } },
            ),
          )
          .catch((error: unknown) => {
            throw load?.explain(error) ?? error;
          });
      session.row = { ...session.row, profile_version: load?.version ?? null };
    } catch (error) {
      session.row = { ...session.row, ...noProfile };
      await runner.persist(session, async () => {
        await store.setProfile(id, noProfile);
      });
      throw error;
    }
    this.#keepProfile(session, instance);
    return store.setProfile(id, session.row);
  }

  /** Translates a database error about a session's profile; returns any other error unchanged. */
  async explainProfile(profileId: string | null, error: unknown): Promise<unknown> {
    if (profileId !== null && isUniqueViolation(error, "sessions_profile_writer"))
      return this.#parts.profiles.explainWriter(profileId);
    return profileId !== null && isForeignKeyViolation(error)
      ? new ServiceError(404, "not_found", `Profile ${profileId} was deleted meanwhile.`)
      : error;
  }
}

/** Without anything that would restart or change the copied browser. */
function assignmentOfCopy({ captured, row }: RunningSession): AssignInstance {
  return {
    session_id: row.id,
    timeout_seconds: row.timeout_seconds,
    ...(captured !== undefined && { telemetry: namesOf(captured) }),
  };
}

export function hasProfile(sessionId: string, profileId: string): ServiceError {
  return ServiceError.of(browserHasProfile(sessionId, profileId));
}

/** Explains why the instance did not take a file; returns other errors unchanged. */
function explainFiles(error: unknown, load: StateLoad | undefined): unknown {
  if (load?.isCauseOf(error) === true) return load.explain(error);
  if (!(error instanceof InstanceRefusal) || error.field !== "extensions") return error;
  const { hint, limit, problem } = error;
  return new ServiceError(400, "bad_request", `the browser of the session rejected them: ${problem}`, {
    field: "body.extensions",
    limit,
    hint,
    cause: error,
  });
}
