import type { Instance, Placement } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import type { CreateBrowser, EndedReason, UpdateBrowser } from "@shoal/schemas";
import { setTimeout as delay } from "node:timers/promises";
import type * as z from "zod/mini";
import { isForeignKeyViolation, isUniqueViolation } from "../database-errors.ts";
import type { Log } from "../log.ts";
import type { Extensions } from "../extensions/extensions.ts";
import { loadStoredExtensions } from "../extensions/session-extensions.ts";
import type { ChosenProfile, SessionProfiles } from "../profiles/session-profiles.ts";
import type { SessionLimits } from "../projects/session-limits.ts";
import type { ChosenProxy, Proxies } from "../proxies/proxies.ts";
import type { LiveFields, LiveFieldsReader } from "../replicas/live-fields.ts";
import type { ReplayStore } from "../replays/replay-store.ts";
import { categoriesNamed, namesOf } from "../telemetry/categories.ts";
import type { TelemetryStore } from "../telemetry/telemetry-store.ts";
import type { TelemetryDestinations } from "../telemetry-destinations/destinations.ts";
import { explainDestination } from "../telemetry-export/choice.ts";
import type { TelemetryExports } from "../telemetry-export/exports.ts";
import { assignAgain } from "./assign-again.ts";
import { refuseAuthorities, refuseUnable } from "./possible-options.ts";
import type { PooledRequest, RunningSession, SessionView } from "./running-session.ts";
import { hasEnded, nameTaken } from "./session-errors.ts";
import { bytesOfMemory, memoryText, refuseMemory } from "./session-memory.ts";
import { launchOf, optionsOf } from "./session-options.ts";
import { explainStart } from "./start-error.ts";
import type { SessionRow, SessionStore } from "./session-store.ts";
import { createSessionTelemetry } from "./session-telemetry.ts";
import { effectiveViewport } from "./viewport.ts";

/** Of a session that asks for none. */
export const defaultViewport = { width: 1920, height: 1080 };
/** A start that takes longer has gone wrong. */
const startTimeoutMs = 60_000;
/** Ends at which the browser is still there, and its profile is saved; at others the latest checkpoint is what stays. */
const savedEnds: ReadonlySet<EndedReason> = new Set(["deleted", "timeout", "max_duration", "server_stopped"]);

export interface SessionRules {
  /** Sessions that may run on this server at once. */
  readonly maxSessions: number;
  readonly limits: SessionLimits;
  readonly idleTimeoutSeconds: number;
  /** The most memory that a session may ask for, in bytes; `Infinity` = what the machine has. */
  readonly maxMemoryBytes: number;
}

export interface SessionRunnerParts {
  readonly store: SessionStore;
  readonly placement: Placement;
  readonly proxies: Pick<Proxies, "choose">;
  readonly profiles: SessionProfiles;
  readonly extensions: Pick<Extensions, "choose" | "open">;
  readonly serverId: string;
  /** Where this server is. */
  readonly region: string;
  readonly rules: SessionRules;
  readonly telemetry: TelemetryStore;
  readonly destinations: Pick<TelemetryDestinations, "choose">;
  readonly exports: Pick<TelemetryExports, "open">;
  readonly replays: Pick<ReplayStore, "finish" | "keep" | "noteStop">;
  /** Tells of sessions that other servers run. */
  readonly others: LiveFieldsReader;
  /** Whether another server with this id runs, as far as this one knows. */
  readonly isPeer: (serverId: string) => boolean;
  /** Whether the other servers may have given this one up without its having noticed yet. */
  readonly isDoubtful: () => boolean;
  readonly log: Log;
}

/** What the first assignment left out. */
async function assignRest(...given: Parameters<typeof assignAgain>): Promise<void> {
  if ((await assignAgain(...given)) !== undefined) throw new Error("The instance refused its session.");
}

/** Starts, follows and ends the sessions of this server. */
export function createSessionRunner(parts: SessionRunnerParts) {
  const { store, placement, profiles, proxies, serverId, rules, telemetry, replays, log } = parts;
  const sessions = new Map<string, RunningSession>();
  let closed = false;
  /** Aborted when sessions may save no longer. */
  const cut = new AbortController();

  /** @param live - what the server that runs it says of it, where that is another one. */
  function view(row: SessionRow, live?: LiveFields): SessionView {
    const running = sessions.get(row.id);
    const idleSinceMs = row.ended_at === null ? ((running ?? live)?.idleSinceMs ?? null) : null;
    return {
      row: running === undefined ? row : { ...row, browser_restarts: running.row.browser_restarts },
      expiresAt: idleSinceMs === null ? undefined : new Date(idleSinceMs + row.timeout_seconds * 1000),
      captured: row.ended_at === null ? (live === undefined ? running?.captured : categoriesNamed(live.captured)) : undefined,
    };
  }

  /** Writes what must not get lost; a database that is away for a moment is asked again. What still fails is put right by the next start. */
  async function persist(session: RunningSession, write: () => Promise<void>): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await write();
        return;
      } catch (error) {
        log.warn({ session_id: session.row.id, attempt, err: error }, "the session's row could not be written");
        if (attempt === 8 || closed) return;
        await delay(100 * 2 ** attempt, undefined, { ref: false });
      }
    }
  }

  /** What its telemetry has just seen is on its way, and the end of its recordings: that is waited for, and then for its profile. */
  function stopInstance(
    { row, collector, instance }: RunningSession,
    savesProfile: boolean,
  ): { readonly saved: Promise<void> | undefined; readonly stopped: Promise<void> | undefined } {
    if (instance === undefined) return { saved: undefined, stopped: collector?.finish() };
    const recordings = replays.finish(row.id, instance);
    if (collector === undefined && recordings === undefined && !savesProfile) return { saved: undefined, stopped: instance.stop() };
    const finished = Promise.all([collector?.finish(), recordings]);
    const saved = savesProfile ? finished.catch(() => undefined).then(() => profiles.saveAtEnd(row, instance, cut.signal)) : undefined;
    return { saved, stopped: (saved ?? finished).then(() => instance.stop()) };
  }

  /** Ends a session once, whoever asks first. */
  function end(session: RunningSession, reason: EndedReason): NonNullable<RunningSession["ending"]> {
    if (session.ending === undefined) {
      const { id, project_id } = session.row;
      const at = new Date().toISOString();
      clearTimeout(session.endTimer);
      session.abort.abort(new ServiceError(409, "conflict", `Browser ${id} was ended while it started (${reason}).`));
      session.stopKeeping?.();
      const { saved, stopped: stopping } = stopInstance(session, session.row.profile_save_changes && savedEnds.has(reason));
      const stopped = stopping?.catch((error: unknown) => {
        log.error({ session_id: id, err: error }, "the session's instance did not stop cleanly");
      });
      const write = () => persist(session, () => store.end(id, at, reason));
      // Its profile is its own until then: nobody else may write to it, and whoever starts with it next finds what it left.
      const recorded = saved === undefined ? write() : saved.then(write);
      const done = Promise.all([stopped, recorded, session.collector?.done]).then(() => {
        sessions.delete(id);
        log.info({ session_id: id, project_id, reason }, "session ended");
      });
      void session.collector?.done.then(() => session.exporting?.finish());
      session.ending = { reason, at, recorded, done };
    }
    return session.ending;
  }

  function follow(session: RunningSession, instance: Instance): void {
    instance.onEvent((event) => {
      switch (event.type) {
        case "state":
        case "activity":
          session.idleSinceMs = event.idle_since_ms;
          break;
        case "browser_restarted": {
          const restarts = session.row.browser_restarts + 1;
          session.row = { ...session.row, browser_restarts: restarts };
          log.warn({ session_id: session.row.id, exit_code: event.exit_code, signal: event.signal }, "the browser crashed and was started again");
          void persist(session, () => store.setRestarts(session.row.id, restarts));
          break;
        }
        case "expired":
          end(session, "timeout");
          break;
        case "ready":
        case "ending":
          break;
      }
    });
    void instance.ended.then(({ reason, detail }) => {
      if (session.ending === undefined && reason !== "timeout")
        log.warn({ session_id: session.row.id, reason, detail }, "the session's instance ended by itself");
      return end(session, reason === "stopped" ? "instance_lost" : reason).done;
    });
  }

  async function insert(row: SessionRow): Promise<void> {
    try {
      await store.insert(row, rules.limits);
    } catch (error) {
      const explained = await explainProfile(row.profile_id, explainDestination(error));
      if (explained !== error) throw explained;
      throw row.name !== null && isUniqueViolation(error) ? nameTaken(row.name) : error;
    }
  }

  /** An instance whose browser is as the session wants it, before its first page opens. Leaves nothing when that fails. */
  async function acquire(session: RunningSession, upstream: ChosenProxy["upstream"] | undefined, signal: AbortSignal): Promise<Instance> {
    const { row, captured } = session;
    const launch = launchOf(row);
    const { chrome_policy: policies, memory, private_hosts: privateHosts } = row.options;
    const surroundings = { project: row.project_id, upstream, policies, privateHosts, memoryBytes: memory && bytesOfMemory(memory) };
    const first = {
      session_id: row.id,
      timeout_seconds: row.timeout_seconds,
      viewport: row.viewport ?? defaultViewport,
      ...(launch && { launch }),
      ...(row.profile_save_changes && { saves_profile: true }),
      ...(upstream?.authorities !== undefined && { authorities: upstream.authorities }),
    };
    const seen = { ...(captured !== undefined && { telemetry: namesOf(captured) }), ...(row.start_url !== null && { start_url: row.start_url }) };
    const { extensions: ids } = row.options;
    if (ids === undefined && row.profile_id === null) return placement.acquire({ ...first, ...seen }, signal, surroundings);
    const instance = await placement.acquire(first, signal, surroundings);
    try {
      if (row.profile_id !== null) {
        session.row = { ...row, profile_version: await profiles.load(row, instance, signal) };
        await store.setProfile(row.id, session.row);
      }
      if (ids !== undefined) await loadStoredExtensions(instance, parts.extensions, { projectId: row.project_id, ids, signal });
      if (Object.keys(seen).length > 0) await assignRest(instance, { session_id: row.id, timeout_seconds: row.timeout_seconds, ...seen }, signal);
      return instance;
    } catch (error) {
      await instance.stop();
      throw error;
    }
  }

  /** Saves its profile from time to time, where it has one to write to. */
  function keepProfile(session: RunningSession, instance: Instance): void {
    if (session.row.profile_id === null || !session.row.profile_save_changes) return;
    session.stopKeeping = profiles.keep(
      () => session.row,
      instance,
      () => session.idleSinceMs,
    );
  }

  /** Gives a running session a profile, whose state its browser is started again with. @throws {ServiceError} 409 when it has one, or the profile another writer. */
  async function adoptProfile(session: RunningSession, profile: ChosenProfile): Promise<SessionRow | undefined> {
    const instance = instanceHere(session);
    const { id, profile_id: present, timeout_seconds } = session.row;
    if (present !== null)
      throw new ServiceError(409, "conflict", `Browser ${id} has profile ${present} already; only a session without one can load another.`);
    const signal = AbortSignal.any([session.abort.signal, AbortSignal.timeout(startTimeoutMs)]);
    const none = { profile_id: null, profile_version: null, profile_save_changes: false };
    try {
      if ((await store.setProfile(id, { ...profile, profile_version: null })) === undefined) return undefined;
    } catch (error) {
      throw await explainProfile(profile.profile_id, error);
    }
    session.row = { ...session.row, ...profile };
    try {
      session.row = { ...session.row, profile_version: await profiles.load(session.row, instance, signal) };
      if (profile.profile_save_changes) await assignRest(instance, { session_id: id, timeout_seconds, saves_profile: true }, signal);
    } catch (error) {
      session.row = { ...session.row, ...none };
      await persist(session, async () => {
        await store.setProfile(id, none);
      });
      throw error;
    }
    keepProfile(session, instance);
    return store.setProfile(id, session.row);
  }

  /** What an error of the database says of a session's profile. */
  async function explainProfile(profileId: string | null, error: unknown): Promise<unknown> {
    if (profileId !== null && isUniqueViolation(error, "sessions_profile_writer")) return profiles.explainWriter(profileId);
    return profileId !== null && isForeignKeyViolation(error)
      ? new ServiceError(404, "not_found", `Profile ${profileId} was deleted meanwhile.`)
      : error;
  }

  /** Gives the session its instance, or leaves nothing of it. @param isStored - its row is there already. */
  async function start(session: RunningSession, chosen: Partial<ChosenProxy> | undefined, signal: AbortSignal, isStored = false): Promise<void> {
    const { row, abort } = session;
    const stored = isStored ? Promise.resolve() : insert(row);
    // A name may be taken: find out before a browser is spent on it. Without one, both go on at once.
    if (row.name !== null || row.profile_id !== null) await stored;
    const acquired = acquire(session, chosen?.upstream, AbortSignal.any([signal, abort.signal, AbortSignal.timeout(startTimeoutMs)]));
    const [storing, acquiring] = await Promise.allSettled([
      stored.catch((error: unknown) => {
        abort.abort(error);
        throw error;
      }),
      acquired,
    ]);
    if (storing.status === "fulfilled" && acquiring.status === "fulfilled" && !abort.signal.aborted) {
      // At once: whoever ends the session from now on must find it.
      session.instance = acquiring.value;
      session.idleSinceMs = Date.now();
      follow(session, acquiring.value);
      if (session.captured !== undefined) session.collector = telemetry.collect(row.id, acquiring.value);
      sessionTelemetry.send(session);
      keepProfile(session, acquiring.value);
      log.info({ session_id: row.id, project_id: row.project_id, pid: acquiring.value.pid }, "session started");
      return;
    }
    if (acquiring.status === "fulfilled") await acquiring.value.stop();
    if (storing.status === "rejected") throw storing.reason;
    if (session.ending === undefined) await persist(session, () => store.remove(row.id));
    if (abort.signal.aborted) throw abort.signal.reason;
    const cause: unknown = acquiring.status === "rejected" ? acquiring.reason : undefined;
    throw explainStart(cause, row.id, log);
  }

  /** What a request chooses for a session's traffic; `undefined` = it says nothing, `null` = nothing any more. */
  async function chooseProxy(
    projectId: string,
    { proxy, proxy_id }: Pick<z.output<typeof UpdateBrowser>, "proxy" | "proxy_id">,
    sessionId: string,
  ): Promise<Partial<ChosenProxy> | null | undefined> {
    // There is no default proxy, so both modes are the same.
    if (proxy?.mode !== undefined) return { shown: { mode: proxy.mode } };
    if (proxy === undefined && (proxy_id === null || proxy_id === "")) return null;
    const wanted = proxy ?? (proxy_id === undefined || proxy_id === null ? undefined : { id: proxy_id });
    if (wanted === undefined) return undefined;
    const chosen = await proxies.choose(projectId, wanted, sessionId);
    if (chosen.upstream.authorities !== undefined) refuseAuthorities({ proxy }, placement.abilities);
    return chosen;
  }

  function room(): number {
    return closed ? 0 : Math.max(0, rules.maxSessions - [...sessions.values()].filter(({ ending }) => ending === undefined).length);
  }

  /** What a request names, as it is found now. */
  async function chooseExtensions(
    projectId: string,
    { extensions }: Pick<PooledRequest, "extensions">,
  ): Promise<{ readonly extension_ids?: readonly string[] }> {
    return extensions === undefined || extensions.length === 0 ? {} : { extension_ids: await parts.extensions.choose(projectId, extensions) };
  }

  function emptyRow(id: string, projectId: string, request: PooledRequest & Pick<z.output<typeof CreateBrowser>, "memory">): SessionRow {
    return {
      id,
      project_id: projectId,
      name: null,
      tags: {},
      placement: placement.kind,
      server_id: serverId,
      created_at: new Date().toISOString(),
      timeout_seconds: rules.idleTimeoutSeconds,
      headless: request.headless !== false,
      stealth: request.stealth === true,
      viewport: effectiveViewport(request.viewport ?? defaultViewport, request.headless !== false),
      start_url: request.start_url ?? null,
      proxy: null,
      pool_id: null,
      pool_name: null,
      pool_state: null,
      profile_id: request.profile_id ?? null,
      profile_version: null,
      profile_save_changes: false,
      browser_restarts: 0,
      telemetry_destination_id: request.telemetry_destination_id ?? null,
      max_duration_seconds: null,
      ends_at: null,
      options: optionsOf(request),
      region: parts.region,
      memory: request.memory ?? memoryText(placement.memory.usualBytes),
      ended_at: null,
      ended_reason: null,
    };
  }

  /** Ends a session after so many seconds from now, whether it is used or not; an earlier limit counts no more. */
  function limit(session: RunningSession, seconds: number): void {
    clearTimeout(session.endTimer);
    session.endTimer = setTimeout(() => void end(session, "max_duration"), seconds * 1000).unref();
  }

  /** While the other servers may have given this one up, what it runs may be ended in the database already. */
  function refuseDoubtful(): void {
    if (parts.isDoubtful())
      throw new ServiceError(
        503,
        "server_unreachable",
        "This server has stood still for some seconds, and asks whether its sessions are still its own. Repeat the request in a moment.",
        { retryAfterSeconds: 1 },
      );
  }

  function instanceHere(session: RunningSession): Instance {
    refuseDoubtful();
    if (session.ending !== undefined) throw hasEnded(session.row.id, session.ending.reason, session.ending.at);
    if (session.instance === undefined)
      throw new ServiceError(409, "browser_not_running", `Browser ${session.row.id} is still starting.`, { retryAfterSeconds: 1 });
    return session.instance;
  }

  const sessionTelemetry = createSessionTelemetry({
    sessions,
    store,
    telemetry,
    destinations: parts.destinations,
    exports: parts.exports,
    instanceHere,
  });

  return {
    /** Those that run here, are about to, or have not quite gone, by id. */
    sessions,
    view,
    persist,
    end,
    start,
    adoptProfile,
    explainProfile,
    chooseProxy,
    room,
    chooseExtensions,
    chooseProfile: (...given: Parameters<typeof profiles.choose>) => profiles.choose(...given),
    emptyRow,
    limit,
    instanceHere,
    switchTelemetry: sessionTelemetry.change,
    destinationFor: sessionTelemetry.destinationFor,
    /** Its telemetry tells its present name and labels. */
    rename({ id, name, tags }: Pick<SessionRow, "id" | "name" | "tags">): void {
      const session = sessions.get(id);
      if (session !== undefined) session.row = { ...session.row, name, tags };
    },
    refuseDoubtful,
    isClosed: () => closed,
    /** Ends every session as `instance_lost`: the other servers have told so already. */
    giveUp(): void {
      for (const session of sessions.values()) end(session, "instance_lost");
    },
    refuseUnable: (request: Parameters<typeof refuseUnable>[0]) => {
      refuseUnable(request, placement.abilities);
      refuseMemory(request, placement.memory, rules.maxMemoryBytes);
    },
    /** Kills every session that has not ended: what it has not handed out by now is lost. Its profile keeps the latest checkpoint. */
    cut(): void {
      closed = true;
      const left = [...sessions.values()];
      if (left.length > 0) log.warn({ sessions: left.length }, "sessions were cut off: they took longer than shutdown_seconds");
      cut.abort(new Error("The server stopped before the session had handed out its state (shutdown_seconds)."));
      for (const session of left) {
        end(session, "server_stopped");
        void session.instance?.stop();
      }
    },
    /** Ends every session as `server_stopped` and takes no new ones. */
    async close(): Promise<void> {
      closed = true;
      await Promise.all([...sessions.values()].map((session) => end(session, "server_stopped").done));
    },
  };
}

export type SessionRunner = ReturnType<typeof createSessionRunner>;
