import { vaultItemNotFound } from "@shoal/contract/refusals";
import type { Database, Tables } from "@shoal/database";
import { anySignal, createId } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { VaultItemEvent } from "@shoal/schemas";
import { type Kysely, sql } from "kysely";
import { untilRow } from "../../storage/until-row.ts";

/** The older ones of an item are removed. */
const maxEvents = 1000;
/** Requests that wait for one item. Further ones are answered at once. */
const maxWaitingOfItem = 100;
/** Less than `max_requests`, so that one project cannot use up the requests of the service. */
const maxWaitingOfProject = 200;

export interface NewEvent {
  readonly name: VaultItemEvent["name"];
  readonly sessionId?: string;
  /** Never values. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/** Events follow each other: each locks the item until the end of the transaction. */
export async function addEvent(query: Kysely<Tables>, itemId: string, event: NewEvent): Promise<void> {
  const item = await query
    .updateTable("vault_items")
    .set({ events: sql<number>`events + 1` })
    .where("id", "=", itemId)
    .returning("events")
    .executeTakeFirst();
  if (item === undefined) throw ServiceError.of(vaultItemNotFound(itemId));
  await query
    .insertInto("vault_item_events")
    .values({
      item_id: itemId,
      number: item.events,
      id: createId(),
      name: event.name,
      session_id: event.sessionId ?? null,
      data: event.data === undefined ? null : JSON.stringify(event.data),
      created_at: new Date(),
    })
    .execute();
  await query
    .deleteFrom("vault_item_events")
    .where("item_id", "=", itemId)
    .where("number", "<=", item.events - maxEvents)
    .execute();
}

/** What happened with items, and waiting for it. Works on any server. */
export class ItemEvents {
  readonly #database: Pick<Database, "onChange" | "query">;
  readonly #stopping: AbortSignal;
  /** By id of an item or a project. */
  readonly #waiting = new Map<string, number>();

  /** @param stopping - ends all waiting, which would delay shutdown. */
  constructor(database: Pick<Database, "onChange" | "query">, stopping: AbortSignal) {
    this.#database = database;
    this.#stopping = stopping;
  }

  /** @param after - id of an event; `undefined`, or a removed event: all. */
  async list(itemId: string, after: string | undefined): Promise<VaultItemEvent[]> {
    const { query } = this.#database;
    const known =
      after === undefined
        ? undefined
        : await query
            .selectFrom("vault_item_events")
            .select("number")
            .where("item_id", "=", itemId)
            .where("id", "=", after)
            .executeTakeFirst();
    const rows = await query
      .selectFrom("vault_item_events")
      .select(["id", "name", "session_id", "data", "created_at"])
      .where("item_id", "=", itemId)
      .where("number", ">", known?.number ?? 0)
      .orderBy("number")
      .execute();
    return rows.map(({ data, session_id: browserId, ...event }) => ({
      ...event,
      ...(browserId !== null && { browser_id: browserId }),
      ...(data !== null && { data }),
    }));
  }

  /**
   * Resolves when the item changes so that `isOver` resolves with true, when the signal aborts, after a time, and when the
   * service stops.
   */
  async until(
    { itemId, projectId }: { readonly itemId: string; readonly projectId: string },
    isOver: () => Promise<boolean>,
    { signal, waitSeconds }: { readonly signal: AbortSignal; readonly waitSeconds: number },
  ): Promise<void> {
    const waiting = (id: string) => this.#waiting.get(id) ?? 0;
    if (waitSeconds === 0) return;
    if (waiting(itemId) >= maxWaitingOfItem || waiting(projectId) >= maxWaitingOfProject) return;
    const ends = anySignal([signal, this.#stopping, AbortSignal.timeout(waitSeconds * 1000)]);
    for (const id of [itemId, projectId]) this.#waiting.set(id, waiting(id) + 1);
    try {
      await untilRow(this.#database, { table: "vault_items", id: itemId }, isOver, ends);
    } finally {
      for (const id of [itemId, projectId]) {
        const left = waiting(id) - 1;
        if (left === 0) this.#waiting.delete(id);
        else this.#waiting.set(id, left);
      }
    }
  }
}
