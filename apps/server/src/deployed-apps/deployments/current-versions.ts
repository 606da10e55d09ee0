import type { Tables } from "@shoal/database";
import { createId } from "@shoal/primitives";
import { sql, type Transaction } from "kysely";
import type { DescribedApp } from "../runtime/app-runtime.ts";

/** Changes of a project's versions wait for each other. */
export async function lockVersions(transaction: Transaction<Tables>, projectId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(1936223075, hashtext(${projectId}))`.execute(transaction);
}

interface PublishedLabel {
  readonly project_id: string;
  readonly version: string;
}

export interface CurrentVersion {
  readonly id: string;
  readonly app_name: string;
  readonly deployment_id: string;
  readonly deployed_at: string;
}

/** The versions that a deployment with this label replaces. */
export function currentVersions(
  transaction: Transaction<Tables>,
  { project_id, version }: PublishedLabel,
  apps: readonly string[],
): Promise<CurrentVersion[]> {
  return transaction
    .selectFrom("app_versions")
    .innerJoin("deployments", "deployments.id", "app_versions.deployment_id")
    .select([
      "app_versions.id",
      "app_versions.app_name",
      "app_versions.deployment_id",
      "deployments.created_at as deployed_at",
    ])
    .where("app_versions.project_id", "=", project_id)
    .where("app_versions.version", "=", version)
    .where("app_versions.app_name", "in", apps)
    .where("app_versions.is_current", "=", true)
    .execute();
}

export async function replaceVersions(
  transaction: Transaction<Tables>,
  { id, project_id, version }: PublishedLabel & { readonly id: string },
  { apps, replaced }: { readonly apps: readonly DescribedApp[]; readonly replaced: readonly string[] },
): Promise<void> {
  if (replaced.length > 0)
    await transaction.updateTable("app_versions").set({ is_current: false }).where("id", "in", replaced).execute();
  await transaction
    .insertInto("app_versions")
    .values(
      apps.map(({ actions, name, schedules = [] }) => ({
        id: createId(),
        project_id,
        deployment_id: id,
        app_name: name,
        version,
        actions: JSON.stringify(actions),
        schedules: JSON.stringify(schedules),
        is_current: true,
      })),
    )
    .execute();
}

/** Stops those of `deployments` that have no current version. */
export async function stopSuperseded(
  transaction: Transaction<Tables>,
  { id }: { readonly id: string },
  deployments: readonly string[],
): Promise<void> {
  if (deployments.length === 0) return;
  await transaction
    .updateTable("deployments")
    .set({
      status: "stopped",
      status_reason: `Deployment ${id} replaced it.`,
      updated_at: sql<string>`now()`,
    })
    .where("id", "in", deployments)
    .where("status", "=", "running")
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom("app_versions")
            .select("app_versions.id")
            .whereRef("app_versions.deployment_id", "=", "deployments.id")
            .where("app_versions.is_current", "=", true),
        ),
      ),
    )
    .execute();
}
