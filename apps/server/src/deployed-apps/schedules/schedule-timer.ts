import { actionNotFound, appVersionNotFound } from "@shoal/contract/refusals";
import type { Database, Tables } from "@shoal/database";
import { anySignal, createId } from "@shoal/primitives";
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
/** Starts of flows on this server, one of each project. */
const maxStarting = 16;
/** Longest start of a flow, which may read a whole recording. Milliseconds. */
const startMs = 120_000;

/** Also the state of a schedule whose run starts. The run's row removes it. */
const mayNotHaveStarted = "The run may not have started.";

/** Starts an invocation or a run of a flow for each due time, on whichever server sees it first. */
export class ScheduleTimer {
  readonly #query: Database["query"];
  readonly #log: Log;
  readonly #lookout: Lookout;
  readonly #flows: Pick<ScheduledRuns, "mayStart" | "start">;
  /** Starts of flows that go on, by project. */
  readonly #starting = new Map<string, Promise<void>>();
  readonly #closing = new AbortController();

  constructor({ query }: Pick<Database, "query">, log: Log, flows: Pick<ScheduledRuns, "mayStart" | "start">) {
    this.#query = query;
    this.#log = log;
    this.#flows = flows;
    this.#lookout = new Lookout({
      everyMs: lookEveryMs,
      look: () => this.#runDue(),
      log,
      problem: "due schedules could not be run",
    });
  }

  async close(): Promise<void> {
    const looked = this.#lookout.close();
    this.#closing.abort();
    await looked;
    await Promise.all(this.#starting.values());
  }

  async #runDue(): Promise<void> {
    for (;;) {
      const row = this.#lookout.isClosed ? undefined : await this.#takeOne();
      if (row === undefined) return;
      const { due, ofRun } = row;
      if (ofRun === undefined) continue;
      const started = this.#start(due, ofRun).finally(() => {
        this.#starting.delete(due.project_id);
        this.#lookout.look();
      });
      this.#starting.set(due.project_id, started);
    }
  }

  /** After the due time is stored as handled: a run never starts twice. Never rejects. */
  async #start({ id, last_flow_run_id: previous }: ScheduleRow, of: FlowToStart): Promise<void> {
    try {
      await this.#flows.start(of, anySignal([this.#closing.signal, AbortSignal.timeout(startMs)]));
    } catch (error) {
      await this.#query
        .updateTable("schedules")
        .set({ last_flow_run_id: previous, last_problem: this.#problemOf(error, id) })
        .where("id", "=", id)
        // Otherwise the run has started, or a later time was due.
        .where("last_flow_run_id", "=", of.scheduled.runId)
        .where("last_problem", "=", mayNotHaveStarted)
        .execute()
        .catch((unstored: unknown) => {
          this.#log.warn({ schedule_id: id, err: unstored }, "the problem of a schedule could not be stored");
        });
    }
  }

  #problemOf(error: unknown, scheduleId: string): string {
    if (ServiceError.isInstance(error) && error.code !== "internal_error") return error.message.slice(0, 1000);
    if (this.#closing.signal.aborted) return "The server stopped before the run started.";
    this.#log.warn({ schedule_id: scheduleId, err: error }, "a flow could not be started at a due time");
    return "The service could not start the run. The next due time starts one again.";
  }

  /**
   * The row's lock makes other servers skip it; they see the new due time afterwards.
   * @returns the row as it was, with the run that must start now.
   */
  #takeOne(): Promise<{ readonly due: ScheduleRow; readonly ofRun: FlowToStart | undefined } | undefined> {
    const busy = [...this.#starting.keys()];
    const maySeeFlows = this.#flows.mayStart() && busy.length < maxStarting;
    return this.#query.transaction().execute(async (transaction) => {
      const row = await transaction
        .selectFrom("schedules")
        .selectAll()
        .select(sql<string>`now()::timestamptz(3)`.as("now"))
        .where("next_at", "<=", sql<string>`now()`)
        .$if(!maySeeFlows, (rows) => rows.where("flow_id", "is", null))
        .$if(busy.length > 0, (rows) =>
          rows.where((where) => where.or([where("flow_id", "is", null), where("project_id", "not in", busy)])),
        )
        .where(
          sql<boolean>`exists (select 1 from projects where projects.id = schedules.project_id and status = 'active' and deleted_at is null)`,
        )
        .orderBy("next_at")
        .limit(1)
        .forUpdate()
        .skipLocked()
        .executeTakeFirst();
      if (row === undefined) return undefined;
      const ofRun = await runOf(transaction, row);
      const outcome = ofRun === undefined ? await outcomeWithoutRun(transaction, row) : startsAs(ofRun);
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
      return { due: row, ofRun };
    });
  }
}

type Outcome = Partial<Pick<ScheduleRow, "last_flow_run_id" | "last_invocation_id" | "last_problem">>;

/** @returns the run of a flow, unless the previous one goes on. */
async function runOf(transaction: Transaction<Tables>, row: ScheduleRow): Promise<FlowToStart | undefined> {
  const { flow_id: flowId, flow_start: start, id, last_flow_run_id: last, project_id: projectId } = row;
  if (flowId === null || start === null) return undefined;
  const running = transaction.selectFrom("flow_runs").select("id").where("status", "=", "running");
  if (last !== null && (await running.where("id", "=", last).executeTakeFirst()) !== undefined) return undefined;
  return { flowId, projectId, scheduled: { scheduleId: id, runId: createId() }, start };
}

async function outcomeWithoutRun(transaction: Transaction<Tables>, row: ScheduleRow): Promise<Outcome> {
  if (row.flow_id === null) return invoke(transaction, row);
  return { last_problem: "The previous run of this schedule still runs." };
}

const startsAs = ({ scheduled: { runId } }: FlowToStart): Outcome => ({
  last_flow_run_id: runId,
  last_problem: mayNotHaveStarted,
});

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
