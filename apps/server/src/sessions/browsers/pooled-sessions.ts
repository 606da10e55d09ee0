import { createId } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { AcquireBrowser, CreateBrowser, EndedReason, UpdateBrowser } from "@shoal/schemas";
import type * as z from "zod/mini";
import { selectCategories } from "../telemetry/categories.ts";
import { allowlistOf, refuseOutsidePage } from "./options/allowlist.ts";
import { assignAgain } from "./start/assign-again.ts";
import { newSession, type PooledRequest, type SessionView } from "./running-session.ts";
import { notFound, refuseImpossible } from "./session-errors.ts";
import type { SessionRunner } from "./session-runner.ts";
import type { SessionRow, SessionStore } from "./session-store.ts";
import type { SessionTelemetry } from "./session-telemetry.ts";
import type { SessionChoices } from "./start/session-choices.ts";
import type { SessionDefaults } from "./start/session-defaults.ts";
import type { SessionStarter } from "./start/session-starter.ts";

/** Maximum `timeout_seconds` of the contract. */
const longestTimeoutSeconds = 259_200;

export interface PooledSessionsParts {
  readonly runner: SessionRunner;
  readonly choices: SessionChoices;
  readonly defaults: Pick<SessionDefaults, "captured" | "record">;
  readonly starter: SessionStarter;
  readonly sessionTelemetry: SessionTelemetry;
  readonly store: SessionStore;
}

/** Sessions of this server that wait in a pool. The pool owns their rows. */
export class PooledSessions {
  readonly #parts: PooledSessionsParts;

  constructor(parts: PooledSessionsParts) {
    this.#parts = parts;
  }

  /** Checks settings of sessions that start later. @throws {ServiceError} as creating a session does. */
  async checkLater(
    projectId: string,
    request: z.output<typeof CreateBrowser>,
    by: { readonly signal: AbortSignal; readonly usesSecrets: boolean },
  ): Promise<void> {
    await this.check(projectId, request);
    await this.#parts.choices.recording(projectId, request, by);
  }

  /** Resolves the objects that a pool's configuration names. The caller may use its vaults. @throws {ServiceError} as creating a session does. */
  async check(
    projectId: string,
    request: z.output<typeof CreateBrowser>,
    destination?: string,
  ): Promise<
    Pick<PooledRequest, "extension_ids" | "network" | "profile_id" | "proxy_id" | "telemetry_destination_id" | "vaults">
  > {
    const { choices } = this.#parts;
    refuseImpossible(request);
    choices.refuseUnable(request);
    selectCategories(request.telemetry, undefined);
    refuseOutsidePage(request.start_url, { ...request.network, allowlist: allowlistOf(request.network) });
    const proxy = await choices.proxy(projectId, request, createId());
    const network = request.network && (await this.canonicalNetwork(projectId, request.network));
    const profile = request.profile && (await choices.profile(projectId, request.profile));
    if (request.location !== undefined || profile !== undefined)
      await choices.inherited(projectId, { ...request, profile_id: profile?.profile_id ?? undefined }, proxy);
    const to = await choices.destination(projectId, request.telemetry, destination ?? null);
    return {
      ...(await choices.extensions(projectId, request)),
      ...(await choices.vaults(projectId, request.vaults, true)),
      ...(network && { network }),
      ...(profile?.profile_id && { profile_id: profile.profile_id }),
      ...(proxy?.shown?.id !== undefined && { proxy_id: proxy.shown.id }),
      ...(to !== null && { telemetry_destination_id: to }),
    };
  }

  /** For callers that {@link refuseHeaders} has admitted. @returns canonical settings with the ids of objects. @throws {ServiceError} 400, or 404 for a missing proxy. */
  async canonicalNetwork(
    projectId: string,
    network: NonNullable<PooledRequest["network"]>,
  ): Promise<NonNullable<PooledRequest["network"]>> {
    const routed = await this.#parts.choices.network(
      projectId,
      { network },
      { sessionId: createId(), usesSecrets: true },
    );
    const allowlist = allowlistOf(network);
    return {
      ...routed.request.network,
      ...(allowlist?.hosts && { allowed_hosts: [...allowlist.hosts] }),
    };
  }

  /** @throws {ServiceError} 404 for a missing profile, 400 for a page outside of the pool's allowed hosts. */
  async checkLease(
    { config, project_id }: { readonly project_id: string; readonly config: PooledRequest },
    { profile, start_url }: Pick<z.output<typeof AcquireBrowser>, "profile" | "start_url">,
  ): Promise<void> {
    refuseOutsidePage(start_url, { ...config.network, allowlist: allowlistOf(config.network) });
    if (profile !== undefined) await this.#parts.choices.profile(project_id, profile);
  }

  async checkTelemetry(projectId: string, request: PooledRequest["telemetry"], destination?: string): Promise<void> {
    selectCategories(request, undefined);
    await this.#parts.choices.destination(projectId, request, destination ?? null);
  }

  /** Its browsers are not handed out any more. */
  get isDraining(): boolean {
    return this.#parts.runner.isDraining;
  }

  /** Ids of the pools with browsers of this server. */
  pools(): ReadonlySet<string> {
    return new Set([...this.#parts.runner.sessions.values()].flatMap(({ row }) => row.pool_id ?? []));
  }

  room(): number {
    return this.#parts.runner.room();
  }

  rowFor(pool: { readonly id: string; readonly project_id: string }, request: PooledRequest): SessionRow {
    const row = this.#parts.choices.row(createId(), pool.project_id, request);
    return {
      ...row,
      options: { ...row.options, ...(request.vaults && { vaults: request.vaults }) },
      timeout_seconds: longestTimeoutSeconds,
      pool_id: pool.id,
      pool_state: "starting",
    };
  }

  /** The row must be stored; it is removed if the start fails. */
  async start(row: SessionRow, request: PooledRequest): Promise<void> {
    const { choices, defaults, runner, starter, store } = this.#parts;
    const session = newSession(row, undefined);
    runner.sessions.set(row.id, session);
    try {
      session.captured = await defaults.captured(row.project_id, request);
      const chosen = await choices.proxy(row.project_id, request, row.id);
      const { web_bot_auth: bot, ...seen } = await choices.inherited(row.project_id, request, chosen);
      const inherited = { ...(bot?.enabled === true && { web_bot_auth: bot }), ...seen };
      if (Object.keys(inherited).length > 0) {
        session.row = { ...row, options: { ...row.options, ...inherited } };
        await store.update(row.id, { options: session.row.options });
      }
      const { headers, routes } = await choices.network(row.project_id, request, {
        sessionId: row.id,
        usesSecrets: true,
      });
      if (chosen?.shown !== undefined) await store.update(row.id, { proxy: chosen.shown });
      await starter.start(session, { proxy: chosen, routes, headers }, session.abort.signal, true);
    } catch (error) {
      runner.sessions.delete(row.id);
      if (session.instance === undefined && session.ending === undefined)
        await runner.record(session, () => store.remove(row.id));
      throw error;
    }
  }

  isRunning(id: string): boolean {
    const session = this.#parts.runner.sessions.get(id);
    return session?.instance !== undefined && session.ending === undefined;
  }

  /** Makes a session visible to a client and starts its timeout. @throws {ServiceError} 409 when it has just ended. */
  async lease(
    row: SessionRow,
    wishes: {
      readonly profile?: z.output<typeof AcquireBrowser>["profile"];
      readonly start_url?: string | undefined;
      readonly telemetry?: z.output<typeof UpdateBrowser>["telemetry"];
    },
  ): Promise<SessionRow> {
    const { choices, defaults, runner, sessionTelemetry, starter, store } = this.#parts;
    const session = runner.sessions.get(row.id);
    if (session === undefined) throw notFound(row.id);
    const instance = runner.instanceOf(session);
    refuseOutsidePage(wishes.start_url, row.options);
    // First, so that telemetry includes the page's first request.
    if (wishes.telemetry) await sessionTelemetry.change(row, wishes.telemetry);
    const profile = wishes.profile && (await choices.profile(row.project_id, wishes.profile));
    const adopted = profile && (await starter.adoptProfile(session, profile));
    if (profile !== undefined && adopted === undefined) throw notFound(row.id);
    const refusal = await assignAgain(instance, {
      session_id: row.id,
      timeout_seconds: row.timeout_seconds,
      ...(wishes.start_url !== undefined && { start_url: wishes.start_url }),
    });
    if (refusal !== undefined)
      throw new ServiceError(409, "conflict", `Browser ${row.id} ended before it could be handed out.`);
    session.row = { ...row, ...adopted, telemetry_destination_id: session.row.telemetry_destination_id };
    // The event of the instance may arrive after the answer to the caller.
    session.idleSinceMs = Date.now();
    session.outsideUse?.touch();
    instance.sleep.after(row.options.sleep_after_seconds ?? 0);
    if (wishes.start_url !== undefined)
      session.row = (await store.update(row.id, { start_url: wishes.start_url })) ?? session.row;
    void defaults.record(session);
    return session.row;
  }

  rename(row: SessionRow): void {
    this.#parts.runner.rename(row);
  }

  show(row: SessionRow): SessionView {
    return this.#parts.runner.view(row);
  }

  end(id: string, reason: EndedReason): void {
    const { runner } = this.#parts;
    const session = runner.sessions.get(id);
    const poolId = session?.row.pool_id;
    const by = reason === "deleted" && poolId != null ? { type: "pool", id: poolId } : undefined;
    if (session !== undefined) runner.end(session, reason, { by });
  }

  /** Browsers of pools on this server that have not ended. */
  browsers(): { readonly id: string; readonly poolId: string }[] {
    return [...this.#parts.runner.sessions.values()].flatMap(({ ending, row: { id, pool_id: poolId } }) =>
      poolId === null || ending !== undefined ? [] : [{ id, poolId }],
    );
  }

  of(poolId: string): string[] {
    return [...this.#parts.runner.sessions.values()]
      .filter(({ row }) => row.pool_id === poolId)
      .map(({ row }) => row.id);
  }
}
