import type { Database, Tables } from "@shoal/database";
import { type Kysely, sql } from "kysely";
import type { Attempt, Sendable } from "./delivery-sender.ts";
import { attemptMs } from "./delivery-sender.ts";
import { retryDelayMs } from "./retries.ts";
import { deliveryColumns, type DeliveryRow } from "./webhook-row.ts";

/** A delivery that this server sends. */
export interface ClaimedDelivery extends Sendable {
  readonly id: string;
  readonly host: string;
  readonly attempts: number;
  readonly retries: number;
}

export interface Room {
  /** Deliveries that the server can begin. */
  readonly count: number;
  /** Deliveries to one host that may run at once. */
  readonly perHost: number;
  /** Running deliveries by host. */
  readonly busy: ReadonlyMap<string, number>;
}

/** A killed server's deliveries are free for others afterwards. */
const leaseMs = 2 * attemptMs;
/** A webhook that fails without a success for this long is disabled. */
const maxFailingDays = 5;

const now = sql<string>`clock_timestamp()`;
const leaseEnd = sql<string>`clock_timestamp() + make_interval(secs => ${leaseMs / 1000})`;

/** Deliveries that wait, shared by all servers. */
export class DeliveryQueue {
  readonly #query: Database["query"];

  constructor({ query }: Pick<Database, "query">) {
    this.#query = query;
  }

  /** Takes due deliveries, oldest first. Each host gets a share, so that a slow receiver does not delay others. */
  async claim({ busy, count, perHost }: Room): Promise<ClaimedDelivery[]> {
    const { rows } = await sql<ClaimedDelivery>`
      with due as (
        select one.id, one.next_attempt_at, webhooks.host, webhooks.url
        from webhooks cross join lateral (
          select id, next_attempt_at from webhook_deliveries
          where webhook_id = webhooks.id and status = 'pending' and next_attempt_at <= ${now}
            and (lease_until is null or lease_until <= ${now})
          order by next_attempt_at limit ${perHost} for update skip locked
        ) as one
        where webhooks.enabled
          and exists (select from webhook_deliveries where status = 'pending' and next_attempt_at <= ${now})
      ), ranked as (
        select *, row_number() over (partition by host order by next_attempt_at)
          + coalesce((${JSON.stringify(Object.fromEntries(busy))}::jsonb ->> host)::int, 0) as place
        from due
      ), chosen as (select * from ranked where place <= ${perHost} order by next_attempt_at limit ${count})
      update webhook_deliveries as delivery
      set attempts = attempts + 1, last_attempt_at = ${now}, lease_until = ${leaseEnd}
      from chosen where delivery.id = chosen.id
      returning delivery.id, delivery.webhook_id, delivery.event_id, delivery.payload, delivery.attempts,
        delivery.retries, chosen.host, chosen.url`.execute(this.#query);
    return rows;
  }

  /** Inserts a delivery that only the caller sends, once: it has failed unless {@link finishTest} says otherwise. */
  async insertTest(event: {
    readonly webhookId: string;
    readonly eventId: string;
    readonly type: string;
    readonly payload: string;
    readonly id: string;
  }): Promise<void> {
    await this.#query
      .insertInto("webhook_deliveries")
      .values({
        id: event.id,
        webhook_id: event.webhookId,
        event_id: event.eventId,
        event_type: event.type,
        payload: event.payload,
        status: "failed",
        error: "The test has not ended, or was interrupted.",
        attempts: 1,
        next_attempt_at: null,
        last_attempt_at: now,
      })
      .execute();
  }

  /** Returns deliveries whose attempt did not end. */
  async putBack(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.#query
      .updateTable("webhook_deliveries")
      .set({ lease_until: null })
      .where("id", "in", ids)
      .where("status", "=", "pending")
      .execute();
  }

  /**
   * Stores the result of an attempt, and plans the next one. No effect after another server has claimed the delivery.
   * @returns the reason if the webhook is disabled now.
   */
  async finish(claimed: ClaimedDelivery, attempt: Attempt): Promise<string | undefined> {
    const delayMs = attempt.isGone === true ? undefined : retryDelayMs(claimed.retries, attempt.retryAfterMs);
    return this.#query.transaction().execute(async (transaction) => {
      const row = await this.#store(transaction, claimed, { attempt, delayMs });
      if (row === undefined) return undefined;
      if (attempt.error !== undefined) return noteFailure(transaction, claimed, attempt);
      await transaction
        .updateTable("webhooks")
        .set({ failing_since: null })
        .where("id", "=", claimed.webhook_id)
        .where("url", "=", claimed.url)
        .where("failing_since", "is not", null)
        .execute();
      return undefined;
    });
  }

  /** Stores the result of a test, which is not repeated. @returns `undefined` when the webhook was deleted. */
  async finishTest(id: string, { durationMs, error, status }: Attempt): Promise<DeliveryRow | undefined> {
    const result = { response_status: status ?? null, duration_ms: durationMs, error: error ?? null };
    const ended = await this.#query
      .updateTable("webhook_deliveries")
      .set({ ...result, ...(error === undefined ? { status: "succeeded" } : { retries: 1 }) })
      .where("id", "=", id)
      .where("attempts", "=", 1)
      .where("status", "=", "failed")
      .returning(deliveryColumns)
      .executeTakeFirst();
    // A caller has requested another delivery meanwhile.
    return (
      ended ??
      this.#query.selectFrom("webhook_deliveries").select(deliveryColumns).where("id", "=", id).executeTakeFirst()
    );
  }

  #store(
    query: Kysely<Tables>,
    claimed: Pick<ClaimedDelivery, "id" | "attempts" | "retries">,
    { attempt, delayMs }: { readonly attempt: Attempt; readonly delayMs: number | undefined },
  ): Promise<DeliveryRow | undefined> {
    // A redelivery that was requested during a failed attempt begins with the first retry again.
    const isRenewed = sql<boolean>`retries <> ${claimed.retries}`;
    const later = delayMs === undefined ? null : sql`clock_timestamp() + make_interval(secs => ${delayMs / 1000})`;
    const left =
      attempt.error === undefined
        ? ({ status: "succeeded", next_attempt_at: null } as const)
        : {
            status: sql<
              "pending" | "failed"
            >`case when ${isRenewed} then 'pending' else ${later === null ? "failed" : "pending"} end`,
            retries: sql<number>`case when ${isRenewed} then retries else ${claimed.retries + 1}::int end`,
            next_attempt_at: sql<string | null>`case when ${isRenewed} then ${now} else ${later} end`,
          };
    return query
      .updateTable("webhook_deliveries")
      .set({
        ...left,
        lease_until: null,
        response_status: attempt.status ?? null,
        duration_ms: attempt.durationMs,
        error: attempt.error ?? null,
      })
      .where("id", "=", claimed.id)
      .where("attempts", "=", claimed.attempts)
      .where("status", "=", "pending")
      .returning(deliveryColumns)
      .executeTakeFirst();
  }
}

/** Failures at an earlier address of the webhook do not count. */
async function noteFailure(
  transaction: Kysely<Tables>,
  { url, webhook_id }: Pick<ClaimedDelivery, "url" | "webhook_id">,
  { error = "", isGone }: Attempt,
): Promise<string | undefined> {
  const since = sql<string>`coalesce(failing_since, clock_timestamp())`;
  const isLong = sql<boolean>`${since} < clock_timestamp() - make_interval(days => ${maxFailingDays})`;
  const row = await transaction
    .updateTable("webhooks")
    .set({ failing_since: since })
    .where("id", "=", webhook_id)
    .where("url", "=", url)
    .returning(["enabled", isLong.as("is_long")])
    .executeTakeFirst();
  if (row?.enabled !== true || (isGone !== true && !row.is_long)) return undefined;
  const reason =
    isGone === true
      ? "The receiver answered 410: it expects no more events."
      : `No delivery has succeeded for ${String(maxFailingDays)} days. ${error}`;
  await transaction
    .updateTable("webhooks")
    .set({ enabled: false, disabled_reason: reason })
    .where("id", "=", webhook_id)
    .execute();
  return reason;
}
