import { exactForkNotNow, exactForkUnavailable, notForkable, whyNotExact } from "@shoal/contract/refusals";
import { type Instance, type InstanceCopy, type Placement, PlacementError } from "@shoal/placement";
import { createId } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { ForkBrowser } from "@shoal/schemas";
import pLimit from "p-limit";
import type * as z from "zod/mini";
import { Elsewhere } from "../../../cluster/elsewhere.ts";
import type { LentState } from "../../../resources/profiles/profile-states.ts";
import type { SignInBrowsers, TypedValue } from "../../live-view/sign-in-browsers.ts";
import { answeringInstance } from "../answering-instance.ts";
import { endOf } from "../lifecycle.ts";
import { refuseHeaders } from "../options/exit-headers.ts";
import { newSession, type RunningSession, type SessionView, type SessionWishes } from "../running-session.ts";
import type { SessionProfiles } from "../session-profiles.ts";
import type { SessionRunner } from "../session-runner.ts";
import type { SessionRow, SessionStore } from "../session-store.ts";
import type { SessionChoices } from "../start/session-choices.ts";
import type { SessionDefaults } from "../start/session-defaults.ts";
import type { SessionStarter } from "../start/session-starter.ts";
import type { SessionUpdates, SessionUpdatesParts } from "../update-session.ts";
import { ForkLoad } from "./fork-load.ts";

type Request = z.output<typeof ForkBrowser>;

export interface SessionForksParts extends Pick<SessionUpdatesParts, "existing" | "handoffs" | "log"> {
  readonly runner: SessionRunner;
  readonly choices: SessionChoices;
  readonly defaults: SessionDefaults;
  readonly starter: SessionStarter;
  readonly profiles: Pick<SessionProfiles, "readForFork">;
  readonly placement: Pick<Placement, "unforkableBecause">;
  readonly signInBrowsers: Pick<SignInBrowsers, "noteFork">;
  readonly store: Pick<SessionStore, "requireActiveInvocation">;
  readonly updates: Pick<SessionUpdates, "exclusively">;
}

/** For each new session. */
interface StartCaller extends Pick<Required<SessionWishes>, "usesSecrets"> {
  /** `null` = the service itself. */
  readonly apiKeyId: string | null;
  readonly signal: AbortSignal;
}

export interface ForkCaller extends StartCaller {
  /** Receives the row that the forks get. @throws {ServiceError} 403 if the caller may not fork it. */
  readonly requirePolicy: (parent: SessionRow) => void;
}

interface Reading extends Pick<Request, "mode"> {
  /** Sessions start from the state at once, on this server. */
  readonly startsSessions: boolean;
}

export interface Forks {
  readonly views: readonly SessionView[];
  /** By the place of the session among the requested ones. */
  readonly failures: readonly { readonly index: number; readonly error: unknown }[];
  /** Milliseconds in which the parent was paused; absent for restored forks. */
  readonly pausedMs?: number;
  /** Why they are not exact, unless restored ones were requested. */
  readonly notExactBecause?: string | undefined;
}

/** The processes of the parent. */
interface ExactState extends Pick<LentState, "drop"> {
  readonly copy: (signal: AbortSignal) => Promise<InstanceCopy>;
  /** Milliseconds, of the parent. */
  readonly pausedMs: number;
}

interface NotExact {
  readonly reason: string;
  readonly mayPass: boolean;
  readonly retryAfterSeconds?: number | undefined;
}

/** A parent, which may have ended, and what its forks get from it. */
export interface ForkSource extends Pick<RunningSession, "captured"> {
  readonly parent: SessionRow;
  readonly state: LentState | ExactState;
  /** A fork starts with the values that its parent contains. Called before its address is known. */
  /** @returns the kind of values that the state contains. */
  readonly noteTyped: (forkId: string) => TypedValue | undefined;
  readonly notExactBecause?: string | undefined;
  /** The same exit as the parent's: sites tie sessions to addresses. The parent may end before its forks start. */
  readonly upstream: Instance["upstream"];
}

/** Browsers that start at a time. */
const concurrentStarts = 4;

/** Starts sessions with the state of a running one. */
export class SessionForks {
  readonly #parts: SessionForksParts;

  constructor(parts: SessionForksParts) {
    this.#parts = parts;
  }

  /** @throws {ServiceError} if none of them starts, the reason of the first one. */
  async fork(projectId: string, idOrName: string, request: Request, by: ForkCaller): Promise<Forks> {
    const source = await this.read(projectId, idOrName, { mode: request.mode, startsSessions: true }, by);
    try {
      const invocation_id = await this.#invocationFor(source.parent, by);
      return await this.#start({ ...source, parent: { ...source.parent, invocation_id } }, request, by);
    } finally {
      await source.state.drop();
    }
  }

  /** Reads the state of a running session. Drop it. @throws {ServiceError} */
  async read(projectId: string, idOrName: string, reading: Reading, by: ForkCaller): Promise<ForkSource> {
    const { existing, handoffs, updates } = this.#parts;
    const { id } = await existing(projectId, idOrName);
    await handoffs.admit(id, by.signal);
    return updates.exclusively(id, () => this.#read(projectId, { id, ...reading }, by));
  }

  /** Without changes of the session meanwhile: an update could load a profile that the row does not have. */
  async #read(
    projectId: string,
    { id, mode, startsSessions }: Reading & { readonly id: string },
    by: ForkCaller,
  ): Promise<ForkSource> {
    const { existing, handoffs, profiles, runner, signInBrowsers } = this.#parts;
    by.signal.throwIfAborted();
    // Again: one may have begun meanwhile. It waits for work that has passed here.
    await handoffs.requireNone(id);
    const parent = await existing(projectId, id);
    by.requirePolicy(parent);
    refuseUnforkable(parent, by);
    const session = runner.sessions.get(parent.id);
    if (session === undefined) throw new Elsewhere(parent.id, parent.server_id).toError();
    const instance = answeringInstance(runner.instanceOf(session), session);
    const { upstream } = instance;
    if (upstream === undefined && hasProxy(parent))
      throw ServiceError.of(notForkable(id, "its proxy is not known to this server"));
    if (startsSessions) runner.requireRoom();
    else runner.refuseStopping();
    const noteTyped = (forkId: string) => signInBrowsers.noteFork(id, forkId);
    const common = { parent, captured: session.captured, upstream, noteTyped };
    if (mode === "restored") return { ...common, state: await profiles.readForFork(parent, instance, by.signal) };
    const exact = await this.#copy(parent, instance, by.signal);
    if (!("reason" in exact)) return { ...common, state: exact };
    const { mayPass, reason, retryAfterSeconds } = exact;
    if (mode === "exact")
      throw ServiceError.of(mayPass ? exactForkNotNow(id, reason, retryAfterSeconds) : exactForkUnavailable(reason));
    return { ...common, state: await profiles.readForFork(parent, instance, by.signal), notExactBecause: reason };
  }

  /** @returns why that is not possible, as a sentence. @throws if the session has just ended. */
  async #copy({ id, options }: SessionRow, instance: Instance, signal: AbortSignal): Promise<ExactState | NotExact> {
    const { log, placement } = this.#parts;
    if (options.forkable !== true) return { reason: whyNotExact, mayPass: false };
    if (placement.unforkableBecause !== undefined) return { reason: placement.unforkableBecause, mayPass: false };
    try {
      const copy = await instance.copy(signal);
      return { copy: () => Promise.resolve(copy), pausedMs: copy.pausedMs, drop: () => copy.drop() };
    } catch (error) {
      if (!PlacementError.isInstance(error) || error.code === "instance_lost") throw error;
      log.warn({ session_id: id, err: error }, "a session could not be copied");
      const isInternal = error.code === "start_failed";
      return {
        reason: isInternal ? "The processes of the session could not be copied just now." : error.message,
        mayPass: true,
        retryAfterSeconds: error.retryAfterSeconds,
      };
    }
  }

  /** An invocation ends the sessions that its app started, and no forks of other callers. Invocations of a deployment share its key. */
  async #invocationFor(
    { api_key_id: key, invocation_id: id, project_id }: SessionRow,
    { apiKeyId }: StartCaller,
  ): Promise<string | null> {
    if (id === null || key !== apiKeyId) return null;
    try {
      await this.#parts.store.requireActiveInvocation(project_id, id);
      return id;
    } catch (error) {
      if (ServiceError.isInstance(error) && (error.status === 404 || error.status === 409)) return null;
      throw error;
    }
  }

  async #start(source: ForkSource, request: Request, by: ForkCaller): Promise<Forks> {
    const { names = [], count = Math.max(names.length, 1) } = request;
    const inTurn = pLimit(concurrentStarts);
    const started = await Promise.allSettled(
      Array.from({ length: count }, (_, place) =>
        inTurn(() => this.startOne(source, { ...request, name: names[place] ?? null }, by)),
      ),
    );
    const failures = started.flatMap((fork, index) =>
      fork.status === "rejected" ? [{ index, error: fork.reason as unknown }] : [],
    );
    const { log, runner } = this.#parts;
    const forks = started.flatMap((fork) => (fork.status === "fulfilled" ? [fork.value] : []));
    if (by.signal.aborted) {
      // The caller never learns their ids.
      for (const fork of forks) runner.end(fork, "deleted");
      throw by.signal.reason;
    }
    if (forks.length === 0) throw failures[0]?.error;
    for (const { error, index } of failures)
      log.warn({ session_id: source.parent.id, index, err: error }, "a fork of a session did not start");
    const { notExactBecause, state } = source;
    return {
      views: forks.map(({ row }) => runner.view(row)),
      failures,
      ...("copy" in state && { pausedMs: state.pausedMs }),
      ...(notExactBecause !== undefined && { notExactBecause }),
    };
  }

  /** Starts one session from a state. */
  async startOne(
    { captured, noteTyped, parent, state, upstream }: ForkSource,
    {
      name,
      timeout_seconds: timeout = parent.timeout_seconds,
    }: Pick<Request, "timeout_seconds"> & { readonly name: string | null },
    { apiKeyId, signal, usesSecrets }: StartCaller,
  ): Promise<RunningSession> {
    const { choices, defaults, runner, starter } = this.#parts;
    signal.throwIfAborted();
    const row = { ...rowOfFork(parent), name, timeout_seconds: timeout, api_key_id: apiKeyId };
    const { headers = [], http_auth = [], proxy_routes: routes = [] } = parent.options;
    const network = { headers, http_auth, ...(routes.length > 0 && { proxy_routes: [...routes] }) };
    const ways = await choices.network(row.project_id, { network }, { sessionId: row.id, usesSecrets });
    runner.requireRoom();
    const fork = newSession(row, captured);
    if (noteTyped(row.id) === "stored")
      fork.row = { ...fork.row, options: { ...fork.row.options, typed_stored: true } };
    await starter.run(
      fork,
      {
        proxy: upstream && { upstream },
        routes: ways.routes,
        headers: ways.headers,
        ...("copy" in state ? { copyOf: state.copy } : { fork: new ForkLoad(parent, state) }),
      },
      signal,
    );
    void defaults.record(fork);
    return fork;
  }
}

function hasProxy({ proxy }: SessionRow): boolean {
  return proxy !== null && proxy.mode !== "direct" && proxy.mode !== "default";
}

function refuseUnforkable({ id, options }: SessionRow, { usesSecrets }: Pick<ForkCaller, "usesSecrets">): void {
  if (options.isolation === "context")
    throw ServiceError.of(notForkable(id, "it shares its browser with other sessions"));
  if ((options.network_recording ?? options.replay) !== undefined)
    throw ServiceError.of(notForkable(id, "its network is recorded or replayed"));
  if (options.signs_in === true) throw ServiceError.of(notForkable(id, "it signs in for a connection"));
  if (!usesSecrets) refuseHeaders({ headers: options.headers ?? [], http_auth: options.http_auth ?? [] });
}

/** Returns the row of a fork: the parent's settings and profile, which it never saves. */
function rowOfFork(parent: SessionRow): SessionRow {
  // A client of another service knows only its own sessions. The caller may lack vaults:use.
  const { origin: _origin, vaults: _vaults, ...options } = parent.options;
  const { files_stored: _stored, ...kept } = parent;
  return {
    ...kept,
    ...endOf(parent.max_duration_seconds ?? undefined),
    id: createId(),
    created_at: new Date().toISOString(),
    start_url: null,
    pool_id: null,
    pool_name: null,
    pool_state: null,
    profile_save_changes: false,
    browser_restarts: 0,
    lifecycle: {},
    options: { ...options, forked_from: parent.id },
  };
}
