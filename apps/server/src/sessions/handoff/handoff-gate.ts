import { handoffActive } from "@shoal/contract/refusals";
import type { Database } from "@shoal/database";
import { anySignal } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import { untilRow } from "../../storage/until-row.ts";
import { HandoffStore, isActive } from "./handoff-store.ts";

/** As in instances: below the usual timeouts of clients. */
const maxWaitMs = 45_000;
/** For one session. */
const maxWaiting = 100;

/** Delays or refuses changes of sessions by programs while a person controls them. Works on any server. */
export class HandoffGate {
  readonly #database: Pick<Database, "onChange" | "query">;
  readonly #store: HandoffStore;
  readonly #waiting = new Map<string, number>();

  constructor(database: Pick<Database, "onChange" | "query">) {
    this.#database = database;
    this.#store = new HandoffStore(database);
  }

  /** Waits at most 45 s for the end of a handoff with `on_automation: "wait"`. @throws {ServiceError} 409 `handoff_active`. */
  async admit(sessionId: string, signal: AbortSignal): Promise<void> {
    const active = await this.#store.active(sessionId);
    if (active === undefined) return;
    const waiting = this.#waiting.get(sessionId) ?? 0;
    if (active.on_automation === "refuse" || waiting >= maxWaiting) throw ServiceError.of(handoffActive(sessionId));
    this.#waiting.set(sessionId, waiting + 1);
    try {
      await this.ended(active.id, anySignal([signal, AbortSignal.timeout(maxWaitMs)]));
    } finally {
      const left = (this.#waiting.get(sessionId) ?? 1) - 1;
      if (left === 0) this.#waiting.delete(sessionId);
      else this.#waiting.set(sessionId, left);
    }
    await this.requireNone(sessionId);
  }

  async isActive(sessionId: string): Promise<boolean> {
    return (await this.#store.active(sessionId)) !== undefined;
  }

  /** @throws {ServiceError} 409 `handoff_active`. */
  async requireNone(sessionId: string): Promise<void> {
    if (await this.isActive(sessionId)) throw ServiceError.of(handoffActive(sessionId));
  }

  /** Resolves when the handoff has ended, or the signal aborts. */
  ended(id: string, signal: AbortSignal): Promise<void> {
    const isOver = async () => {
      const row = await this.#store.find(id);
      return row === undefined || !isActive(row);
    };
    return untilRow(this.#database, { table: "handoffs", id }, isOver, signal);
  }
}
