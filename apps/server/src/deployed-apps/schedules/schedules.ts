import type { Page } from "@shoal/contract";
import { actionNotFound, appVersionNotFound, scheduleNotFound, tooManySchedules } from "@shoal/contract/refusals";
import type { Database, SchedulesTable, Tables } from "@shoal/database";
import { createId } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { CreateSchedule, ListSchedules, Schedule } from "@shoal/schemas";
import { type Selectable, sql, type Transaction } from "kysely";
import type * as z from "zod/mini";
import { emptyPage, isStorable, newestFirst, toPage } from "../../http/paging.ts";
import { lockVersions } from "../deployments/current-versions.ts";
import { maxSchedulesPerApp } from "../deployments/declared-schedules.ts";
import { findVersion } from "../deployments/deployed-apps.ts";
import { checkTimes, dueAfter } from "../cron/due-times.ts";

export type ScheduleRow = Selectable<SchedulesTable>;

export function toSchedule(row: ScheduleRow): Schedule {
  return {
    id: row.id,
    app_name: row.app_name,
    version: row.version,
    action_name: row.action_name,
    cron: row.cron,
    time_zone: row.time_zone,
    ...(row.payload !== null && { payload: row.payload }),
    origin: row.origin,
    status: row.is_paused ? "paused" : "active",
    next_run_at: row.next_at,
    ...(row.last_at !== null && { last_run_at: row.last_at }),
    ...(row.last_invocation_id !== null && { last_invocation_id: row.last_invocation_id }),
    ...(row.last_problem !== null && { last_problem: row.last_problem }),
    created_at: row.created_at,
  };
}

/** The operations on schedules. `ScheduleTimer` runs them. */
export class Schedules {
  readonly #query: Database["query"];
  readonly #minSeconds: () => number;

  /** @param minSeconds - between two due times. */
  constructor({ query }: Pick<Database, "query">, minSeconds: () => number) {
    this.#query = query;
    this.#minSeconds = minSeconds;
  }

  /** @throws {ServiceError} 400, 404, 409. */
  async create(projectId: string, request: z.output<typeof CreateSchedule>): Promise<Schedule> {
    const { action_name, app_name, cron, payload, time_zone, version } = request;
    const next = checkTimes(request, await this.#now(), this.#minSeconds());
    return this.#query.transaction().execute(async (transaction) => {
      // Deleting the deployment deletes its schedules: this one must not come after.
      await lockVersions(transaction, projectId);
      const found = await findVersion(transaction, { projectId, appName: app_name, version });
      if (found === undefined) throw ServiceError.of(appVersionNotFound(app_name, version));
      if (!found.actions.includes(action_name))
        throw ServiceError.of(actionNotFound({ app: app_name, version, action: action_name }, found.actions));
      const { count } = await transaction
        .selectFrom("schedules")
        .select(({ fn }) => fn.countAll<number>().as("count"))
        .where("project_id", "=", projectId)
        .where("app_name", "=", app_name)
        .executeTakeFirstOrThrow();
      if (count >= maxSchedulesPerApp) throw ServiceError.of(tooManySchedules(app_name, maxSchedulesPerApp));
      const row = await transaction
        .insertInto("schedules")
        .values({
          id: createId(),
          project_id: projectId,
          app_name,
          version,
          action_name,
          cron,
          time_zone,
          payload: payload === undefined || payload === "" ? null : payload,
          origin: "request",
          next_at: next,
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      return toSchedule(row);
    });
  }

  async list(projectId: string, filter: z.output<typeof ListSchedules>): Promise<Page<Schedule>> {
    const { app_name, version } = filter;
    if (![app_name, version].every(isStorable)) return emptyPage();
    let rows = this.#query.selectFrom("schedules").selectAll().where("project_id", "=", projectId);
    if (app_name !== undefined) rows = rows.where("app_name", "=", app_name);
    if (version !== undefined) rows = rows.where("version", "=", version);
    return toPage(await newestFirst(rows, filter).execute(), filter, toSchedule);
  }

  /** @throws {ServiceError} 404. */
  pause(projectId: string, id: string): Promise<Schedule> {
    return this.#change(projectId, id, (row) => ({ ...row, is_paused: true, next_at: null }));
  }

  /** @throws {ServiceError} 404. */
  async resume(projectId: string, id: string): Promise<Schedule> {
    const now = await this.#now();
    return this.#change(projectId, id, (row) =>
      row.is_paused ? { is_paused: false, next_at: dueAfter(row, now)?.toISOString() ?? null } : row,
    );
  }

  /** @throws {ServiceError} 404. */
  async delete(projectId: string, id: string): Promise<void> {
    await this.#change(projectId, id, (row) => row);
    await this.#query.deleteFrom("schedules").where("id", "=", id).execute();
  }

  async #change(
    projectId: string,
    id: string,
    changed: (row: ScheduleRow) => Pick<ScheduleRow, "is_paused" | "next_at">,
  ): Promise<Schedule> {
    return this.#query.transaction().execute(async (transaction) => {
      const row = await own(transaction, projectId, id);
      const { is_paused, next_at } = changed(row);
      await transaction.updateTable("schedules").set({ is_paused, next_at }).where("id", "=", id).execute();
      return toSchedule({ ...row, is_paused, next_at });
    });
  }

  /** Servers compare due times with the clock of the database. */
  async #now(): Promise<Date> {
    const { rows } = await sql<{ now: string }>`select clock_timestamp()::timestamptz(3) as now`.execute(this.#query);
    return new Date(rows[0]?.now ?? Date.now());
  }
}

/** @throws {ServiceError} 404. */
async function own(transaction: Transaction<Tables>, projectId: string, id: string): Promise<ScheduleRow> {
  const row = isStorable(id)
    ? await transaction
        .selectFrom("schedules")
        .selectAll()
        .where("id", "=", id)
        .where("project_id", "=", projectId)
        .forUpdate()
        .executeTakeFirst()
    : undefined;
  if (row === undefined) throw ServiceError.of(scheduleNotFound(id));
  return row;
}
