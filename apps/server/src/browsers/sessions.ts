import type { Page } from "@shoal/contract";
import { maxViewportPixels } from "@shoal/instance";
import type { Instance, Placement } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import type { CreateBrowser, EndedReason, ListBrowsers, UpdateBrowser } from "@shoal/schemas";
import { setTimeout as delay } from "node:timers/promises";
import type * as z from "zod/mini";
import { isUniqueViolation } from "../database-errors.ts";
import { createId } from "../ids.ts";
import type { Log } from "../log.ts";
import { isStorable, toPage } from "../paging.ts";
import type { SessionLimits } from "../projects/session-limits.ts";
import type { ChosenProxy, Proxies } from "../proxies/proxies.ts";
import { refuseNotYetOnCreate, refuseNotYetOnUpdate } from "./not-yet.ts";
import { type CapturedCategories, namesOf, selectCategories } from "../telemetry/categories.ts";
import type { Collector } from "../telemetry/collector.ts";
import type { ReplayStore } from "../replays/replay-store.ts";
import type { TelemetryStore } from "../telemetry/telemetry-store.ts";
import type { SessionRow, SessionStore } from "./session-store.ts";

const defaultViewport = { width: 1920, height: 1080 };
/** The wire's longest. */
const longestTimeoutSeconds = 259_200;
/** An instance answers within a millisecond. */
const leaseTimeoutMs = 10_000;
/** A start that takes longer has gone wrong. */
const startTimeoutMs = 60_000;

/** A session that runs on this server, or is about to. */
interface RunningSession {
  row: SessionRow;
  /** Absent while it starts. */
  instance: Instance | undefined;
  /** Since when nobody uses it, epoch milliseconds; `null` while somebody does. */
  idleSinceMs: number | null;
  /** What its telemetry captures; `undefined` = nothing. */
  captured: CapturedCategories | undefined;
  /** Present since something was first captured. */
  collector: Collector | undefined;
  /** The latest change of what is captured: one follows the other. */
  switching: Promise<unknown>;
  /** Set as soon as its end has begun. */
  ending:
    | {
        readonly reason: EndedReason;
        readonly at: string;
        /** Everything of it has been told to die, and its row says that it has ended. */
        readonly recorded: Promise<void>;
        /** And nothing of it is left. */
        readonly done: Promise<void>;
      }
    | undefined;
  /** Gives up the start. */
  readonly abort: AbortController;
}

/** A session as it is shown: its row, and what only this server knows. */
export interface SessionView {
  readonly row: SessionRow;
  /** When it will end if nobody uses it until then. */
  readonly expiresAt: Date | undefined;
  /** What its telemetry captures; `undefined` = nothing. */
  readonly captured: CapturedCategories | undefined;
}

/** The browser sessions of every project. */
export interface Sessions {
  create(projectId: string, request: z.output<typeof CreateBrowser>, signal: AbortSignal): Promise<SessionView>;
  list(projectId: string, filter: z.output<typeof ListBrowsers>): Promise<Page<SessionView>>;
  get(projectId: string, idOrName: string, includeEnded: boolean): Promise<SessionView>;
  update(projectId: string, idOrName: string, request: z.output<typeof UpdateBrowser>): Promise<SessionView>;
  delete(projectId: string, idOrName: string): Promise<void>;
  /**
   * The instance of a running session. Answers at once when it is given the id of one that runs here.
   *
   * @param projectId - `undefined` when a session token has been checked instead of a key; names are then not looked for.
   * @throws {ServiceError} 404 when there is none, with the reason when it has ended; 409 `browser_not_running` while it starts.
   */
  instanceOf(projectId: string | undefined, idOrName: string): Instance | Promise<Instance>;
  /**
   * The id of a session, running or ended, whose files are on this server.
   *
   * @throws {ServiceError} 404 when there is none.
   */
  idHere(projectId: string, idOrName: string): Promise<string>;
  /** What pools do with browsers that nobody sees yet. */
  readonly pooled: PooledSessions;
  /** Ends every session as `server_stopped` and takes no new ones. */
  close(): Promise<void>;
}

/** What a session of a pool is made of. */
export type PooledRequest = Pick<z.output<typeof CreateBrowser>, "proxy_id" | "start_url" | "telemetry" | "viewport">;

/** Sessions that wait in a pool, on this server. Their rows are the pool's. */
export interface PooledSessions {
  /** @throws {ServiceError} as `create` does for what cannot be, or cannot be yet. */
  check(projectId: string, request: z.output<typeof CreateBrowser>): Promise<void>;
  /** How many more may run on this server. */
  room(): number;
  /** The row of a session that is to start, as it is to be stored. */
  rowFor(pool: { readonly id: string; readonly project_id: string }, request: PooledRequest): SessionRow;
  /** Starts a session whose row is stored. It does not end by itself for 72 hours. Leaves nothing, its row neither, when that fails. */
  start(row: SessionRow, request: PooledRequest): Promise<void>;
  /** Whether it runs here and nothing has begun to end it. */
  isRunning(id: string): boolean;
  /** Hands it to whoever leased it: from now on it is seen, and its timeout counts. @returns its row. @throws {ServiceError} 409 when it has just ended. */
  lease(row: SessionRow, wishes: { readonly start_url?: string | undefined; readonly telemetry?: z.output<typeof UpdateBrowser>["telemetry"] }): Promise<SessionRow>;
  show(row: SessionRow): SessionView;
  /** Ends one that runs here. */
  end(id: string, reason: EndedReason): void;
  /** Those of a pool that run here, are about to, or have not quite gone. */
  of(poolId: string): string[];
}

export interface SessionRules {
  /** Sessions that may run on this server at once. */
  readonly maxSessions: number;
  readonly limits: SessionLimits;
  readonly idleTimeoutSeconds: number;
}

function notFound(idOrName: string): ServiceError {
  return new ServiceError(404, "not_found", `Browser ${idOrName} was not found among the running sessions of this project. It may have ended; list them with browsers.list, ended ones with status=all.`);
}

const endings: Readonly<Record<string, string>> = {
  deleted: "it was deleted",
  timeout: "nobody used it for its timeout_seconds",
  browser_crashed: "its browser crashed twice",
  instance_lost: "its instance was lost",
  server_stopped: "the server was stopped",
};

function hasEnded(id: string, reason: string | null, at: string | null): ServiceError {
  const because = reason === null ? "" : ` (${reason}): ${endings[reason] ?? reason}`;
  return new ServiceError(404, "not_found", `Browser ${id} has ended${at === null ? "" : ` at ${at}`}${because}. Create a new session with browsers.create.`);
}

export function createSessions(parts: { readonly store: SessionStore; readonly placement: Placement; readonly proxies: Pick<Proxies, "choose">; readonly serverId: string; readonly rules: SessionRules; readonly telemetry: TelemetryStore; readonly replays: Pick<ReplayStore, "finish">; readonly log: Log }): Sessions {
  const { store, placement, proxies, serverId, rules, telemetry, replays, log } = parts;
  const sessions = new Map<string, RunningSession>();
  let closed = false;

  function view(row: SessionRow): SessionView {
    const running = sessions.get(row.id);
    const idleSinceMs = row.ended_at === null ? (running?.idleSinceMs ?? null) : null;
    return {
      row: running === undefined ? row : { ...row, browser_restarts: running.row.browser_restarts },
      expiresAt: idleSinceMs === null ? undefined : new Date(idleSinceMs + row.timeout_seconds * 1000),
      captured: row.ended_at === null ? running?.captured : undefined,
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

  /** What its telemetry has just seen is on its way, and the end of its recordings: that is waited for. */
  function stopInstance({ row, collector, instance }: RunningSession): Promise<void> | undefined {
    if (instance === undefined) return collector?.finish();
    const recordings = replays.finish(row.id, instance);
    if (collector === undefined && recordings === undefined) return instance.stop();
    return Promise.all([collector?.finish(), recordings]).then(() => instance.stop());
  }

  /** Ends a session once, whoever asks first. */
  function end(session: RunningSession, reason: EndedReason): NonNullable<RunningSession["ending"]> {
    if (session.ending === undefined) {
      const { id, project_id } = session.row;
      const at = new Date().toISOString();
      session.abort.abort(new ServiceError(409, "conflict", `Browser ${id} was ended while it started (${reason}).`));
      const stopped = stopInstance(session)?.catch((error: unknown) => {
        log.error({ session_id: id, err: error }, "the session's instance did not stop cleanly");
      });
      const recorded = persist(session, () => store.end(id, at, reason));
      const done = Promise.all([stopped, recorded, session.collector?.done]).then(() => {
        sessions.delete(id);
        log.info({ session_id: id, project_id, reason }, "session ended");
      });
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
        case "ready":
        case "ending":
          break;
      }
    });
    void instance.ended.then(({ reason, detail }) => {
      if (session.ending === undefined && reason !== "timeout") log.warn({ session_id: session.row.id, reason, detail }, "the session's instance ended by itself");
      return end(session, reason === "stopped" ? "instance_lost" : reason).done;
    });
  }

  async function insert(row: SessionRow): Promise<void> {
    try {
      await store.insert(row, rules.limits);
    } catch (error) {
      throw row.name !== null && isUniqueViolation(error) ? nameTaken(row.name) : error;
    }
  }

  /** Gives the session its instance, or leaves nothing of it. @param isStored - its row is there already. */
  async function start(session: RunningSession, chosen: Partial<ChosenProxy> | undefined, signal: AbortSignal, isStored = false): Promise<void> {
    const { row, abort } = session;
    const stored = isStored ? Promise.resolve() : insert(row);
    // A name may be taken: find out before a browser is spent on it. Without one, both go on at once.
    if (row.name !== null) await stored;
    const acquired = placement.acquire(
      { session_id: row.id, timeout_seconds: row.timeout_seconds, viewport: row.viewport ?? defaultViewport, ...(session.captured !== undefined && { telemetry: namesOf(session.captured) }), ...(row.start_url !== null && { start_url: row.start_url }) },
      AbortSignal.any([signal, abort.signal, AbortSignal.timeout(startTimeoutMs)]),
      chosen?.upstream,
    );
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
      log.info({ session_id: row.id, project_id: row.project_id, pid: acquiring.value.pid }, "session started");
      return;
    }
    if (acquiring.status === "fulfilled") await acquiring.value.stop();
    if (storing.status === "rejected") throw storing.reason;
    if (session.ending === undefined) await persist(session, () => store.remove(row.id));
    if (abort.signal.aborted) throw abort.signal.reason;
    const cause: unknown = acquiring.status === "rejected" ? acquiring.reason : undefined;
    if (ServiceError.isInstance(cause)) throw cause;
    log.error({ session_id: row.id, err: cause }, "the browser did not start");
    throw new ServiceError(500, "internal_error", `The browser did not start: ${cause instanceof Error ? cause.message : String(cause)}. Try again; \`shoal doctor\` examines the machine.`, { cause });
  }

  /** What a request chooses for a session's traffic; `undefined` = it says nothing, `null` = nothing any more. */
  async function chooseProxy(projectId: string, { proxy, proxy_id }: Pick<z.output<typeof UpdateBrowser>, "proxy" | "proxy_id">, sessionId: string): Promise<Partial<ChosenProxy> | null | undefined> {
    // There is no default proxy, so both modes are the same.
    if (proxy?.mode !== undefined) return { shown: { mode: proxy.mode } };
    if (proxy !== undefined) return proxies.choose(projectId, proxy, sessionId);
    if (proxy_id === null || proxy_id === "") return null;
    return proxy_id === undefined ? undefined : proxies.choose(projectId, { id: proxy_id }, sessionId);
  }

  function room(): number {
    return closed ? 0 : Math.max(0, rules.maxSessions - [...sessions.values()].filter(({ ending }) => ending === undefined).length);
  }

  function emptyRow(id: string, projectId: string, request: PooledRequest): SessionRow {
    return {
      id,
      project_id: projectId,
      name: null,
      tags: {},
      placement: placement.kind,
      server_id: serverId,
      created_at: new Date().toISOString(),
      timeout_seconds: rules.idleTimeoutSeconds,
      headless: true,
      stealth: false,
      viewport: request.viewport ?? defaultViewport,
      start_url: request.start_url ?? null,
      proxy: null,
      pool_id: null,
      pool_name: null,
      pool_state: null,
      browser_restarts: 0,
      ended_at: null,
      ended_reason: null,
    };
  }

  function newSession(row: SessionRow, telemetryRequest: PooledRequest["telemetry"]): RunningSession {
    return { row, instance: undefined, idleSinceMs: null, captured: selectCategories(telemetryRequest, undefined), collector: undefined, switching: Promise.resolve(), ending: undefined, abort: new AbortController() };
  }

  async function existing(projectId: string, idOrName: string): Promise<SessionRow> {
    const row = await store.find(projectId, idOrName, false);
    if (row === undefined || sessions.get(row.id)?.ending !== undefined) throw notFound(idOrName);
    return row;
  }

  function instanceHere(session: RunningSession): Instance {
    if (session.ending !== undefined) throw hasEnded(session.row.id, session.ending.reason, session.ending.at);
    if (session.instance === undefined) throw new ServiceError(409, "browser_not_running", `Browser ${session.row.id} is still starting.`, { retryAfterSeconds: 1 });
    return session.instance;
  }

  /** Captures what an update asks for, from its answer on. */
  async function switchTelemetry(row: SessionRow, request: z.output<typeof UpdateBrowser>["telemetry"]): Promise<void> {
    const session = sessions.get(row.id);
    if (session === undefined) throw otherServer(row);
    const instance = instanceHere(session);
    const switched = session.switching.then(async () => {
      const wanted = selectCategories(request, session.captured);
      if (wanted === session.captured) return;
      session.collector ??= telemetry.collect(row.id, instance);
      await session.collector.select(namesOf(wanted));
      session.captured = wanted;
    });
    session.switching = switched.catch(() => undefined);
    await switched;
  }

  /** Of a session that no id of this server's names: by its name, if it runs here. */
  async function instanceByName(projectId: string | undefined, idOrName: string): Promise<Instance> {
    const row = await store.find(projectId, idOrName, true);
    // Names are a project's own: without one, only an id tells a session.
    if (row === undefined || (projectId === undefined && row.id !== idOrName)) throw notFound(idOrName);
    if (row.ended_at !== null) throw hasEnded(row.id, row.ended_reason, row.ended_at);
    const session = sessions.get(row.id);
    if (session === undefined) throw otherServer(row);
    return instanceHere(session);
  }

  return {
    async create(projectId, request, signal) {
      refuseNotYetOnCreate(request);
      refuseImpossible(request);
      const id = createId();
      const chosen = await chooseProxy(projectId, request, id);
      if (closed) throw new ServiceError(503, "shutting_down", "The server is stopping and takes no new sessions.", { retryAfterSeconds: 5 });
      if (room() === 0) {
        throw new ServiceError(529, "capacity_exhausted", `This server runs ${String(rules.maxSessions)} sessions, its limit (max_sessions). Wait until one ends, or raise the limit if the machine has memory to spare.`, { retryAfterSeconds: 5 });
      }
      const row: SessionRow = {
        ...emptyRow(id, projectId, request),
        name: request.name ?? null,
        tags: request.tags ?? {},
        timeout_seconds: request.timeout_seconds ?? rules.idleTimeoutSeconds,
        proxy: chosen?.shown ?? null,
      };
      const session = newSession(row, request.telemetry);
      sessions.set(row.id, session);
      try {
        await start(session, chosen ?? undefined, signal);
      } catch (error) {
        sessions.delete(row.id);
        throw error;
      }
      return view(row);
    },

    async list(projectId, filter) {
      // No session has a region yet, so there is none in any.
      const rows = filter.region === undefined ? await store.list(projectId, filter) : [];
      return toPage(rows, filter, view);
    },

    async get(projectId, idOrName, includeEnded) {
      const row = await store.find(projectId, idOrName, includeEnded);
      if (row === undefined || (!includeEnded && sessions.get(row.id)?.ending !== undefined)) throw notFound(idOrName);
      return view(row);
    },

    async update(projectId, idOrName, request) {
      refuseNotYetOnUpdate(request);
      const present = await existing(projectId, idOrName);
      const { id } = present;
      if (request.telemetry) await switchTelemetry(present, request.telemetry);
      const chosen = await chooseProxy(projectId, request, id);
      const instance = chosen === undefined ? undefined : await instanceByName(projectId, id);
      const name = request.name === "" ? null : request.name;
      const changes = { ...(name !== undefined && { name }), ...(request.tags && { tags: request.tags }), ...(chosen !== undefined && { proxy: chosen?.shown ?? null }) };
      if (Object.keys(changes).length === 0) return view(await existing(projectId, id));
      let row: SessionRow | undefined;
      try {
        row = await store.update(id, changes);
      } catch (error) {
        throw typeof name === "string" && isUniqueViolation(error) ? nameTaken(name) : error;
      }
      if (row === undefined) throw notFound(idOrName);
      instance?.setUpstream(chosen?.upstream);
      return view(row);
    },

    async delete(projectId, idOrName) {
      const row = await existing(projectId, idOrName);
      const session = sessions.get(row.id);
      // The kernel takes some tens of milliseconds to take a box apart; whoever deletes a session need not wait for that.
      if (session !== undefined) await end(session, "deleted").recorded;
      else if (row.server_id === serverId) await store.end(row.id, new Date().toISOString(), "instance_lost");
      else throw otherServer(row);
    },

    async idHere(projectId, idOrName) {
      const row = await store.find(projectId, idOrName, true);
      if (row === undefined) throw new ServiceError(404, "not_found", `Browser ${idOrName} was not found in this project, neither among its running sessions nor among those that ended. Ended ones are found by their id only.`);
      if (row.server_id !== serverId) throw otherServer(row);
      return row.id;
    },

    instanceOf(projectId, idOrName) {
      const session = sessions.get(idOrName);
      if (session === undefined || !isSeen(session.row) || (projectId !== undefined && session.row.project_id !== projectId)) return instanceByName(projectId, idOrName);
      return instanceHere(session);
    },

    pooled: {
      async check(projectId, request) {
        refuseNotYetOnCreate(request);
        refuseImpossible(request);
        selectCategories(request.telemetry, undefined);
        await chooseProxy(projectId, request, createId());
      },
      room,
      rowFor: (pool, request) => ({ ...emptyRow(createId(), pool.project_id, request), timeout_seconds: longestTimeoutSeconds, pool_id: pool.id, pool_state: "starting" }),
      async start(row, request) {
        const session = newSession(row, request.telemetry);
        // At once: whoever looks for it must find it.
        sessions.set(row.id, session);
        try {
          const chosen = await chooseProxy(row.project_id, request, row.id);
          if (chosen?.shown !== undefined) await store.update(row.id, { proxy: chosen.shown });
          await start(session, chosen ?? undefined, session.abort.signal, true);
        } catch (error) {
          sessions.delete(row.id);
          if (session.instance === undefined && session.ending === undefined) await persist(session, () => store.remove(row.id));
          throw error;
        }
      },
      isRunning(id) {
        const session = sessions.get(id);
        return session?.instance !== undefined && session.ending === undefined;
      },
      async lease(row, wishes) {
        const session = sessions.get(row.id);
        if (session === undefined) throw notFound(row.id);
        const instance = instanceHere(session);
        // First, so that the page is seen from its first request on.
        if (wishes.telemetry) await switchTelemetry(row, wishes.telemetry);
        const answer = await instance.request(
          { method: "POST", path: "/_instance/assign", headers: { "content-type": "application/json" }, signal: AbortSignal.timeout(leaseTimeoutMs) },
          JSON.stringify({ session_id: row.id, timeout_seconds: row.timeout_seconds, ...(wishes.start_url !== undefined && { start_url: wishes.start_url }) }),
        );
        answer.resume();
        if (answer.statusCode !== 200) throw new ServiceError(409, "conflict", `Browser ${row.id} ended before it could be handed out.`);
        session.row = row;
        session.idleSinceMs ??= Date.now();
        if (wishes.start_url !== undefined) session.row = (await store.update(row.id, { start_url: wishes.start_url })) ?? row;
        return session.row;
      },
      show: view,
      end(id, reason) {
        const session = sessions.get(id);
        if (session !== undefined) end(session, reason);
      },
      of: (poolId) => [...sessions.values()].filter(({ row }) => row.pool_id === poolId).map(({ row }) => row.id),
    },

    async close() {
      closed = true;
      await Promise.all([...sessions.values()].map((session) => end(session, "server_stopped").done));
    },
  };
}

function isSeen({ pool_state }: SessionRow): boolean {
  return pool_state === null || pool_state === "leased";
}

/** Limits of Chromium and PostgreSQL rather than of the wire, so the contract does not know them. */
function refuseImpossible({ viewport, start_url }: z.output<typeof CreateBrowser>): void {
  let problem: string | undefined;
  if (viewport !== undefined && viewport.width > maxViewportPixels) problem = `body.viewport.width: expected at most ${String(maxViewportPixels)}`;
  else if (viewport !== undefined && viewport.height > maxViewportPixels) problem = `body.viewport.height: expected at most ${String(maxViewportPixels)}`;
  else if (!isStorable(start_url)) problem = "body.start_url: must not hold a NUL character";
  if (problem !== undefined) throw new ServiceError(400, "bad_request", problem, { details: [{ code: "invalid_input", message: problem }] });
}

function nameTaken(name: string): ServiceError {
  return new ServiceError(409, "name_taken", `A running session of this project is named ${name} already. Choose another name, or delete that session.`);
}

function otherServer(row: SessionRow): ServiceError {
  return new ServiceError(501, "not_implemented", `Browser ${row.id} runs on another server of this installation (${row.server_id}), and servers do not forward to one another yet. Send the request to that server.`);
}
