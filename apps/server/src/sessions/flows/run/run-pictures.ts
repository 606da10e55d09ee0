import type { Database, Tables } from "@shoal/database";
import { ServiceError } from "@shoal/router";
import type { GetFlowRunPicture } from "@shoal/schemas";
import type { Transaction } from "kysely";
import type * as z from "zod/mini";
import { noRunPicture } from "./run-refusals.ts";

/** Of a run. */
const keptPictures = 10;
/** The latest runs of a flow keep their pictures. */
const runsWithPictures = 20;

/** The page that differed at a step of a row. */
export interface StepPicture {
  readonly row: number;
  readonly step: number;
  readonly jpeg: Buffer;
}

/** Pictures of pages that differed from a flow. */
export class RunPictures {
  readonly #query: Database["query"];

  constructor({ query }: Pick<Database, "query">) {
    this.#query = query;
  }

  /** @returns whether it is kept: a run has a limit of pictures, and may be deleted. */
  keep(runId: string, { jpeg, row, step }: StepPicture): Promise<boolean> {
    return this.#query.transaction().execute(async (transaction) => {
      // Rows of a run end at the same time.
      const run = transaction.selectFrom("flow_runs").select("id").where("id", "=", runId).forUpdate();
      const count = transaction.selectFrom("flow_run_pictures").select(({ fn }) => fn.countAll().as("kept"));
      if ((await run.executeTakeFirst()) === undefined) return false;
      const { kept } = await count.where("run_id", "=", runId).executeTakeFirstOrThrow();
      if (Number(kept) >= keptPictures) return false;
      await transaction.insertInto("flow_run_pictures").values({ run_id: runId, index: row, step, jpeg }).execute();
      return true;
    });
  }

  /** @throws {ServiceError} 404. */
  async read(runId: string, { row, step }: z.output<typeof GetFlowRunPicture>): Promise<Buffer> {
    const pictures = this.#query.selectFrom("flow_run_pictures").select("jpeg").where("run_id", "=", runId);
    const { jpeg } = await pictures
      .where("index", "=", row)
      .$if(step !== undefined, (all) => all.where("step", "=", step ?? 0))
      .orderBy("step")
      .limit(1)
      .executeTakeFirstOrThrow(() => ServiceError.of(noRunPicture(runId)));
    return jpeg;
  }
}

/** Deletes the pictures of earlier runs of a flow. */
export async function forgetPictures(transaction: Transaction<Tables>, flowId: string): Promise<void> {
  const runs = transaction.selectFrom("flow_runs").select("id").where("flow_id", "=", flowId);
  const earlier = runs.orderBy("created_at", "desc").offset(runsWithPictures);
  await transaction.deleteFrom("flow_run_pictures").where("run_id", "in", earlier).execute();
}
