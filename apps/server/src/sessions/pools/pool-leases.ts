import { containsNul } from "@shoal/contract/refusals";
import { anySignal, createId } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { AcquireBrowser, ReleaseBrowser } from "@shoal/schemas";
import pTimeout from "p-timeout";
import type * as z from "zod/mini";
import { isStorable } from "../../http/paging.ts";
import type { Log } from "../../log/log.ts";
import { isUniqueViolation } from "../../storage/errors/database-errors.ts";
import type { SessionView } from "../browsers/running-session.ts";
import type { SessionRow, SessionStore } from "../browsers/session-store.ts";
import type { Sessions } from "../browsers/sessions.ts";
import type { Keeper } from "./keeper.ts";
import { fillSeconds } from "./pool-config.ts";
import {
  hasProfile,
  leaseNeverSaves,
  needsVaults,
  notFound,
  notLeased,
  sessionNameTaken,
  stopping,
} from "./pool-errors.ts";
import type { CountedPool } from "./pool-row.ts";
import type { PoolStore } from "./pool-store.ts";
import type { PoolWaiters } from "./pool-waiters.ts";

export type Acquire = z.output<typeof AcquireBrowser> & {
  /** Its usage is charged to this key. */
  readonly apiKeyId: string;
  /** The caller may use all vaults of the project. */
  readonly usesVaults: boolean;
};

export interface PoolLeasesParts {
  readonly keeper: Keeper;
  readonly store: PoolStore;
  readonly waiters: PoolWaiters;
  readonly sessions: Sessions;
  readonly sessionStore: SessionStore;
  readonly serverId: string;
  readonly log: Log;
}

/** Added to the wait, because removing the caller from the queue may be slow. */
const waiterSlackMs = 30_000;
const nothing = (): undefined => undefined;

/** Leases the browsers of pools to callers of this server, in the order of the requests. */
export class PoolLeases {
  readonly #parts: PoolLeasesParts;
  readonly #closing = new AbortController();

  constructor(parts: PoolLeasesParts) {
    this.#parts = parts;
  }

  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  close(): void {
    this.#closing.abort();
  }

  /** @param asked - the pool as the caller named it. @returns `undefined` after the timeout or if the caller is gone. */
  async acquire(
    pool: CountedPool,
    request: Acquire & { readonly asked: string },
    signal: AbortSignal,
  ): Promise<SessionView | undefined> {
    await this.#check(pool, request);
    const seconds = request.acquire_timeout_seconds ?? fillSeconds(pool.config);
    // Unlike the system clock, it is never set.
    const deadline = performance.now() + seconds * 1000;
    do {
      const granted = await this.#wait(pool.id, Math.max(0, deadline - performance.now()), signal);
      if (granted === undefined) {
        if (this.closing.aborted) throw stopping();
        if ((await this.#parts.store.find(pool.project_id, pool.id)) === undefined) throw notFound(request.asked);
        return undefined;
      }
      if (signal.aborted || this.closing.aborted) {
        await this.#giveBack(pool.id, granted.id);
        if (this.closing.aborted) throw stopping();
        return undefined;
      }
      const leased = await this.#lease(pool.id, granted, request);
      if (leased !== undefined) return leased;
    } while (performance.now() < deadline);
    return undefined;
  }

  /** Ends a leased browser; with `reuse`, a clean one replaces it at once. @throws {ServiceError} 404. */
  async release(
    poolId: string,
    { asked, reuse, session_id }: z.output<typeof ReleaseBrowser> & { readonly asked: string },
  ): Promise<void> {
    const { keeper, sessions, store } = this.#parts;
    if (!isStorable(session_id) || !(await store.giveBack(poolId, session_id, reuse)))
      throw notLeased(session_id, asked);
    sessions.pooled.end(session_id, "deleted");
    void keeper.look(poolId);
  }

  async #check(
    pool: CountedPool,
    { asked, name, profile, start_url, telemetry, usesVaults }: Acquire & { readonly asked: string },
  ): Promise<void> {
    const { sessions, sessionStore } = this.#parts;
    if (pool.config.vaults !== undefined && !usesVaults) throw needsVaults(asked);
    if (!isStorable(start_url)) throw ServiceError.of(containsNul("body.start_url"));
    if (profile?.save_changes === true) throw leaseNeverSaves();
    if (profile !== undefined && pool.config.profile_id !== undefined) throw hasProfile(asked);
    await sessions.pooled.checkLease(pool, { profile, start_url });
    await sessions.pooled.checkTelemetry(pool.project_id, telemetry, pool.config.telemetry_destination_id);
    if (name === undefined) return;
    const other = await sessionStore.find(pool.project_id, name, false);
    if (other?.name === name) throw sessionNameTaken(name);
  }

  /** @param ms - 0 = one check. @returns `undefined` after the timeout or if the caller is gone. */
  async #wait(poolId: string, ms: number, signal: AbortSignal): Promise<SessionRow | undefined> {
    const { keeper, serverId, waiters } = this.#parts;
    const id = createId();
    const granted = Promise.withResolvers<SessionRow | undefined>();
    const forget = keeper.expect(id, granted.resolve);
    try {
      await waiters.add({ id, pool_id: poolId, server_id: serverId, ms: ms + waiterSlackMs });
      const looked = keeper.look(poolId).then(nothing);
      // Rejects only if the caller is gone or the server stops.
      const came = await pTimeout(ms > 0 ? granted.promise : Promise.race([granted.promise, looked]), {
        milliseconds: ms > 0 ? ms : Infinity,
        fallback: nothing,
        signal: anySignal([signal, this.closing]),
      }).catch(nothing);
      if (came !== undefined || (await waiters.remove(id))) return came;
      // A browser was just granted, or the pool is gone.
      return await Promise.race([granted.promise, keeper.look(poolId).then(nothing)]);
    } finally {
      forget();
    }
  }

  /** @returns `undefined` if the browser has just ended. */
  async #lease(poolId: string, row: SessionRow, request: Acquire): Promise<SessionView | undefined> {
    const { log, sessions } = this.#parts;
    try {
      const { profile, start_url, telemetry } = request;
      const leased = await sessions.pooled.lease(row, {
        profile,
        telemetry,
        ...(start_url && { start_url }),
      });
      const named = await this.#name(leased, request);
      if (named === undefined) return undefined;
      sessions.pooled.rename(named);
      return sessions.pooled.show(named);
    } catch (error) {
      await this.#giveBack(poolId, row.id);
      if (request.name !== undefined && isUniqueViolation(error)) throw sessionNameTaken(request.name);
      if (ServiceError.isInstance(error) && error.status !== 409 && error.status !== 404) throw error;
      log.warn({ session_id: row.id, err: error }, "a browser of a pool ended before it could be handed out");
      return undefined;
    }
  }

  async #name(row: SessionRow, { apiKeyId, name, tags }: Acquire): Promise<SessionRow | undefined> {
    return this.#parts.sessionStore.update(row.id, {
      api_key_id: apiKeyId,
      ...(name !== undefined && { name }),
      ...(tags && { tags }),
    });
  }

  async #giveBack(poolId: string, sessionId: string): Promise<void> {
    const { keeper, store } = this.#parts;
    await store.giveBack(poolId, sessionId);
    void keeper.look(poolId);
  }
}
