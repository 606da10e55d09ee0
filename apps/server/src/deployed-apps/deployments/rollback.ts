import {
  deploymentBuildGone,
  deploymentNeverRan,
  deploymentNotFound,
  deploymentRunsAlready,
  deploymentStillBuilds,
  tooManySchedules,
} from "@shoal/contract/refusals";
import type { Database, Tables } from "@shoal/database";
import { ServiceError } from "@shoal/router";
import { sql, type Transaction } from "kysely";
import { lockKeys } from "../keys/deployment-keys.ts";
import type { DescribedApp } from "../runtime/app-runtime.ts";
import { currentVersions, lockVersions, stopSuperseded } from "./current-versions.ts";
import { maxSchedulesPerApp, replaceDeclared } from "./declared-schedules.ts";
import { deploymentColumns, type DeploymentRow } from "./deployment-row.ts";

/**
 * Makes the versions of an earlier deployment the current ones of its label, from its stored build.
 * @throws {ServiceError} 404, 409.
 */
export async function rollBack(query: Database["query"], projectId: string, id: string): Promise<DeploymentRow> {
  return query.transaction().execute(async (transaction) => {
    await lockVersions(transaction, projectId);
    await lockKeys(transaction);
    const row = await transaction
      .selectFrom("deployments")
      .select([...deploymentColumns, "artifact"])
      .where("id", "=", id)
      .where("project_id", "=", projectId)
      .where("deleted_at", "is", null)
      .forUpdate()
      .executeTakeFirst();
    if (row === undefined) throw ServiceError.of(deploymentNotFound(id));
    const own = await versionsOf(transaction, id);
    refuse(row, own);
    const current = await currentVersions(
      transaction,
      row,
      own.map(({ name }) => name),
    );
    const replaced = current.filter(({ deployment_id }) => deployment_id !== id);
    // One statement could have two current versions of a label for a moment, which the unique index rejects.
    await setCurrent(transaction, replaced, false);
    await setCurrent(transaction, own, true);
    const stopped = [...new Set(replaced.map(({ deployment_id }) => deployment_id))];
    await stopSuperseded(transaction, row, stopped);
    const surplus = await replaceDeclared(transaction, row, own);
    if (surplus !== undefined) throw ServiceError.of(tooManySchedules(surplus, maxSchedulesPerApp));
    return transaction
      .updateTable("deployments")
      .set({
        status: "running",
        status_reason: stopped.length === 0 ? "It was started again." : `It replaced deployment ${stopped.join(", ")}.`,
        updated_at: sql<string>`now()`,
      })
      .where("id", "=", id)
      .returning(deploymentColumns)
      .executeTakeFirstOrThrow();
  });
}

interface OwnVersion {
  readonly id: string;
  /** Of the app. */
  readonly name: string;
  readonly is_current: boolean;
  readonly schedules: NonNullable<DescribedApp["schedules"]>;
}

function versionsOf(transaction: Transaction<Tables>, deploymentId: string): Promise<OwnVersion[]> {
  return transaction
    .selectFrom("app_versions")
    .select(["id", "app_name as name", "is_current", "schedules"])
    .where("deployment_id", "=", deploymentId)
    .execute();
}

/** @throws {ServiceError} 409 */
function refuse(
  { artifact, id, status }: Pick<DeploymentRow, "id" | "status"> & { readonly artifact: string | null },
  own: readonly OwnVersion[],
): void {
  if (status === "queued" || status === "in_progress") throw ServiceError.of(deploymentStillBuilds(id));
  if (own.length === 0) throw ServiceError.of(deploymentNeverRan(id));
  if (own.every(({ is_current }) => is_current)) throw ServiceError.of(deploymentRunsAlready(id));
  if (artifact === null) throw ServiceError.of(deploymentBuildGone(id));
}

async function setCurrent(
  transaction: Transaction<Tables>,
  versions: readonly { readonly id: string }[],
  is_current: boolean,
): Promise<void> {
  if (versions.length === 0) return;
  await transaction
    .updateTable("app_versions")
    .set({ is_current })
    .where(
      "id",
      "in",
      versions.map(({ id }) => id),
    )
    .execute();
}
