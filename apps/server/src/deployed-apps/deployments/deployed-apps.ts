import type { Database } from "@shoal/database";
import { isStorable } from "../../http/paging.ts";
import type { RunnableApp } from "../runtime/app-runtime.ts";
import type { DeploymentStore } from "./deployment-store.ts";

export interface InvokableVersion {
  readonly deployment_id: string;
  readonly app_name: string;
  /** Its label. */
  readonly version: string;
  /** Their names. */
  readonly actions: readonly string[];
}

/** Reads what invocations need of deployments. */
export class DeployedApps {
  readonly #query: Database["query"];
  readonly #store: Pick<DeploymentStore, "openEnv">;

  constructor({ query }: Pick<Database, "query">, store: Pick<DeploymentStore, "openEnv">) {
    this.#query = query;
    this.#store = store;
  }

  /** Finds the version that the label names now, of a deployment that is `running`. */
  find(projectId: string, appName: string, version: string): Promise<InvokableVersion | undefined> {
    return findVersion(this.#query, { projectId, appName, version });
  }

  /** Also of a stopped or deleted deployment, whose invocations finish. @returns `undefined` when it has no artifact. */
  async runnable(deploymentId: string): Promise<Omit<RunnableApp, "api_key"> | undefined> {
    const row = await this.#query
      .selectFrom("deployments")
      .select(["id", "project_id", "artifact", "language", "entrypoint", "env"])
      .where("id", "=", deploymentId)
      .executeTakeFirst();
    if (!row?.artifact || !row.language) return undefined;
    const { artifact, entrypoint, language, project_id: project } = row;
    return {
      deployment_id: deploymentId,
      project,
      artifact,
      language,
      entrypoint,
      env: await this.#store.openEnv(row),
    };
  }

  /** Whether it can be invoked: false once it is superseded, stopped or deleted. */
  async isRunning(deploymentId: string): Promise<boolean> {
    const row = await this.#query
      .selectFrom("deployments")
      .select("id")
      .where("id", "=", deploymentId)
      .where("status", "=", "running")
      .where("deleted_at", "is", null)
      .executeTakeFirst();
    return row !== undefined;
  }
}

/** @param query - may be a transaction. */
export async function findVersion(
  query: Database["query"],
  { appName, projectId, version }: { readonly projectId: string; readonly appName: string; readonly version: string },
): Promise<InvokableVersion | undefined> {
  if (!isStorable(appName) || !isStorable(version)) return undefined;
  const row = await query
    .selectFrom("app_versions")
    .innerJoin("deployments", "deployments.id", "app_versions.deployment_id")
    .select(["app_versions.deployment_id", "app_name", "app_versions.version", "actions"])
    .where("app_versions.project_id", "=", projectId)
    .where("app_name", "=", appName)
    .where("app_versions.version", "=", version)
    .where("is_current", "=", true)
    .where("deployments.status", "=", "running")
    .where("deployments.deleted_at", "is", null)
    .executeTakeFirst();
  return row && { ...row, actions: row.actions.map(({ name }) => name) };
}
