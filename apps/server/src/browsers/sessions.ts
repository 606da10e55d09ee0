import type { Page } from "@shoal/contract";
import type { Instance } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import type { CreateBrowser, EndedReason, ExtendBrowser, ListBrowsers, UpdateBrowser } from "@shoal/schemas";
import { LRUCache } from "lru-cache";
import { setTimeout as delay } from "node:timers/promises";
import type * as z from "zod/mini";
import { createId } from "../ids.ts";
import { toPage } from "../paging.ts";
import type { LiveFields } from "../replicas/live-fields.ts";
import { namesOf } from "../telemetry/categories.ts";
import { answeringInstance } from "./answering-instance.ts";
import { assignAgain } from "./assign-again.ts";
import { refuseNotYet } from "./not-yet.ts";
import { createPooledSessions, type PooledSessions } from "./pooled-sessions.ts";
import { hasEnded, isSeen, notFound, refuseImpossible, RegionElsewhere, SessionElsewhere } from "./session-errors.ts";
import { newSession, type RunningSession, type SessionView } from "./running-session.ts";
import { createSessionRunner, type SessionRunnerParts } from "./session-runner.ts";
import type { SessionRow } from "./session-store.ts";
import { createSessionUpdates } from "./update-session.ts";

/** The browser sessions of every project. */
export interface Sessions {
  create(projectId: string, request: z.output<typeof CreateBrowser>, signal: AbortSignal): Promise<SessionView>;
  list(projectId: string, filter: z.output<typeof ListBrowsers>): Promise<Page<SessionView>>;
  get(projectId: string, idOrName: string, includeEnded: boolean): Promise<SessionView>;
  /** All of a request, or nothing of it. */
  update(projectId: string, idOrName: string, request: z.output<typeof UpdateBrowser>): Promise<SessionView>;
  /** Saves what a running session keeps to its profile. @returns the profile's id. @throws {ServiceError} 409 when it has none that it writes to. */
  saveProfile(projectId: string, idOrName: string): Promise<string>;
  /** Counts the time without use, and that until a limited session ends, from now. */
  extend(projectId: string, idOrName: string, request: z.output<typeof ExtendBrowser>): Promise<SessionView>;
  delete(projectId: string, idOrName: string): Promise<void>;
  /**
   * The instance of a running session. Answers at once when it is given the id of one that runs here.
   *
   * @param projectId - `undefined` when a session token has been checked instead of a key; names are then not looked for.
   * @throws {ServiceError} 404 when there is none, with the reason when it has ended; 409 `browser_not_running` while it starts; {@link SessionElsewhere} when
   * another server has it.
   */
  instanceOf(projectId: string | undefined, idOrName: string): Instance | Promise<Instance>;
  /**
   * The id of a session, running or ended, whose files are on this server.
   *
   * @param projectId - `undefined` when a session token has been checked instead of a key.
   * @throws {ServiceError} 404 when there is none; {@link SessionElsewhere} when another server has it.
   */
  idHere(projectId: string | undefined, idOrName: string): Promise<string>;
  /** Number of sessions that run on this server, those that are starting included. */
  count(): number;
  /** Whether an id is that of a session that runs on this server. Answers at once. */
  isHere(id: string): boolean;
  /** Why a session ends whose instance has closed a connection; `undefined` when it goes on, or runs on another server. Answers within a second. */
  endingOf(id: string): Promise<EndedReason | undefined>;
  /** The project of a session that runs here, or of which is known that another server has it. Answers at once. */
  projectOf(id: string): string | undefined;
  /**
   * Looks for a session of another server. Finds none where an id is of this server, or of nothing at all.
   *
   * @param includeEnded - also what a session left.
   * @throws {SessionElsewhere} when there is one.
   */
  refuseElsewhere(projectId: string, idOrName: string, includeEnded: boolean): Promise<void>;
  /** What only this server knows of sessions that run here, of those among the ids. */
  liveFields(ids: readonly string[]): LiveFields[];
  /** What pools do with browsers that nobody sees yet. */
  readonly pooled: PooledSessions;
  /** Ends every session of this server as `instance_lost`: the other servers took it for dead, and have told so already. */
  giveUp(): void;
  /** Kills every session that has not ended, so that {@link Sessions.close} resolves soon. */
  cut(): void;
  /** Ends every session as `server_stopped` and takes no new ones. */
  close(): Promise<void>;
}

/** An instance that was killed is known to be gone by then. */
const endingTimeoutMs = 1_000;

function endOf(seconds: number | undefined): Pick<SessionRow, "max_duration_seconds" | "ends_at"> {
  return seconds === undefined
    ? { max_duration_seconds: null, ends_at: null }
    : { max_duration_seconds: seconds, ends_at: new Date(Date.now() + seconds * 1000).toISOString() };
}

export function createSessions(parts: SessionRunnerParts): Sessions {
  const { store, serverId, rules } = parts;
  const runner = createSessionRunner(parts);
  const { sessions, chooseProxy, emptyRow, end, instanceHere, room, start, view } = runner;

  async function existing(projectId: string, idOrName: string): Promise<SessionRow> {
    const row = await store.find(projectId, idOrName, false);
    if (row === undefined || sessions.get(row.id)?.ending !== undefined) throw notFound(idOrName);
    return row;
  }

  const answering = (session: RunningSession) => answeringInstance(instanceHere(session), session);

  /** A session that no id of this server's names: by its name, if it runs here. */
  async function sessionByName(projectId: string | undefined, idOrName: string): Promise<RunningSession> {
    refuseKnownElsewhere(projectId, idOrName);
    const row = await store.find(projectId, idOrName, true);
    // Names are a project's own: without one, only an id tells a session.
    if (row === undefined || (projectId === undefined && row.id !== idOrName)) throw notFound(idOrName);
    if (row.ended_at !== null) throw hasEnded(row.id, row.ended_reason, row.ended_at);
    const session = sessions.get(row.id);
    if (session !== undefined) return session;
    if (row.server_id === serverId) throw hasEnded(row.id, "instance_lost", null);
    return refuse(row);
  }

  /** Where sessions of other servers are: they never move. */
  const elsewhere = new LRUCache<string, Pick<SessionRow, "id" | "project_id" | "server_id">>({ max: 10_000 });

  function refuseKnownElsewhere(projectId: string | undefined, id: string): void {
    const known = elsewhere.get(id);
    if (known === undefined || (projectId !== undefined && known.project_id !== projectId)) return;
    // Its sessions have ended then; the database says how.
    if (!parts.isPeer(known.server_id)) elsewhere.delete(id);
    else throw new SessionElsewhere(known);
  }

  function refuse(row: SessionRow): never {
    elsewhere.set(row.id, { id: row.id, project_id: row.project_id, server_id: row.server_id });
    throw new SessionElsewhere(row);
  }

  const updates = createSessionUpdates({ runner, store, replays: parts.replays, existing, refuse, log: parts.log });

  return {
    async create(projectId, request, signal) {
      if (request.region !== undefined && request.region !== parts.region)
        throw new RegionElsewhere({ region: request.region, path: "/browsers", isAsked: true });
      refuseNotYet(request);
      refuseImpossible(request);
      runner.refuseUnable(request);
      const id = createId();
      const [chosen, found, profile, destination] = await Promise.all([
        chooseProxy(projectId, request, id),
        runner.chooseExtensions(projectId, request),
        request.profile && parts.profiles.choose(projectId, request.profile),
        runner.destinationFor(projectId, request.telemetry, null),
      ]);
      if (runner.isClosed())
        throw new ServiceError(503, "shutting_down", "The server is stopping and takes no new sessions.", { retryAfterSeconds: 5 });
      runner.refuseDoubtful();
      if (room() === 0) {
        throw new ServiceError(
          529,
          "capacity_exhausted",
          `This server runs ${String(rules.maxSessions)} sessions, its limit (max_sessions). Wait until one ends, or raise the limit if the machine has memory to spare.`,
          { retryAfterSeconds: 5 },
        );
      }
      const row: SessionRow = {
        ...emptyRow(id, projectId, { ...request, ...found, ...(destination !== null && { telemetry_destination_id: destination }) }),
        name: request.name ?? null,
        tags: request.tags ?? {},
        timeout_seconds: request.timeout_seconds ?? rules.idleTimeoutSeconds,
        proxy: chosen?.shown ?? null,
        ...profile,
        ...endOf(request.max_duration_seconds),
      };
      const session = newSession(row, request.telemetry);
      if (row.max_duration_seconds !== null) runner.limit(session, row.max_duration_seconds);
      sessions.set(row.id, session);
      try {
        await start(session, chosen ?? undefined, signal);
      } catch (error) {
        clearTimeout(session.endTimer);
        sessions.delete(row.id);
        throw error;
      }
      return view(session.row);
    },

    async list(projectId, filter) {
      const rows = await store.list(projectId, filter);
      const remote = rows.filter(({ ended_at, server_id }) => ended_at === null && server_id !== serverId);
      const live = remote.length === 0 ? undefined : await parts.others.read(remote);
      return toPage(rows, filter, (row) => view(row, live?.get(row.id)));
    },

    async get(projectId, idOrName, includeEnded) {
      const row = await store.find(projectId, idOrName, includeEnded);
      if (row === undefined || (!includeEnded && sessions.get(row.id)?.ending !== undefined)) throw notFound(idOrName);
      return view(row);
    },

    update: (projectId, idOrName, request) => updates.update(projectId, idOrName, request),

    async saveProfile(projectId, idOrName) {
      // Before a browser has loaded its profile, what it keeps is none of that.
      await updates.settled((await existing(projectId, idOrName)).id);
      const row = await existing(projectId, idOrName);
      if (row.profile_id === null || !row.profile_save_changes)
        throw new ServiceError(
          409,
          "conflict",
          `Browser ${row.id} writes to no profile. Give it one with browsers.update and profile.save_changes, or make it with one.`,
        );
      await parts.profiles.save(row, instanceHere(await sessionByName(projectId, row.id)));
      return row.profile_id;
    },

    async extend(projectId, idOrName, request) {
      const present = await existing(projectId, idOrName);
      const instance = answering(await sessionByName(projectId, present.id));
      if ((await assignAgain(instance, { session_id: present.id, timeout_seconds: present.timeout_seconds })) !== undefined)
        throw new ServiceError(409, "browser_not_running", `Browser ${present.id} is ending, and gets no more time.`);
      const { max_duration_seconds: seconds, ends_at: endsAt } = endOf(request.max_duration_seconds ?? present.max_duration_seconds ?? undefined);
      if (seconds === null || endsAt === null) return view(present);
      const row = await store.extend(present.id, seconds, endsAt);
      const session = sessions.get(present.id);
      if (row === undefined || session === undefined || session.ending !== undefined) throw notFound(idOrName);
      runner.limit(session, seconds);
      session.row = { ...session.row, max_duration_seconds: seconds, ends_at: endsAt };
      return view(row);
    },

    async delete(projectId, idOrName) {
      const row = await existing(projectId, idOrName);
      const session = sessions.get(row.id);
      // The kernel takes some tens of milliseconds to take a box apart; whoever deletes a session need not wait for that.
      if (session !== undefined) await end(session, "deleted").recorded;
      else if (row.server_id === serverId) await store.end(row.id, new Date().toISOString(), "instance_lost");
      else refuse(row);
    },

    async idHere(projectId, idOrName) {
      const row = await store.find(projectId, idOrName, true);
      if (row === undefined)
        throw new ServiceError(
          404,
          "not_found",
          `Browser ${idOrName} was not found in this project, neither among its running sessions nor among those that ended. Ended ones are found by their id only.`,
        );
      if (row.server_id !== serverId) refuse(row);
      return row.id;
    },

    count: () => sessions.size,
    isHere: (id) => sessions.has(id),
    async endingOf(id) {
      const session = sessions.get(id);
      const reason = () => session?.ending?.reason;
      if (session?.instance !== undefined && reason() === undefined)
        await Promise.race([session.instance.ended, delay(endingTimeoutMs, undefined, { ref: false })]);
      return reason();
    },
    projectOf: (id) => sessions.get(id)?.row.project_id ?? elsewhere.get(id)?.project_id,

    async refuseElsewhere(projectId, idOrName, includeEnded) {
      refuseKnownElsewhere(projectId, idOrName);
      const row = await store.find(projectId, idOrName, includeEnded);
      if (row !== undefined && row.server_id !== serverId) refuse(row);
    },

    liveFields: (ids) =>
      ids.flatMap((id) => {
        const session = sessions.get(id);
        return session === undefined ? [] : [{ id, idleSinceMs: session.idleSinceMs, captured: namesOf(session.captured) }];
      }),

    instanceOf(projectId, idOrName) {
      const session = sessions.get(idOrName);
      if (session === undefined || !isSeen(session.row) || (projectId !== undefined && session.row.project_id !== projectId))
        return sessionByName(projectId, idOrName).then(answering);
      return answering(session);
    },
    pooled: createPooledSessions(runner, store),
    giveUp: () => {
      runner.giveUp();
    },
    cut: () => {
      runner.cut();
    },
    close: () => runner.close(),
  };
}
