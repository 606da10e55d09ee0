import type { Page } from "@shoal/contract";
import type { Database, Tables } from "@shoal/database";
import { createId } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { FlowRun, FlowRunRow, FlowRunSummary, FlowStepResult, ListFlowRuns } from "@shoal/schemas";
import { sql, type Transaction } from "kysely";
import type * as z from "zod/mini";
import { isStorable, newestFirst, toPage } from "../../../http/paging.ts";
import { forgetPictures, RunPictures } from "./run-pictures.ts";
import { flowRunNotFound, notExpected } from "./run-refusals.ts";

const columns = ["id", "flow_id", "flow_version", "status", "row_count", "created_at", "finished_at"] as const;
const rowColumns = ["index", "status", "session_id", "steps", "error"] as const;
/** Of a flow. */
const keptRuns = 200;

export type RunStatus = "running" | "succeeded" | "diverged" | "failed" | "canceled" | "unknown";
export type RowStatus = RunStatus | "queued" | "waiting";

export interface NewRun {
  readonly projectId: string;
  readonly flowId: string;
  readonly version: number;
  readonly rowCount: number;
  readonly scheduled?: ScheduledRun | undefined;
}

/** A run for a due time of a schedule. */
export interface ScheduledRun {
  readonly scheduleId: string;
  /** The id that the schedule has stored for the run. */
  readonly runId: string;
}

/** What changes in a row. */
export interface RowChange {
  readonly status?: RowStatus;
  readonly session_id?: string;
  readonly steps?: readonly FlowStepResult[];
  readonly error?: string;
}

/** The rows of runs of flows. */
export class FlowRunStore {
  readonly pictures: RunPictures;
  readonly #query: Database["query"];
  readonly #serverId: string;

  constructor({ query }: Pick<Database, "query">, serverId: string) {
    this.#query = query;
    this.#serverId = serverId;
    this.pictures = new RunPictures({ query });
  }

  /** Ends runs that an earlier process of this server left. */
  async loseOwn(): Promise<void> {
    await sql`select shoal_lose_flow_runs(${this.#serverId})`.execute(this.#query);
  }

  /** @throws {ServiceError} 409 if the schedule no longer expects the run. */
  async insert({ flowId, projectId, rowCount, scheduled, version }: NewRun): Promise<string> {
    const id = scheduled?.runId ?? createId();
    await this.#query.transaction().execute(async (transaction) => {
      await transaction
        .insertInto("flow_runs")
        .values({
          ...{ id, project_id: projectId, flow_id: flowId, flow_version: version },
          ...{ row_count: rowCount, server_id: this.#serverId },
        })
        .execute();
      if (scheduled !== undefined) await handle(transaction, scheduled);
      const rows = Array.from({ length: rowCount }, (_, index) => ({ run_id: id, index }));
      await transaction.insertInto("flow_run_rows").values(rows).execute();
      const kept = transaction.selectFrom("flow_runs").select("id").where("flow_id", "=", flowId);
      const old = transaction.deleteFrom("flow_runs").where("flow_id", "=", flowId).where("status", "<>", "running");
      await old.where("id", "not in", kept.orderBy("created_at", "desc").limit(keptRuns)).execute();
      await forgetPictures(transaction, flowId);
    });
    return id;
  }

  async list(projectId: string, flowId: string, window: z.output<typeof ListFlowRuns>): Promise<Page<FlowRunSummary>> {
    const rows = this.#query.selectFrom("flow_runs").select(columns).where("flow_id", "=", flowId);
    return toPage(await newestFirst(rows.where("project_id", "=", projectId), window).execute(), window, (row) => row);
  }

  /** @throws {ServiceError} 404. */
  async get(projectId: string, flowId: string, runId: string): Promise<FlowRun> {
    if (!isStorable(flowId) || !isStorable(runId)) throw ServiceError.of(flowRunNotFound(runId));
    const run = await this.#query
      .selectFrom("flow_runs")
      .select(columns)
      .where("project_id", "=", projectId)
      .where("flow_id", "=", flowId)
      .where("id", "=", runId)
      .executeTakeFirstOrThrow(() => ServiceError.of(flowRunNotFound(runId)));
    const rows = this.#query.selectFrom("flow_run_rows").select(rowColumns).where("run_id", "=", runId);
    const found = await rows.orderBy("index").execute();
    return { ...run, rows: found.map((row) => ({ ...row, ...statusIn(run, row) })) };
  }

  async isRunning(runId: string): Promise<boolean> {
    const row = this.#query.selectFrom("flow_runs").select("status").where("id", "=", runId);
    return (await row.executeTakeFirst())?.status === "running";
  }

  /** @returns whether the run still runs: an answer of false ends its rows. */
  async change(runId: string, index: number, { steps, ...change }: RowChange): Promise<boolean> {
    const changed = await this.#query
      .updateTable("flow_run_rows")
      .set({ ...change, ...(steps && { steps: JSON.stringify(steps) }) })
      .where("run_id", "=", runId)
      .where("index", "=", index)
      .where((where) =>
        where.exists(
          where.selectFrom("flow_runs").select("id").where("id", "=", runId).where("status", "=", "running"),
        ),
      )
      .executeTakeFirst();
    return changed.numUpdatedRows > 0n;
  }

  /** Ends a run that runs. */
  async finish(runId: string, status: RunStatus): Promise<void> {
    const ended = this.#query.updateTable("flow_runs").set({ status, finished_at: new Date() });
    await ended.where("id", "=", runId).where("status", "=", "running").execute();
  }
}

/** Removes the note of a run that may not have started. A later due time has another run then, so that two never overlap. */
async function handle(transaction: Transaction<Tables>, { runId, scheduleId }: ScheduledRun): Promise<void> {
  const expected = transaction.updateTable("schedules").set({ last_problem: null }).where("id", "=", scheduleId);
  const { numUpdatedRows } = await expected.where("last_flow_run_id", "=", runId).executeTakeFirst();
  if (numUpdatedRows === 0n) throw ServiceError.of(notExpected(scheduleId));
}

/** Rows of a run that ended with its server, or by a request, end with it. */
function statusIn(
  { status }: Pick<FlowRunSummary, "status">,
  row: Pick<FlowRunRow, "status">,
): Pick<FlowRunRow, "status"> {
  const isOpen = row.status === "queued" || row.status === "running" || row.status === "waiting";
  return { status: isOpen && status !== "running" ? (row.status === "queued" ? "canceled" : status) : row.status };
}
