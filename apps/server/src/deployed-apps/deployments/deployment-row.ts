import type { DeploymentsTable } from "@shoal/database";
import type { AppVersion, AppVersionSummaryEvent, Deployment } from "@shoal/schemas";
import type { Selectable } from "kysely";
import type { SealedPlace } from "../../storage/envelopes/envelopes.ts";

export type DeploymentRow = Pick<
  Selectable<DeploymentsTable>,
  | "id"
  | "project_id"
  | "status"
  | "status_reason"
  | "version"
  | "region"
  | "entrypoint"
  | "source_type"
  | "source_url"
  | "source_ref"
  | "source_path"
  | "source_checksum"
  | "env_names"
  | "created_at"
  | "updated_at"
  | "deleted_at"
>;

/** Without sealed values. */
export const deploymentColumns = [
  "id",
  "project_id",
  "status",
  "status_reason",
  "version",
  "region",
  "entrypoint",
  "source_type",
  "source_url",
  "source_ref",
  "source_path",
  "source_checksum",
  "env_names",
  "created_at",
  "updated_at",
  "deleted_at",
] as const satisfies readonly (keyof DeploymentRow)[];

export interface AppVersionRow {
  readonly id: string;
  readonly app_name: string;
  readonly version: string;
  readonly actions: AppVersion["actions"];
  readonly created_at: string;
}

function envVars(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, ""]));
}

export function toDeployment(row: DeploymentRow): Deployment {
  return {
    id: row.id,
    status: row.status,
    ...(row.status_reason !== null && { status_reason: row.status_reason }),
    region: row.region,
    entrypoint_rel_path: row.entrypoint,
    env_vars: envVars(row.env_names),
    created_at: row.created_at,
    updated_at: row.updated_at,
    source_type: row.source_type,
    ...(row.source_url !== null && { source_url: row.source_url }),
    ...(row.source_ref !== null && { source_ref: row.source_ref }),
    ...(row.source_path !== null && { source_path: row.source_path }),
    ...(row.source_checksum !== null && { source_checksum: row.source_checksum }),
  };
}

export function toAppVersion(
  row: AppVersionRow & {
    readonly deployment_id: string;
    readonly region: string;
    readonly env_names: readonly string[];
  },
): AppVersion {
  return {
    id: row.id,
    app_name: row.app_name,
    version: row.version,
    region: row.region,
    deployment: row.deployment_id,
    actions: row.actions,
    env_vars: envVars(row.env_names),
  };
}

export function toSummary(row: AppVersionRow, { env_names, region }: DeploymentRow): AppVersionSummaryEvent {
  return {
    event: "app_version_summary",
    id: row.id,
    app_name: row.app_name,
    version: row.version,
    region,
    actions: row.actions,
    env_vars: envVars(env_names),
    timestamp: row.created_at,
  };
}

/** @param field - the sealed column. */
export function sealedPlace(
  { id, project_id }: Pick<DeploymentRow, "id" | "project_id">,
  field: "env" | "source_token",
): SealedPlace {
  return { projectId: project_id, id, field: `deployments.${field}` };
}
