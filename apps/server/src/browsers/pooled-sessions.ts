import { ServiceError } from "@shoal/router";
import type { CreateBrowser, EndedReason, UpdateBrowser } from "@shoal/schemas";
import type * as z from "zod/mini";
import { createId } from "../ids.ts";
import { selectCategories } from "../telemetry/categories.ts";
import { assignAgain } from "./assign-again.ts";
import { notFound, refuseImpossible } from "./session-errors.ts";
import { newSession, type PooledRequest, type SessionView } from "./running-session.ts";
import type { SessionRunner } from "./session-runner.ts";
import type { SessionRow, SessionStore } from "./session-store.ts";

/** The wire's longest. */
const longestTimeoutSeconds = 259_200;

/** Sessions that wait in a pool, on this server. Their rows are the pool's. */
export interface PooledSessions {
  /** @param destination - where the pool's telemetry is sent now. @returns what was found for what it names. @throws {ServiceError} as `create` does for what cannot be, or cannot be yet. */
  check(
    projectId: string,
    request: z.output<typeof CreateBrowser>,
    destination?: string,
  ): Promise<Pick<PooledRequest, "extension_ids" | "profile_id" | "telemetry_destination_id">>;
  /** Whether a lease may ask for this. @param destination - where the pool's telemetry is sent. @throws {ServiceError} 400 or 404. */
  checkTelemetry(projectId: string, request: PooledRequest["telemetry"], destination?: string): Promise<void>;
  /** How many more may run on this server. */
  room(): number;
  /** The row of a session that is to start, as it is to be stored. */
  rowFor(pool: { readonly id: string; readonly project_id: string }, request: PooledRequest): SessionRow;
  /** Starts a session whose row is stored. It does not end by itself for 72 hours. Leaves nothing, its row neither, when that fails. */
  start(row: SessionRow, request: PooledRequest): Promise<void>;
  /** Whether it runs here and nothing has begun to end it. */
  isRunning(id: string): boolean;
  /** Hands it to whoever leased it: from now on it is seen, and its timeout counts. @returns its row. @throws {ServiceError} 409 when it has just ended. */
  lease(
    row: SessionRow,
    wishes: { readonly start_url?: string | undefined; readonly telemetry?: z.output<typeof UpdateBrowser>["telemetry"] },
  ): Promise<SessionRow>;
  /** It got a name or labels. */
  rename(row: SessionRow): void;
  show(row: SessionRow): SessionView;
  /** Ends one that runs here. */
  end(id: string, reason: EndedReason): void;
  /** Those of a pool that run here, are about to, or have not quite gone. */
  of(poolId: string): string[];
}

export function createPooledSessions(runner: SessionRunner, store: SessionStore): PooledSessions {
  const { sessions, chooseProxy, emptyRow, end, instanceHere, persist, room, start, switchTelemetry, view } = runner;
  return {
    async checkTelemetry(projectId, request, destination) {
      selectCategories(request, undefined);
      await runner.destinationFor(projectId, request, destination ?? null);
    },
    async check(projectId, request, destination) {
      refuseImpossible(request);
      runner.refuseUnable(request);
      selectCategories(request.telemetry, undefined);
      await chooseProxy(projectId, request, createId());
      const profile = request.profile && (await runner.chooseProfile(projectId, request.profile));
      const to = await runner.destinationFor(projectId, request.telemetry, destination ?? null);
      return {
        ...(await runner.chooseExtensions(projectId, request)),
        ...(profile?.profile_id && { profile_id: profile.profile_id }),
        ...(to !== null && { telemetry_destination_id: to }),
      };
    },
    room,
    rowFor: (pool, request) => ({
      ...emptyRow(createId(), pool.project_id, request),
      timeout_seconds: longestTimeoutSeconds,
      pool_id: pool.id,
      pool_state: "starting",
    }),
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
      const refusal = await assignAgain(instance, {
        session_id: row.id,
        timeout_seconds: row.timeout_seconds,
        ...(wishes.start_url !== undefined && { start_url: wishes.start_url }),
      });
      if (refusal !== undefined) throw new ServiceError(409, "conflict", `Browser ${row.id} ended before it could be handed out.`);
      session.row = { ...row, telemetry_destination_id: session.row.telemetry_destination_id };
      session.idleSinceMs ??= Date.now();
      if (wishes.start_url !== undefined) session.row = (await store.update(row.id, { start_url: wishes.start_url })) ?? session.row;
      return session.row;
    },
    rename: (row) => {
      runner.rename(row);
    },
    show: view,
    end(id, reason) {
      const session = sessions.get(id);
      if (session !== undefined) end(session, reason);
    },
    of: (poolId) => [...sessions.values()].filter(({ row }) => row.pool_id === poolId).map(({ row }) => row.id),
  };
}
