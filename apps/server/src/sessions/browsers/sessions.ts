import type { Page } from "@shoal/contract";
import { browserIdTaken, browserSavesNothing } from "@shoal/contract/refusals";
import type { Instance } from "@shoal/placement";
import { createId } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { CreateBrowser, EndedReason, ExtendBrowser, UpdateBrowser } from "@shoal/schemas";
import { recentlyUsed } from "../../storage/recently-used.ts";
import pTimeout from "p-timeout";
import type * as z from "zod/mini";
import { Elsewhere, RegionElsewhere } from "../../cluster/elsewhere.ts";
import type { LiveFields } from "../../cluster/live-fields.ts";
import { toPage } from "../../http/paging.ts";
import type { SessionFileKind } from "../../storage/session-files/session-files.ts";
import { answeringInstance } from "./answering-instance.ts";
import { assignAgain } from "./start/assign-again.ts";
import { SessionForks } from "./fork/session-forks.ts";
import { SessionSnapshots } from "./fork/session-snapshots.ts";
import { type EndCause, endOf } from "./lifecycle.ts";
import { PooledSessions } from "./pooled-sessions.ts";
import { ProjectRules } from "./project-rules.ts";
import { ForgottenRows } from "./rows/forgotten-rows.ts";
import {
  liveFieldsOf,
  newSession,
  type RunningSession,
  type SessionView,
  type SessionWishes,
} from "./running-session.ts";
import { hasEnded, isSeen, neverFound, notFound, refuseImpossible } from "./session-errors.ts";
import { SessionRunner } from "./session-runner.ts";
import type { SessionFilter, SessionRow } from "./session-store.ts";
import { SessionTelemetry } from "./session-telemetry.ts";
import { SessionChoices } from "./start/session-choices.ts";
import { SessionDefaults } from "./start/session-defaults.ts";
import { SessionStarter } from "./start/session-starter.ts";
import type { SessionsParts } from "./start/sessions-parts.ts";
import { SessionUpdates } from "./update-session.ts";

/** The end of a killed instance is known after this time: its files are removed first. */
const endingTimeoutMs = 5_000;

export class Sessions {
  readonly pooled: PooledSessions;
  readonly projectRules: ProjectRules;
  readonly forks: SessionForks;
  readonly forgottenRows: ForgottenRows;
  readonly snapshots: SessionSnapshots;
  readonly #parts: SessionsParts;
  readonly #runner: SessionRunner;
  readonly #choices: SessionChoices;
  readonly #defaults: SessionDefaults;
  readonly #starter: SessionStarter;
  readonly #updates: SessionUpdates;
  /** Sessions of other servers, which never move. */
  readonly #elsewhere = recentlyUsed<Pick<SessionRow, "id" | "project_id" | "server_id">>(10_000);

  constructor(parts: SessionsParts) {
    const runner = new SessionRunner(parts);
    const choices = new SessionChoices(parts);
    const defaults = new SessionDefaults(parts);
    const sessionTelemetry = new SessionTelemetry({ ...parts, runner });
    const projectRules = new ProjectRules({ ...parts, sessions: runner.sessions });
    const starter = new SessionStarter({ ...parts, projectRules, runner, sessionTelemetry });
    const existing = (projectId: string, idOrName: string) => this.#existing(projectId, idOrName);
    this.projectRules = projectRules;
    this.#parts = parts;
    this.#runner = runner;
    this.#choices = choices;
    this.#defaults = defaults;
    this.#starter = starter;
    this.#updates = new SessionUpdates({ ...parts, runner, choices, starter, sessionTelemetry, existing });
    this.forgottenRows = new ForgottenRows({ ...parts, runner });
    this.forks = new SessionForks({ ...parts, runner, choices, defaults, starter, existing, updates: this.#updates });
    this.snapshots = new SessionSnapshots({ ...parts, runner, choices, forks: this.forks });
    this.pooled = new PooledSessions({ ...parts, runner, choices, defaults, starter, sessionTelemetry });
  }

  /** @returns {@link RegionElsewhere} when the request chooses another region. */
  async create(
    projectId: string,
    request: z.output<typeof CreateBrowser>,
    signal: AbortSignal,
    wishes: SessionWishes = {},
  ): Promise<SessionView | RegionElsewhere> {
    const { profiles, region, rules, store } = this.#parts;
    if (request.region !== undefined && request.region !== region)
      return new RegionElsewhere({ region: request.region, path: "/browsers", isAsked: true });
    if (request.snapshot !== undefined) return this.snapshots.start(projectId, request, signal, wishes);
    refuseImpossible(request);
    this.#choices.refuseUnable(request);
    const id = wishes.id ?? createId();
    if (this.isHere(id)) throw ServiceError.of(browserIdTaken(id));
    // Clients send an empty value for none.
    const invocation = request.invocation_id === "" ? undefined : request.invocation_id;
    const [routed, chosen, found, profile, destination, captured, vaults] = await Promise.all([
      this.#choices.network(projectId, request, { sessionId: id, usesSecrets: wishes.usesSecrets }),
      this.#choices.proxy(projectId, { ...request, own: wishes.proxy }, id),
      this.#choices.extensions(projectId, request),
      request.profile && profiles.choose(projectId, request.profile),
      this.#choices.destination(projectId, request.telemetry, null),
      this.#defaults.captured(projectId, request, wishes.apiKeyId === undefined),
      this.#choices.vaults(projectId, request.vaults, wishes.usesVaults),
      invocation !== undefined && store.requireActiveInvocation(projectId, invocation),
    ]);
    const profile_id = profile?.profile_id ?? undefined;
    const inherited = await this.#choices.inherited(projectId, { ...request, profile_id }, chosen);
    this.#runner.requireRoom();
    const recorded = await this.#choices.recording(projectId, request, { signal, usesSecrets: wishes.usesSecrets });
    this.#runner.requireRoom(); // Again: others may have started while a recording was read.
    const chosenRow = this.#choices.row(id, projectId, {
      ...routed.request,
      ...found,
      ...inherited,
      ...(destination !== null && { telemetry_destination_id: destination }),
    });
    const row: SessionRow = {
      ...chosenRow,
      options: { ...chosenRow.options, ...vaults, ...recorded.options },
      name: request.name ?? null,
      tags: request.tags ?? {},
      invocation_id: invocation ?? null,
      api_key_id: wishes.apiKeyId ?? null,
      timeout_seconds: request.timeout_seconds ?? rules.idleTimeoutSeconds,
      proxy: chosen?.shown ?? null,
      ...profile,
      ...endOf(request.max_duration_seconds),
    };
    const session = newSession(row, captured, wishes);
    await this.#starter.run(session, { ...routed, proxy: chosen, player: recorded.player }, signal);
    if (wishes.apiKeyId !== undefined)
      await this.#defaults.recordNew(session, () => this.#runner.end(session, "deleted"));
    return this.#runner.view(session.row);
  }

  async list(projectId: string, filter: SessionFilter): Promise<Page<SessionView>> {
    return toPage(await this.views(await this.#parts.store.list(projectId, filter)), filter, (view) => view);
  }

  /** With the fields that other servers report. */
  async views(rows: readonly SessionRow[]): Promise<SessionView[]> {
    const { others, serverId } = this.#parts;
    const remote = rows.filter(({ ended_at, server_id }) => ended_at === null && server_id !== serverId);
    const live = remote.length === 0 ? undefined : await others.read(remote);
    return rows.map((row) => this.#runner.view(row, live?.get(row.id)));
  }

  async get(projectId: string, idOrName: string, includeEnded: boolean): Promise<SessionView> {
    const row = await this.#parts.store.find(projectId, idOrName, includeEnded);
    if (row === undefined || (!includeEnded && this.#isEnding(row.id))) throw notFound(idOrName);
    return this.#runner.view(row);
  }

  update(
    projectId: string,
    idOrName: string,
    request: z.output<typeof UpdateBrowser>,
    by: Parameters<SessionUpdates["update"]>[3],
  ): Promise<SessionView> {
    return this.#updates.update(projectId, idOrName, request, by);
  }

  /** Resolves after the changes of a session that run now. */
  updated(id: string): Promise<void> {
    return this.#updates.settled(id);
  }

  /** @returns the profile's id. @throws {ServiceError} 409 when the session does not write to a profile. */
  async saveProfile(projectId: string, idOrName: string): Promise<string> {
    // A change may be loading a profile; before that, the browser's state does not belong to it.
    await this.#updates.settled((await this.#existing(projectId, idOrName)).id);
    const row = await this.#existing(projectId, idOrName);
    if (row.profile_id === null || !row.profile_save_changes)
      throw ServiceError.of(browserSavesNothing(row.id, row.profile_id));
    await this.#runner.inUse(await this.#sessionHere(projectId, row.id), (own) => this.#parts.profiles.save(row, own));
    return row.profile_id;
  }

  /** Restarts the idle timeout and the maximum duration. */
  async extend(projectId: string, idOrName: string, request: z.output<typeof ExtendBrowser>): Promise<SessionView> {
    const present = await this.#existing(projectId, idOrName);
    const instance = this.#answering(await this.#sessionHere(projectId, present.id));
    const refusal = await assignAgain(instance, { session_id: present.id, timeout_seconds: present.timeout_seconds });
    if (refusal !== undefined)
      throw new ServiceError(409, "browser_not_running", `Browser ${present.id} is ending and cannot be extended.`);
    const { max_duration_seconds: seconds, ends_at: endsAt } = endOf(
      request.max_duration_seconds ?? present.max_duration_seconds ?? undefined,
    );
    if (seconds === null || endsAt === null) return this.#runner.view(present);
    const row = await this.#parts.store.extend(present.id, seconds, endsAt);
    const session = this.#runner.sessions.get(present.id);
    if (row === undefined || session === undefined || session.ending !== undefined) throw notFound(idOrName);
    this.#runner.limit(session, seconds);
    session.row = { ...session.row, max_duration_seconds: seconds, ends_at: endsAt };
    return this.#runner.view(row);
  }

  /** Ends a session of this server, and saves its profile even if it was not to save. @returns whether it was saved. */
  async endSaving(id: string): Promise<boolean> {
    const session = this.#runner.sessions.get(id);
    if (session === undefined || session.ending !== undefined) return false;
    session.savesAtEnd = true;
    const { recorded, saved } = this.#runner.end(session, "deleted", { by: { type: "login" } });
    await recorded;
    return (await saved) ?? false;
  }

  async delete(projectId: string, idOrName: string, by?: EndCause["by"]): Promise<void> {
    const row = await this.#existing(projectId, idOrName);
    const session = this.#runner.sessions.get(row.id);
    // Not `done`: the kernel needs tens of milliseconds to tear down a sandbox.
    if (session !== undefined) await this.#runner.end(session, "deleted", { by }).recorded;
    else if (row.server_id === this.#parts.serverId)
      await this.#parts.store.end(row.id, new Date().toISOString(), "instance_lost");
    else throw this.#remember(row).toError();
  }

  /**
   * Answers from memory for known sessions of other servers.
   * @param projectId - `undefined` when a session token was checked instead of a key.
   * @param kind - of the files that the request needs. Only then ended sessions are found, whose files may remain on their server.
   * @returns the row if this server has the session; {@link Elsewhere}; `undefined` if it does not exist.
   */
  async locate(
    projectId: string | undefined,
    idOrName: string,
    kind: SessionFileKind | undefined,
  ): Promise<SessionRow | Elsewhere | undefined> {
    const known = this.#knownElsewhere(projectId, idOrName);
    if (known !== undefined) return known;
    const row = await this.#parts.store.find(projectId, idOrName, kind !== undefined);
    if (row === undefined || row.server_id === this.#parts.serverId || (await this.#isStored(row, kind))) return row;
    return this.#remember(row);
  }

  /** Whether any server can answer: for the files of an ended session, or the remaining ones after its server stopped. */
  async #isStored(
    { ended_at, files_stored, id, server_id }: SessionRow,
    kind: SessionFileKind | undefined,
  ): Promise<boolean> {
    if (ended_at === null) return false;
    if (files_stored === true) return true;
    return kind !== undefined && !this.#parts.isPeer(server_id) && (await this.#parts.files.hasAny(id, kind));
  }

  /** The session may have ended, with its files here. @throws {ServiceError} 404; 503 when another server has it. */
  async idHere(projectId: string | undefined, idOrName: string, kind: SessionFileKind): Promise<string> {
    const place = await this.locate(projectId, idOrName, kind);
    if (place instanceof Elsewhere) throw place.toError();
    if (place === undefined) throw neverFound(idOrName);
    return place.id;
  }

  /**
   * Synchronous if `idOrName` is the id of a session that runs here.
   * @param projectId - `undefined` when a session token was checked instead of a key; names are then not looked up.
   * @returns {@link Elsewhere} when another server has the session.
   * @throws {ServiceError} 404 when it does not exist or has ended; 409 `browser_not_running` while it starts.
   */
  instanceOf(projectId: string | undefined, idOrName: string): Instance | Promise<Instance | Elsewhere> {
    const session = this.#runner.sessions.get(idOrName);
    if (
      session !== undefined &&
      isSeen(session.row) &&
      (projectId === undefined || session.row.project_id === projectId)
    )
      return this.#answering(session);
    return this.#find(projectId, idOrName).then((found) =>
      found instanceof Elsewhere ? found : this.#answering(found),
    );
  }

  /** As {@link Sessions.instanceOf}. @throws {ServiceError} 503 when another server has the session. */
  async instanceHere(projectId: string | undefined, idOrName: string): Promise<Instance> {
    const found = await this.instanceOf(projectId, idOrName);
    if (found instanceof Elsewhere) throw found.toError();
    return found;
  }

  invocations(): ReadonlySet<string> {
    return new Set([...this.#runner.sessions.values()].flatMap(({ row }) => row.invocation_id ?? []));
  }

  async endInvoked(id: string): Promise<void> {
    const session = this.#runner.sessions.get(id);
    const invocationId = session?.row.invocation_id;
    const by = { type: "invocation", ...(invocationId != null && { id: invocationId }) };
    if (session !== undefined) await this.#runner.end(session, "deleted", { by }).recorded;
    else await this.#parts.store.end(id, new Date().toISOString(), "instance_lost");
  }

  /** Counts a CDP or BiDi client of a session of this server. @returns ends the count. */
  enterClient(id: string): () => void {
    return this.#runner.sessions.get(id)?.presence?.enter() ?? (() => undefined);
  }

  count(): number {
    return this.#runner.sessions.size;
  }

  /** Further sessions that this server may run now. */
  room(): number {
    return this.#runner.room();
  }

  isHere(id: string): boolean {
    return this.#runner.sessions.has(id);
  }

  /**
   * Waits up to 5 seconds after an instance closed a connection; `undefined` if the session goes on or runs elsewhere.
   */
  async endingOf(id: string): Promise<EndedReason | undefined> {
    const session = this.#runner.sessions.get(id);
    const reason = () => session?.ending?.reason;
    if (session?.instance !== undefined && reason() === undefined)
      await pTimeout(session.instance.ended, { milliseconds: endingTimeoutMs, fallback: () => undefined });
    return reason();
  }

  /** Knows sessions of other servers only if they were located before. */
  projectOf(id: string): string | undefined {
    return this.#runner.sessions.get(id)?.row.project_id ?? this.#elsewhere.get(id)?.project_id;
  }

  liveFields(ids: readonly string[]): LiveFields[] {
    return ids.flatMap((id) => this.#runner.sessions.get(id) ?? []).map((session) => liveFieldsOf(session));
  }

  giveUp(): void {
    this.#runner.giveUp();
  }

  /** True while running sessions go on and no new ones start. */
  get isDraining(): boolean {
    return this.#runner.isDraining;
  }

  /** Starts no more sessions. Running ones go on; browsers that wait in pools end. */
  drain(): void {
    this.#runner.drain();
  }

  /** Kills every session that has not ended, so that {@link Sessions.close} resolves soon. */
  cut(): void {
    this.#runner.cut();
  }

  /** Ends every session as `server_stopped` and starts no more. */
  close(): Promise<void> {
    return this.#runner.close();
  }

  #answering(session: RunningSession): Instance {
    return answeringInstance(this.#runner.instanceOf(session), session);
  }

  #isEnding(id: string): boolean {
    return this.#runner.sessions.get(id)?.ending !== undefined;
  }

  async #existing(projectId: string, idOrName: string): Promise<SessionRow> {
    const row = await this.#parts.store.find(projectId, idOrName, false);
    if (row === undefined || this.#isEnding(row.id)) throw notFound(idOrName);
    return row;
  }

  async #sessionHere(projectId: string, id: string): Promise<RunningSession> {
    const found = await this.#find(projectId, id);
    if (found instanceof Elsewhere) throw found.toError();
    return found;
  }

  async #find(projectId: string | undefined, idOrName: string): Promise<RunningSession | Elsewhere> {
    const known = this.#knownElsewhere(projectId, idOrName);
    if (known !== undefined) return known;
    const row = await this.#parts.store.find(projectId, idOrName, true);
    // Names are unique in a project only; without a project, only an id identifies a session.
    if (row === undefined || (projectId === undefined && row.id !== idOrName)) throw notFound(idOrName);
    if (row.ended_at !== null) throw hasEnded(row.id, row.ended_reason, row.ended_at);
    const session = this.#runner.sessions.get(row.id);
    if (session !== undefined) return session;
    if (row.server_id === this.#parts.serverId) throw hasEnded(row.id, "instance_lost", null);
    return this.#remember(row);
  }

  #knownElsewhere(projectId: string | undefined, id: string): Elsewhere | undefined {
    const known = this.#elsewhere.get(id);
    if (known === undefined || (projectId !== undefined && known.project_id !== projectId)) return undefined;
    if (this.#parts.isPeer(known.server_id)) return new Elsewhere(known.id, known.server_id);
    // That server is gone, so its sessions have ended and the database has their rows.
    this.#elsewhere.delete(id);
    return undefined;
  }

  #remember({ id, project_id, server_id }: SessionRow): Elsewhere {
    this.#elsewhere.set(id, { id, project_id, server_id });
    return new Elsewhere(id, server_id);
  }
}
