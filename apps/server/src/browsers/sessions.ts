import type { Page } from "@shoal/contract";
import type { Instance } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import type { CreateBrowser, ExtendBrowser, ListBrowsers, UpdateBrowser } from "@shoal/schemas";
import { LRUCache } from "lru-cache";
import type * as z from "zod/mini";
import { isUniqueViolation } from "../database-errors.ts";
import { createId } from "../ids.ts";
import { toPage } from "../paging.ts";
import type { LiveFields } from "../replicas/live-fields.ts";
import { namesOf } from "../telemetry/categories.ts";
import { assignAgain } from "./assign-again.ts";
import { refuseNotYet } from "./not-yet.ts";
import { applyPolicies } from "./chrome-policy.ts";
import { changeProxy } from "./change-proxy.ts";
import { createPooledSessions, type PooledSessions } from "./pooled-sessions.ts";
import { hasEnded, isSeen, nameTaken, notFound, refuseImpossible, RegionElsewhere, SessionElsewhere } from "./session-errors.ts";
import { newSession, type SessionView } from "./running-session.ts";
import { createSessionRunner, type SessionRunnerParts } from "./session-runner.ts";
import type { SessionOptions } from "./session-options.ts";
import type { SessionRow } from "./session-store.ts";
import { changeViewport, effectiveViewport } from "./viewport.ts";

/** The browser sessions of every project. */
export interface Sessions {
  create(projectId: string, request: z.output<typeof CreateBrowser>, signal: AbortSignal): Promise<SessionView>;
  list(projectId: string, filter: z.output<typeof ListBrowsers>): Promise<Page<SessionView>>;
  get(projectId: string, idOrName: string, includeEnded: boolean): Promise<SessionView>;
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
  /** Whether an id is that of a session that runs on this server. Answers at once. */
  isHere(id: string): boolean;
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
  /** Ends every session as `server_stopped` and takes no new ones. */
  close(): Promise<void>;
}

function endOf(seconds: number | undefined): Pick<SessionRow, "max_duration_seconds" | "ends_at"> {
  return seconds === undefined ? { max_duration_seconds: null, ends_at: null } : { max_duration_seconds: seconds, ends_at: new Date(Date.now() + seconds * 1000).toISOString() };
}

export function createSessions(parts: SessionRunnerParts): Sessions {
  const { store, serverId, rules } = parts;
  const runner = createSessionRunner(parts);
  const { sessions, chooseProxy, emptyRow, end, instanceHere, room, start, switchTelemetry, view } = runner;

  async function existing(projectId: string, idOrName: string): Promise<SessionRow> {
    const row = await store.find(projectId, idOrName, false);
    if (row === undefined || sessions.get(row.id)?.ending !== undefined) throw notFound(idOrName);
    return row;
  }

  /** Of a session that no id of this server's names: by its name, if it runs here. */
  async function instanceByName(projectId: string | undefined, idOrName: string): Promise<Instance> {
    refuseKnownElsewhere(projectId, idOrName);
    const row = await store.find(projectId, idOrName, true);
    // Names are a project's own: without one, only an id tells a session.
    if (row === undefined || (projectId === undefined && row.id !== idOrName)) throw notFound(idOrName);
    if (row.ended_at !== null) throw hasEnded(row.id, row.ended_reason, row.ended_at);
    const session = sessions.get(row.id);
    if (session !== undefined) return instanceHere(session);
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

  async function resize(row: SessionRow, { force, ...wanted }: NonNullable<z.output<typeof UpdateBrowser>["viewport"]>): Promise<void> {
    const instance = await instanceByName(row.project_id, row.id);
    const viewport = effectiveViewport(wanted, row.headless);
    const begun = await changeViewport(instance, viewport, force);
    await store.update(row.id, { viewport });
    for (const replay of begun) await parts.replays.keep(row.id, instance, replay);
  }

  /** @returns the session's options with the policies that hold now. */
  async function changePolicies({ id, project_id, options }: SessionRow, policies: Readonly<Record<string, unknown>>): Promise<SessionOptions> {
    const { chrome_policy: present, ...others } = options;
    const isNone = Object.keys(policies).length === 0;
    if (!isNone || present !== undefined) await applyPolicies(await instanceByName(project_id, id), policies);
    return isNone ? others : { ...others, chrome_policy: policies };
  }

  return {
    async create(projectId, request, signal) {
      if (request.region !== undefined && request.region !== parts.region) throw new RegionElsewhere({ region: request.region, path: "/browsers", isAsked: true });
      refuseNotYet(request);
      refuseImpossible(request);
      runner.refuseUnable(request);
      const id = createId();
      const [chosen, found, profile, destination] = await Promise.all([chooseProxy(projectId, request, id), runner.chooseExtensions(projectId, request), request.profile && parts.profiles.choose(projectId, request.profile), runner.destinationFor(projectId, request.telemetry, null)]);
      if (runner.isClosed()) throw new ServiceError(503, "shutting_down", "The server is stopping and takes no new sessions.", { retryAfterSeconds: 5 });
      runner.refuseDoubtful();
      if (room() === 0) {
        throw new ServiceError(529, "capacity_exhausted", `This server runs ${String(rules.maxSessions)} sessions, its limit (max_sessions). Wait until one ends, or raise the limit if the machine has memory to spare.`, { retryAfterSeconds: 5 });
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

    async update(projectId, idOrName, request) {
      runner.refuseUnable({ chrome_policy: request.chrome_policy });
      refuseImpossible({ viewport: request.viewport });
      const present = await existing(projectId, idOrName);
      const { id } = present;
      const profile = request.profile && (await parts.profiles.choose(projectId, request.profile));
      const chosen = await chooseProxy(projectId, request, id);
      if (request.telemetry) await switchTelemetry(present, request.telemetry);
      const instance = chosen === undefined ? undefined : await instanceByName(projectId, id);
      if (request.viewport) await resize(present, request.viewport);
      if (profile) {
        const session = sessions.get(id);
        if (session === undefined) refuse(present);
        if ((await runner.adoptProfile(session, profile)) === undefined) throw notFound(idOrName);
      }
      const options = request.chrome_policy && (await changePolicies(present, request.chrome_policy));
      const name = request.name === "" ? null : request.name;
      const changes = { ...(name !== undefined && { name }), ...(request.tags && { tags: request.tags }), ...(chosen !== undefined && { proxy: chosen?.shown ?? null }), ...(options && { options }) };
      if (Object.keys(changes).length === 0) return view(await existing(projectId, id));
      const write = async (change: Parameters<typeof store.update>[1]): Promise<SessionRow> => {
        try {
          const row = await store.update(id, change);
          if (row !== undefined) {
            runner.rename(row);
            return row;
          }
        } catch (error) {
          throw typeof name === "string" && isUniqueViolation(error) ? nameTaken(name) : error;
        }
        throw notFound(idOrName);
      };
      if (instance === undefined) return view(await write(changes));
      return view(await changeProxy(instance, { id, timeoutSeconds: present.timeout_seconds }, chosen?.upstream, (isNew) => write(isNew ? changes : { proxy: present.proxy })));
    },

    async saveProfile(projectId, idOrName) {
      const row = await existing(projectId, idOrName);
      if (row.profile_id === null || !row.profile_save_changes) throw new ServiceError(409, "conflict", `Browser ${row.id} writes to no profile. Give it one with browsers.update and profile.save_changes, or make it with one.`);
      await parts.profiles.checkpoint(row, await instanceByName(projectId, row.id));
      return row.profile_id;
    },

    async extend(projectId, idOrName, request) {
      const present = await existing(projectId, idOrName);
      const instance = await instanceByName(projectId, present.id);
      if ((await assignAgain(instance, { session_id: present.id, timeout_seconds: present.timeout_seconds })) !== undefined) throw new ServiceError(409, "browser_not_running", `Browser ${present.id} is ending, and gets no more time.`);
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
      if (row === undefined) throw new ServiceError(404, "not_found", `Browser ${idOrName} was not found in this project, neither among its running sessions nor among those that ended. Ended ones are found by their id only.`);
      if (row.server_id !== serverId) refuse(row);
      return row.id;
    },

    isHere: (id) => sessions.has(id),

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
      if (session === undefined || !isSeen(session.row) || (projectId !== undefined && session.row.project_id !== projectId)) return instanceByName(projectId, idOrName);
      return instanceHere(session);
    },
    pooled: createPooledSessions(runner, store),
    giveUp: () => {
      runner.giveUp();
    },
    close: () => runner.close(),
  };
}
