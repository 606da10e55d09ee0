import type { Page } from "@shoal/contract";
import {
  actionNotFound,
  appVersionNotFound,
  scheduleNotFound,
  tooManyFlowSchedules,
  tooManySchedules,
} from "@shoal/contract/refusals";
import type { Database, SchedulesTable, Tables } from "@shoal/database";
import { createId } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { CreateSchedule, ListSchedules, Schedule } from "@shoal/schemas";
import { type Insertable, type Selectable, sql, type Transaction } from "kysely";
import type * as z from "zod/mini";
import { type Access, isPerson } from "../../http/auth/access.ts";
import { emptyPage, isStorable, newestFirst, toPage } from "../../http/paging.ts";
import { lockVersions } from "../deployments/current-versions.ts";
import { maxSchedulesPerApp } from "../deployments/declared-schedules.ts";
import { findVersion } from "../deployments/deployed-apps.ts";
import { checkTimes, dueAfter } from "../cron/due-times.ts";
import type { ScheduledRuns } from "../../sessions/flows/run/scheduled-runs.ts";

export type ScheduleRow = Selectable<SchedulesTable>;

export function toSchedule(row: ScheduleRow): Schedule {
  return {
    id: row.id,
    ...(row.app_name !== null && { app_name: row.app_name }),
    ...(row.version !== null && { version: row.version }),
    ...(row.action_name !== null && { action_name: row.action_name }),
    ...(row.flow_id !== null && { flow_id: row.flow_id }),
    ...(row.flow_start !== null && { flow_run: row.flow_start.run }),
    cron: row.cron,
    time_zone: row.time_zone,
    ...(row.payload !== null && { payload: row.payload }),
    origin: row.origin,
    status: row.is_paused ? "paused" : "active",
    next_run_at: row.next_at,
    ...(row.last_at !== null && { last_run_at: row.last_at }),
    ...(row.last_invocation_id !== null && { last_invocation_id: row.last_invocation_id }),
    ...(row.last_flow_run_id !== null && { last_flow_run_id: row.last_flow_run_id }),
    ...(row.last_problem !== null && { last_problem: row.last_problem }),
    created_at: row.created_at,
  };
}

/** The operations on schedules. `ScheduleTimer` runs them. */
export class Schedules {
  readonly #query: Database["query"];
  readonly #minSeconds: () => number;
  readonly #flows: Pick<ScheduledRuns, "check">;

  /** @param minSeconds - between two due times. */
  constructor({ query }: Pick<Database, "query">, minSeconds: () => number, flows: Pick<ScheduledRuns, "check">) {
    this.#query = query;
    this.#minSeconds = minSeconds;
    this.#flows = flows;
  }

  /** @throws {ServiceError} 400, 403, 404, 409. */
  async create(access: Access, request: z.output<typeof CreateSchedule>, signal: AbortSignal): Promise<Schedule> {
    const { cron, time_zone } = request;
    const next = checkTimes(request, await this.#now(), this.#minSeconds());
    const times = {
      id: createId(),
      project_id: access.projectId,
      cron,
      time_zone,
      origin: "request",
      next_at: next,
    } as const;
    return request.flow === undefined
      ? this.#createOfApp(times, request)
      : this.#createOfFlow(times, access, { ...request, flow: request.flow }, signal);
  }

  #createOfApp(times: NewTimes, request: z.output<typeof CreateSchedule>): Promise<Schedule> {
    const { action_name = "", app_name = "", payload, version } = request;
    const { project_id: projectId } = times;
    return this.#query.transaction().execute(async (transaction) => {
      // Deleting the deployment deletes its schedules: this one must not come after.
      await lockVersions(transaction, projectId);
      const found = await findVersion(transaction, { projectId, appName: app_name, version });
      if (found === undefined) throw ServiceError.of(appVersionNotFound(app_name, version));
      if (!found.actions.includes(action_name))
        throw ServiceError.of(actionNotFound({ app: app_name, version, action: action_name }, found.actions));
      if ((await count(transaction, projectId, { app_name })) >= maxSchedulesPerApp)
        throw ServiceError.of(tooManySchedules(app_name, maxSchedulesPerApp));
      return insert(transaction, {
        ...times,
        ...{ app_name, version, action_name },
        payload: payload === undefined || payload === "" ? null : payload,
      });
    });
  }

  async #createOfFlow(
    times: NewTimes,
    access: Access,
    { flow: flowId, flow_run: run = {} }: { readonly flow: string; readonly flow_run?: object | undefined },
    signal: AbortSignal,
  ): Promise<Schedule> {
    await this.#flows.check(access, { flowId, run, signal });
    return this.#query.transaction().execute(async (transaction) => {
      // One request at a time, so that the limit holds.
      await sql`select pg_advisory_xact_lock(1936223080, hashtext(${flowId}))`.execute(transaction);
      if ((await count(transaction, times.project_id, { flow_id: flowId })) >= maxSchedulesPerApp)
        throw ServiceError.of(tooManyFlowSchedules(flowId, maxSchedulesPerApp));
      const start = {
        ...{ key_id: access.key.id, base_url: access.baseUrl, run },
        ...(isPerson(access) && { role: access.role }),
      };
      const target = { app_name: null, version: null, action_name: null, payload: null };
      return insert(transaction, { ...times, ...target, flow_id: flowId, flow_start: JSON.stringify(start) });
    });
  }

  async list(projectId: string, filter: z.output<typeof ListSchedules>): Promise<Page<Schedule>> {
    const { app_name, flow, version } = filter;
    if (![app_name, flow, version].every(isStorable)) return emptyPage();
    let rows = this.#query.selectFrom("schedules").selectAll().where("project_id", "=", projectId);
    if (app_name !== undefined) rows = rows.where("app_name", "=", app_name);
    if (version !== undefined) rows = rows.where("version", "=", version);
    if (flow !== undefined) rows = rows.where("flow_id", "=", flow);
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

type NewRow = Insertable<SchedulesTable>;
type NewTimes = Pick<NewRow, "cron" | "id" | "next_at" | "origin" | "project_id" | "time_zone">;

async function insert(transaction: Transaction<Tables>, row: NewRow): Promise<Schedule> {
  return toSchedule(await transaction.insertInto("schedules").values(row).returningAll().executeTakeFirstOrThrow());
}

async function count(
  transaction: Transaction<Tables>,
  projectId: string,
  target: { readonly app_name: string } | { readonly flow_id: string },
): Promise<number> {
  let rows = transaction.selectFrom("schedules").where("project_id", "=", projectId);
  for (const [column, value] of Object.entries(target)) rows = rows.where(column as "app_name" | "flow_id", "=", value);
  const { number } = await rows.select(({ fn }) => fn.countAll<number>().as("number")).executeTakeFirstOrThrow();
  return number;
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
