import { actionNotFound, appVersionNotFound } from "@shoal/contract/refusals";
import type { Database, Tables } from "@shoal/database";
import { ServiceError } from "@shoal/router";
import { sql, type Transaction } from "kysely";
import type { Log } from "../../log/log.ts";
import { Lookout } from "../../work/lookout.ts";
import { findVersion } from "../deployments/deployed-apps.ts";
import { InvocationStore } from "../invocations/invocation-store.ts";
import { dueAfter } from "../cron/due-times.ts";
import type { FlowToStart, ScheduledRuns } from "../../sessions/flows/run/scheduled-runs.ts";
import type { ScheduleRow } from "./schedules.ts";

const lookEveryMs = 500;
const timeoutSeconds = 900;

/** Starts an invocation or a run of a flow for each due time, on whichever server sees it first. */
export class ScheduleTimer {
  readonly #query: Database["query"];
  readonly #lookout: Lookout;
  readonly #flows: Pick<ScheduledRuns, "mayStart" | "start">;

  constructor({ query }: Pick<Database, "query">, log: Log, flows: Pick<ScheduledRuns, "mayStart" | "start">) {
    this.#query = query;
    this.#flows = flows;
    this.#lookout = new Lookout({
      everyMs: lookEveryMs,
      look: () => this.#runDue(),
      log,
      problem: "due schedules could not be run",
    });
  }

  close(): Promise<void> {
    return this.#lookout.close();
  }

  async #runDue(): Promise<void> {
    for (;;) {
      const row = this.#lookout.isClosed ? undefined : await this.#takeOne();
      if (row === undefined) return;
      if (row.flow_id === null || row.flow_start === null || row.last_problem !== null) continue;
      // After the due time is stored as handled: a run never starts twice.
      const { flow_id: flowId, flow_start: start, id, project_id: projectId } = row;
      const outcome = await this.#start({ flowId, projectId, start });
      await this.#query.updateTable("schedules").set(outcome).where("id", "=", id).execute();
    }
  }

  async #start(of: FlowToStart): Promise<Outcome> {
    try {
      return { last_flow_run_id: await this.#flows.start(of) };
    } catch (error) {
      if (!ServiceError.isInstance(error)) throw error;
      return { last_problem: error.message.slice(0, 1000) };
    }
  }

  /**
   * The row's lock makes other servers skip it; they see the new due time afterwards.
   * @returns the row that was due, with a problem if its flow must not start.
   */
  #takeOne(): Promise<ScheduleRow | undefined> {
    return this.#query.transaction().execute(async (transaction) => {
      const row = await transaction
        .selectFrom("schedules")
        .selectAll()
        .select(sql<string>`now()::timestamptz(3)`.as("now"))
        .where("next_at", "<=", sql<string>`now()`)
        .$if(!this.#flows.mayStart(), (rows) => rows.where("flow_id", "is", null))
        .where(
          sql<boolean>`exists (select 1 from projects where projects.id = schedules.project_id and status = 'active' and deleted_at is null)`,
        )
        .orderBy("next_at")
        .limit(1)
        .forUpdate()
        .skipLocked()
        .executeTakeFirst();
      if (row === undefined) return undefined;
      const outcome = row.flow_id === null ? await invoke(transaction, row) : await unlessRunning(transaction, row);
      await transaction
        .updateTable("schedules")
        .set({
          // Times that passed during an outage are one run.
          next_at: dueAfter(row, new Date(row.now)) ?? null,
          last_at: row.next_at,
          last_problem: null,
          ...outcome,
        })
        .where("id", "=", row.id)
        .execute();
      return { ...row, last_problem: outcome.last_problem ?? null };
    });
  }
}

type Outcome = Partial<Pick<ScheduleRow, "last_flow_run_id" | "last_invocation_id" | "last_problem">>;

async function unlessRunning(
  transaction: Transaction<Tables>,
  { last_flow_run_id: last }: ScheduleRow,
): Promise<Outcome> {
  if (last === null) return {};
  const run = transaction.selectFrom("flow_runs").select("id").where("id", "=", last).where("status", "=", "running");
  const isRunning = (await run.executeTakeFirst()) !== undefined;
  return isRunning ? { last_problem: "The previous run of this schedule goes on." } : {};
}

/** The invocation waits in the queue, so that a limit delays it. */
async function invoke(transaction: Transaction<Tables>, row: ScheduleRow): Promise<Outcome> {
  const { payload, project_id } = row;
  const [action_name, app_name, version] = [row.action_name ?? "", row.app_name ?? "", row.version ?? ""];
  if (await stillWaits(transaction, row))
    return { last_problem: "The previous invocation of this schedule still waits for a free place." };
  const found = await findVersion(transaction, { projectId: project_id, appName: app_name, version });
  if (found === undefined) return { last_problem: appVersionNotFound(app_name, version).problem };
  const { actions, deployment_id } = found;
  if (!actions.includes(action_name))
    return { last_problem: actionNotFound({ app: app_name, version, action: action_name }, actions).problem };
  try {
    const { id } = await new InvocationStore({ query: transaction }).insertWaiting({
      project_id,
      deployment_id,
      app_name,
      version,
      action_name,
      payload,
      is_async: true,
      timeout_seconds: timeoutSeconds,
      max_retries: 0,
    });
    return { last_invocation_id: id };
  } catch (error) {
    // Too many invocations of the project wait. Errors of the database end the transaction.
    if (!ServiceError.isInstance(error)) throw error;
    return { last_problem: error.message };
  }
}

async function stillWaits(transaction: Transaction<Tables>, { last_invocation_id }: ScheduleRow): Promise<boolean> {
  if (last_invocation_id === null) return false;
  const row = await transaction
    .selectFrom("invocations")
    .select("id")
    .where("id", "=", last_invocation_id)
    .where("finished_at", "is", null)
    .where("server_id", "is", null)
    .executeTakeFirst();
  return row !== undefined;
}
