import { containsFolded, type Database, type InvocationsTable } from "@shoal/database";
import { createId } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { ListInvocations } from "@shoal/schemas";
import { type Selectable, sql } from "kysely";
import type * as z from "zod/mini";
import { isStorable } from "../../http/paging.ts";
import { explainInvocationLimit, type InvocationLimits } from "../../storage/errors/invocation-limits.ts";
import { momentOf } from "../../storage/moment.ts";
import { storableText } from "../../storage/storable-text.ts";

export type InvocationRow = Omit<Selectable<InvocationsTable>, "app_name_folded" | "action_name_folded">;

export type NewInvocation = Pick<
  InvocationRow,
  | "project_id"
  | "deployment_id"
  | "app_name"
  | "version"
  | "action_name"
  | "payload"
  | "is_async"
  | "timeout_seconds"
  | "max_retries"
>;

/** How an invocation ended. */
export interface Ending {
  readonly status: "succeeded" | "failed";
  /** JSON. */
  readonly output?: string | undefined;
  readonly status_reason?: string | undefined;
  /** Another attempt would end the same way. */
  readonly isFinal?: boolean;
}

const shortColumns = [
  "id",
  "project_id",
  "deployment_id",
  "app_name",
  "version",
  "action_name",
  "status",
  "status_reason",
  "server_id",
  "is_async",
  "timeout_seconds",
  "due_at",
  "place",
  "attempts",
  "max_retries",
  "started_at",
  "finished_at",
] as const;
const columns = [...shortColumns, "payload", "output"] as const;

/** A page of a hundred rows must stay small; `invocations.get` has the rest. */
const listedBytes = 16_384;
const listed = (column: "payload" | "output") =>
  sql<
    string | null
  >`case when octet_length(${sql.ref(column)}) <= ${sql.lit(listedBytes)} then ${sql.ref(column)} end`.as(column);
/** More would be the whole output of a failed program. */
const maxReasonLength = 4096;

const storable = (reason: string): string => storableText(reason, maxReasonLength);

const insertedColumns = [
  "id",
  "server_id",
  "project_id",
  "deployment_id",
  "app_name",
  "version",
  "action_name",
  "payload",
  "is_async",
  "timeout_seconds",
  "max_retries",
  "started_at",
] as const;

function newValues(given: NewInvocation, serverId: string | null) {
  return [
    sql<string>`${createId()}::text`.as("id"),
    sql<string | null>`${serverId}::text`.as("server_id"),
    sql<string>`${given.project_id}::text`.as("project_id"),
    sql<string>`${given.deployment_id}::text`.as("deployment_id"),
    sql<string>`${given.app_name}::text`.as("app_name"),
    sql<string>`${given.version}::text`.as("version"),
    sql<string>`${given.action_name}::text`.as("action_name"),
    sql<string | null>`${given.payload}::text`.as("payload"),
    sql<boolean>`${given.is_async}::boolean`.as("is_async"),
    sql<number>`${given.timeout_seconds}::int`.as("timeout_seconds"),
    sql<number>`${given.max_retries}::int`.as("max_retries"),
    sql<string>`clock_timestamp()`.as("started_at"),
  ] as const;
}

/** Differs after each change that followers see. */
export const stateKey = (status: string, attempts: number): string => `${status} ${String(attempts)}`;

export class InvocationStore {
  readonly #query: Database["query"];
  readonly #maxWaiting: number;

  /** @param maxWaiting - waiting invocations of a project. */
  constructor({ query }: Pick<Database, "query">, maxWaiting = 1000) {
    this.#query = query;
    this.#maxWaiting = maxWaiting;
  }

  /** Inserts an invocation that this server runs. @throws {ServiceError} 429 at the limit of the project, app or organisation. */
  async insert(given: NewInvocation, serverId: string, limits: InvocationLimits): Promise<InvocationRow> {
    const admitted = sql<boolean>`shoal_admit_invocation(${given.project_id}::text, ${given.app_name}::text, ${limits.perProject}::int, ${limits.perApp}::int, ${limits.perOrganization}::int)`;
    return this.#query
      .insertInto("invocations")
      .columns([...insertedColumns])
      .expression(this.#query.selectNoFrom(newValues(given, serverId)).where(admitted))
      .returning(columns)
      .executeTakeFirstOrThrow()
      .catch((error: unknown) => {
        throw explainInvocationLimit(error);
      });
  }

  /** Inserts an invocation that waits. @throws {ServiceError} 429 when too many of the project wait. */
  async insertWaiting(given: NewInvocation): Promise<InvocationRow> {
    if (!this.#query.isTransaction)
      return this.#query
        .transaction()
        .execute((query) => new InvocationStore({ query }, this.#maxWaiting).insertWaiting(given));
    // One at a time, so that the limit holds. A separate statement: the next one then sees the rows of the earlier ones.
    await sql`select pg_advisory_xact_lock(hashtextextended(${`invocations of ${given.project_id}`}, 0))`.execute(
      this.#query,
    );
    const row = await this.#query
      .insertInto("invocations")
      .columns([...insertedColumns])
      .expression(
        this.#query
          .selectNoFrom(newValues(given, null))
          .where(
            sql<boolean>`(select count(*) from invocations where project_id = ${given.project_id} and finished_at is null and server_id is null) < ${this.#maxWaiting}::int`,
          ),
      )
      .returning(columns)
      .executeTakeFirst();
    if (row === undefined)
      throw new ServiceError(
        429,
        "too_many_requests",
        `${String(this.#maxWaiting)} invocations of this project wait already, the limit. Repeat the request later.`,
        { retryAfterSeconds: 30 },
      );
    return row;
  }

  /** Takes the oldest waiting invocation that may run, for this server. */
  async take(serverId: string, limits: InvocationLimits): Promise<InvocationRow | undefined> {
    const { rows } = await sql<{
      taken: string | null;
    }>`select shoal_take_invocation(${serverId}, ${limits.perProject}::int, ${limits.perApp}::int, ${limits.perOrganization}::int) as taken`.execute(
      this.#query,
    );
    const taken = rows[0]?.taken;
    return taken === null || taken === undefined ? undefined : this.find(undefined, taken);
  }

  async hasWaiting(): Promise<boolean> {
    const row = await this.#query
      .selectFrom("invocations")
      .select("id")
      .where("finished_at", "is", null)
      .where("server_id", "is", null)
      .limit(1)
      .executeTakeFirst();
    return row !== undefined;
  }

  /** Place among the waiting invocations of the project, from 1; `undefined` unless it waits. */
  async positionOf({ finished_at, place, project_id, server_id }: InvocationRow): Promise<number | undefined> {
    if (finished_at !== null || server_id !== null) return undefined;
    const { ahead } = await this.#query
      .selectFrom("invocations")
      .select(({ fn }) => fn.countAll<number>().as("ahead"))
      .where("project_id", "=", project_id)
      .where("finished_at", "is", null)
      .where("server_id", "is", null)
      .where("place", "<", place)
      .executeTakeFirstOrThrow();
    return ahead + 1;
  }

  /** Lets a failed invocation wait for its next run. @returns false when it has no retry left, has ended, or is another server's. */
  async retry(id: string, reason: string, serverId: string): Promise<boolean> {
    const { rows } = await sql<{
      retried: boolean;
    }>`with own as materialized (select id from invocations where id = ${id} and server_id = ${serverId} for update)
      select shoal_retry_invocation(id, ${storable(reason)}) as retried from own`.execute(this.#query);
    return rows[0]?.retried === true;
  }

  /** @param projectId - `undefined` = any project. */
  async find(projectId: string | undefined, id: string): Promise<InvocationRow | undefined> {
    if (!isStorable(id)) return undefined;
    return this.#query
      .selectFrom("invocations")
      .select(columns)
      .where("id", "=", id)
      .$if(projectId !== undefined, (rows) => rows.where("project_id", "=", projectId ?? ""))
      .executeTakeFirst();
  }

  /** See {@link stateKey}. */
  async stateOf(id: string): Promise<string | undefined> {
    const row = await this.#query
      .selectFrom("invocations")
      .select(["status", sql<number>`jsonb_array_length(attempts)`.as("attempts")])
      .where("id", "=", id)
      .executeTakeFirst();
    return row && stateKey(row.status, row.attempts);
  }

  /** Those of `ids` that have ended, or that others took over because the server seemed dead. */
  async leftBy(serverId: string, ids: readonly string[]): Promise<string[]> {
    if (ids.length === 0) return [];
    const rows = await this.#query
      .selectFrom("invocations")
      .select("id")
      .where("id", "in", ids)
      .where((where) =>
        where.or([where("finished_at", "is not", null), where("server_id", "is distinct from", serverId)]),
      )
      .execute();
    return rows.map(({ id }) => id);
  }

  /** Newest first, with one row more than the limit if more exist; without large payloads and outputs. */
  async list(projectId: string, filter: z.output<typeof ListInvocations>): Promise<InvocationRow[]> {
    const { app_name, action_name, deployment_id, limit, offset, query: part, since, status, version } = filter;
    if (![app_name, action_name, deployment_id, part, version].every(isStorable)) return [];
    const equal = Object.entries({ app_name, action_name, deployment_id, status, version });
    let rows = this.#query
      .selectFrom("invocations")
      .select(shortColumns)
      .select([listed("payload"), listed("output")])
      .where("project_id", "=", projectId);
    for (const [column, value] of equal) if (value !== undefined) rows = rows.where(sql.ref(column), "=", value);
    if (since !== undefined && since !== "")
      rows = rows.where("started_at", ">=", new Date(momentOf(since, "since") / 1000).toISOString());
    if (part !== undefined)
      rows = rows.where((where) =>
        where.or([
          containsFolded("app_name_folded", part),
          containsFolded("action_name_folded", part),
          where("id", "=", part),
        ]),
      );
    return rows
      .orderBy("started_at", "desc")
      .orderBy("id", "desc")
      .limit(limit + 1)
      .offset(offset)
      .execute();
  }

  /** @returns false when it has ended, or runs elsewhere. */
  async markRunning(id: string, serverId: string): Promise<boolean> {
    const { numUpdatedRows } = await this.#query
      .updateTable("invocations")
      .set({ status: "running" })
      .where("id", "=", id)
      .where("server_id", "=", serverId)
      .where("finished_at", "is", null)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /** @param serverId - only while this server runs it. @returns `undefined` when it had ended already. */
  async end(
    id: string,
    { status, output, status_reason }: Ending,
    serverId?: string,
  ): Promise<InvocationRow | undefined> {
    return this.#query
      .updateTable("invocations")
      .set({
        status,
        output: output?.toWellFormed() ?? null,
        status_reason: status_reason === undefined ? null : storable(status_reason),
        finished_at: sql<string>`clock_timestamp()`,
      })
      .where("id", "=", id)
      .where("finished_at", "is", null)
      .$if(serverId !== undefined, (rows) => rows.where("server_id", "=", serverId ?? ""))
      .returning(columns)
      .executeTakeFirst();
  }

  /** Ends the invocations that an earlier run of this server left. @returns their number. */
  async endLost(serverId: string): Promise<number> {
    const { rows } = await sql<{ lost: number }>`select shoal_lose_invocations(${serverId}) as lost`.execute(
      this.#query,
    );
    return rows[0]?.lost ?? 0;
  }

  async dropEndedBefore(date: Date): Promise<void> {
    await this.#query.deleteFrom("invocations").where("finished_at", "<", date.toISOString()).execute();
  }
}
