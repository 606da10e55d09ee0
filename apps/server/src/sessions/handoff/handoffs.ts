import { browserNotFound, handoffActive, handoffNotFound } from "@shoal/contract/refusals";
import type { Database } from "@shoal/database";
import { instanceControl } from "@shoal/instance";
import { callInstance, type Instance } from "@shoal/placement";
import { anySignal, KeyedMutex } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { RequestHandoff } from "@shoal/schemas";
import type * as z from "zod/mini";
import type { Log } from "../../log/log.ts";
import type { SessionStore } from "../browsers/session-store.ts";
import type { Sessions } from "../browsers/sessions.ts";
import type { HandoffGate } from "./handoff-gate.ts";
import { type HandoffEnd, type HandoffRow, HandoffStore, isActive } from "./handoff-store.ts";

/** Longer than an instance needs to stop running work. */
const instanceTimeoutMs = 10_000;
/** For handoffs of servers that were killed. */
const lookEveryMs = 30_000;
const retryMs = 1_000;

export interface HandoffParts {
  readonly database: Pick<Database, "onChange" | "query">;
  readonly gate: Pick<HandoffGate, "ended">;
  readonly sessions: Pick<Sessions, "get" | "instanceHere" | "updated">;
  readonly sessionStore: Pick<SessionStore, "find">;
  readonly log: Log;
}

interface Held {
  readonly sessionId: string;
  status: HandoffRow["status"];
  /** Before, the instance does not know it. */
  hasBegun: boolean;
  readonly timer: NodeJS.Timeout;
}

/** Hands sessions over to persons. The server of the session keeps its instance equal to the row, which any server may change. */
export class Handoffs {
  readonly store: HandoffStore;
  readonly #parts: HandoffParts;
  /** Active ones of sessions on this server. */
  readonly #held = new Map<string, Held>();
  /** One report at a time, by handoff: a late begin must not follow the end. */
  readonly #reports = new KeyedMutex<string>();
  readonly #listeners = new Set<(id: string | undefined) => void>();
  readonly #stopFollowing: () => void;
  readonly #timer: NodeJS.Timeout;

  constructor(parts: HandoffParts) {
    this.#parts = parts;
    this.store = new HandoffStore(parts.database);
    this.#stopFollowing = parts.database.onChange((change) => {
      if (change !== undefined && change.table !== "handoffs") return;
      for (const id of change === undefined ? this.#held.keys() : [change.id]) this.#look(id);
      for (const listener of this.#listeners) listener(change?.id);
    });
    this.#timer = setInterval(() => {
      this.#expire();
    }, lookEveryMs).unref();
    this.#expire();
  }

  /** @throws {ServiceError} 409 `handoff_active` if the session has one. */
  async request(
    projectId: string,
    idOrName: string,
    { body, keyId }: { readonly body: z.output<typeof RequestHandoff>; readonly keyId: string },
  ): Promise<HandoffRow> {
    const { row: session } = await this.#parts.sessions.get(projectId, idOrName, false);
    const instance = await this.#parts.sessions.instanceHere(projectId, session.id);
    const row = await this.store.insert(session, keyId, body);
    if (row === undefined) throw ServiceError.of(handoffActive(session.id));
    const timer = setTimeout(() => {
      this.#expire();
    }, body.timeout_seconds * 1000).unref();
    const held = { sessionId: session.id, status: row.status, hasBegun: false, timer };
    this.#held.set(row.id, held);
    try {
      // A running change would alter what the person sees.
      await this.#parts.sessions.updated(session.id);
      return await this.#reports.run(row.id, () => this.#begin(held, row, instance));
    } catch (error) {
      await this.store.end(row.id, { status: "canceled", released_by: null, note: null });
      throw error;
    }
  }

  /** It may have been taken or have ended while the request waited for a change of the session. */
  async #begin(held: Held, row: HandoffRow, instance: Instance): Promise<HandoffRow> {
    // Before the row is read: later changes are reported after this.
    held.hasBegun = true;
    const present = await this.store.findTimed(row.id);
    if (present === undefined) throw ServiceError.of(handoffNotFound(row.id));
    const { remaining_ms, ...now } = present;
    if (isActive(now)) await setHandoff(instance, now, remaining_ms);
    return now;
  }

  /** The latest one, also of an ended session. @param options.waitSeconds - for its end. */
  async get(
    projectId: string,
    idOrName: string,
    {
      handoffId,
      signal,
      waitSeconds,
    }: { readonly handoffId: string | undefined; readonly signal: AbortSignal; readonly waitSeconds: number },
  ): Promise<HandoffRow> {
    const row = await this.#latest(projectId, idOrName, handoffId);
    if (!isActive(row) || waitSeconds === 0) return row;
    await this.#parts.gate.ended(row.id, anySignal([signal, AbortSignal.timeout(waitSeconds * 1000)]));
    return (await this.store.find(row.id)) ?? row;
  }

  /** Ends the latest one, for a program. Returns an ended one unchanged. */
  async end(projectId: string, idOrName: string, end: HandoffEnd): Promise<HandoffRow> {
    return this.endById((await this.#latest(projectId, idOrName)).id, end);
  }

  async endById(id: string, end: HandoffEnd): Promise<HandoffRow> {
    const row = (await this.store.end(id, end)) ?? (await this.store.find(id));
    if (row === undefined) throw ServiceError.of(handoffNotFound(id));
    // Otherwise the server of the session receives the change.
    await this.#apply(row);
    return row;
  }

  async takeById(id: string): Promise<HandoffRow | undefined> {
    const row = (await this.store.take(id)) ?? (await this.store.find(id));
    if (row !== undefined) await this.#apply(row);
    return row;
  }

  /** @param listener - receives the id, or `undefined` if any may have changed. @returns a function that stops it. */
  onChange(listener: (id: string | undefined) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  close(): void {
    clearInterval(this.#timer);
    this.#stopFollowing();
    for (const { timer } of this.#held.values()) clearTimeout(timer);
    this.#held.clear();
    this.#listeners.clear();
  }

  async #latest(projectId: string, idOrName: string, handoffId?: string): Promise<HandoffRow> {
    const session = await this.#parts.sessionStore.find(projectId, idOrName, true);
    if (session === undefined) throw ServiceError.of(browserNotFound(idOrName));
    const row = await (handoffId === undefined ? this.store.latest(session.id) : this.store.find(handoffId));
    if (row?.session_id !== session.id) throw ServiceError.of(handoffNotFound(session.id));
    return row;
  }

  #look(id: string): void {
    if (!this.#held.has(id)) return;
    this.store
      .find(id)
      .then((row) => (row === undefined ? undefined : this.#apply(row)))
      .catch((error: unknown) => {
        this.#parts.log.warn({ handoff_id: id, err: error }, "a handoff could not be read");
        setTimeout(() => {
          this.#look(id);
        }, retryMs).unref();
      });
  }

  /** Reports a change to the instance of a session on this server. */
  async #apply(row: HandoffRow): Promise<void> {
    const held = this.#held.get(row.id);
    if (held === undefined || held.status === row.status) return;
    held.status = row.status;
    if (!isActive(row)) {
      clearTimeout(held.timer);
      this.#held.delete(row.id);
    }
    if (!held.hasBegun) return;
    try {
      const instance = await this.#parts.sessions.instanceHere(undefined, row.session_id);
      await this.#reports.run(row.id, () => setHandoff(instance, row, 0));
    } catch (error) {
      // The session has ended, or its instance ends the handoff at the deadline.
      this.#parts.log.debug({ handoff_id: row.id, err: error }, "the instance did not receive the change of a handoff");
    }
  }

  #expire(): void {
    this.store.expireDue().then(
      () => {
        for (const id of this.#held.keys()) this.#look(id);
      },
      (error: unknown) => {
        this.#parts.log.warn({ err: error }, "expired handoffs could not be ended");
        setTimeout(() => {
          this.#expire();
        }, retryMs).unref();
      },
    );
  }
}

async function setHandoff(instance: Instance, row: HandoffRow, remainingMs: number): Promise<void> {
  const { id, label, on_automation, status } = row;
  await callInstance(instance, instanceControl.setHandoff, {
    body: { id, status, on_automation, remaining_ms: remainingMs, ...(label !== null && { label }) },
    signal: AbortSignal.timeout(instanceTimeoutMs),
  });
}
