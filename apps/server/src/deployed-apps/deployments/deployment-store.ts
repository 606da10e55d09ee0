import type { Page } from "@shoal/contract";
import { deploymentNotFound } from "@shoal/contract/refusals";
import { containsFolded, type Database, type DeploymentsTable, type Tables } from "@shoal/database";
import type { PolicyStatements } from "@shoal/contract/rights";
import { createId } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { AppVersion, Deployment, ListApps, ListDeployments } from "@shoal/schemas";
import { type Selectable, sql, type Transaction } from "kysely";
import type * as z from "zod/mini";
import { emptyPage, isStorable, newestFirst, toPage } from "../../http/paging.ts";
import type { Envelopes } from "../../storage/envelopes/envelopes.ts";
import { lockVersions } from "./current-versions.ts";
import {
  type AppVersionRow,
  deploymentColumns,
  type DeploymentRow,
  sealedPlace,
  toAppVersion,
  toDeployment,
} from "./deployment-row.ts";
import type { RequestedDeployment } from "./requested-deployment.ts";

/** Waiting and running builds of a project. */
const maxBuilds = 20;

type SealedRow<Field extends "env" | "source_token"> = Pick<Selectable<DeploymentsTable>, "id" | "project_id" | Field>;

const hasNoInvocation = (deployments: string) =>
  sql<boolean>`not exists (
    select 1 from invocations where invocations.deployment_id = ${sql.ref(`${deployments}.id`)} and invocations.finished_at is null)`;

/** The rows of deployments and of the app versions that they created. */
export class DeploymentStore {
  readonly #query: Database["query"];
  readonly #envelopes: Pick<Envelopes, "seal" | "unseal">;

  constructor({ query }: Pick<Database, "query">, envelopes: Pick<Envelopes, "seal" | "unseal">) {
    this.#query = query;
    this.#envelopes = envelopes;
  }

  /** @throws {ServiceError} 429 when too many builds of the project wait. */
  async insert(
    projectId: string,
    requested: RequestedDeployment & {
      readonly policy: PolicyStatements | undefined;
      readonly issuerKeyId: string | null;
    },
  ): Promise<Deployment> {
    const { archive, env, repository } = requested;
    const id = createId();
    const of = { id, project_id: projectId };
    const token = repository?.auth?.token;
    const sealedToken = token === undefined ? null : await this.#envelopes.seal(token, sealedPlace(of, "source_token"));
    const sealedEnv = await this.#envelopes.seal(JSON.stringify(env), sealedPlace(of, "env"));
    const row = await this.#query.transaction().execute(async (transaction) => {
      await admit(transaction, projectId);
      return transaction
        .insertInto("deployments")
        .values({
          id,
          project_id: projectId,
          status: "queued",
          version: requested.version,
          force: requested.force,
          region: requested.region,
          entrypoint: requested.entrypoint,
          source_type: repository === undefined ? "file" : "github",
          source_url: repository?.url ?? null,
          source_ref: repository?.ref ?? null,
          source_path: repository?.path ?? null,
          source_token: sealedToken,
          source_checksum: archive?.sha256 ?? null,
          source_blob: archive?.name ?? null,
          policy: requested.policy === undefined ? null : JSON.stringify(requested.policy),
          issuer_key_id: requested.issuerKeyId,
          env_names: JSON.stringify(Object.keys(env)),
          env: sealedEnv,
        })
        .returning(deploymentColumns)
        .executeTakeFirstOrThrow();
    });
    return toDeployment(row);
  }

  /** @throws {ServiceError} 404. */
  async existing(projectId: string, id: string): Promise<DeploymentRow> {
    const row = isStorable(id) ? await this.find(id) : undefined;
    if (row?.project_id !== projectId || row.deleted_at !== null) throw ServiceError.of(deploymentNotFound(id));
    return row;
  }

  /** Also deleted ones. */
  find(id: string): Promise<DeploymentRow | undefined> {
    return this.#query.selectFrom("deployments").select(deploymentColumns).where("id", "=", id).executeTakeFirst();
  }

  /** Its build; `null` if it has none, or none any more. */
  async artifactOf(id: string): Promise<string | null> {
    const row = await this.#query
      .selectFrom("deployments")
      .select("artifact")
      .where("id", "=", id)
      .where("status", "=", "stopped")
      .executeTakeFirst();
    return row?.artifact ?? null;
  }

  async list(projectId: string, filter: z.output<typeof ListDeployments>): Promise<Page<Deployment>> {
    const { app_name, app_version, query } = filter;
    if (![app_name, app_version, query].every(isStorable)) return emptyPage();
    let rows = this.#query
      .selectFrom("deployments")
      .select(deploymentColumns)
      .where("project_id", "=", projectId)
      .where("deleted_at", "is", null);
    if (app_name !== undefined)
      rows = rows.where((where) => {
        const versions = where
          .selectFrom("app_versions")
          .select("app_versions.id")
          .whereRef("app_versions.deployment_id", "=", "deployments.id")
          .where("app_versions.app_name", "=", app_name);
        return where.exists(
          app_version === undefined ? versions : versions.where("app_versions.version", "=", app_version),
        );
      });
    if (query !== undefined)
      rows = rows.where((where) =>
        where.or([
          where("deployments.id", "=", query),
          where.exists(
            where
              .selectFrom("app_versions")
              .select("app_versions.id")
              .whereRef("app_versions.deployment_id", "=", "deployments.id")
              .where(containsFolded("app_versions.app_name_folded", query)),
          ),
        ]),
      );
    return toPage(await newestFirst(rows, filter).execute(), filter, toDeployment);
  }

  async listApps(projectId: string, filter: z.output<typeof ListApps>): Promise<Page<AppVersion>> {
    const { app_name, query, version } = filter;
    if (![app_name, query, version].every(isStorable)) return emptyPage();
    const versions = this.#query
      .selectFrom("app_versions")
      .innerJoin("deployments", "deployments.id", "app_versions.deployment_id")
      .select([
        "app_versions.id",
        "app_versions.app_name",
        "app_versions.app_name_folded",
        "app_versions.version",
        "app_versions.actions",
        "app_versions.created_at",
        "app_versions.deployment_id",
        "deployments.region",
        "deployments.env_names",
      ])
      .where("app_versions.project_id", "=", projectId)
      .where("app_versions.is_current", "=", true);
    let rows = this.#query.selectFrom(versions.as("versions")).selectAll();
    if (app_name !== undefined) rows = rows.where("app_name", "=", app_name);
    if (version !== undefined) rows = rows.where("version", "=", version);
    if (query !== undefined) rows = rows.where(containsFolded("app_name_folded", query));
    return toPage(await newestFirst(rows, filter).execute(), filter, toAppVersion);
  }

  /** The app versions that the deployment created, also superseded ones. */
  versionsOf(deploymentId: string): Promise<readonly AppVersionRow[]> {
    return this.#query
      .selectFrom("app_versions")
      .select(["id", "app_name", "version", "actions", "created_at"])
      .where("deployment_id", "=", deploymentId)
      .orderBy("app_name")
      .execute();
  }

  /** Whether the archive is still to be built. */
  async needsBlob(id: string, blob: string): Promise<boolean> {
    const row = await this.#query
      .selectFrom("deployments")
      .select("id")
      .where("id", "=", id)
      .where("source_blob", "=", blob)
      .where("deleted_at", "is", null)
      .executeTakeFirst();
    return row !== undefined;
  }

  /** @returns those of `names` that are an archive to build, or a build. */
  async blobsInUse(names: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.#query
      .selectFrom("deployments")
      .select(["source_blob", "artifact"])
      .where((where) => where.or([where("source_blob", "in", names), where("artifact", "in", names)]))
      .execute();
    return new Set(rows.flatMap(({ artifact, source_blob }) => [artifact ?? [], source_blob ?? []].flat()));
  }

  /**
   * Stops the deployment and takes its versions away.
   * @returns an archive that nothing builds any more. A running build deletes its own.
   * @throws {ServiceError} 404.
   */
  async delete(projectId: string, id: string): Promise<string | undefined> {
    await this.existing(projectId, id);
    const now = new Date().toISOString();
    return this.#query.transaction().execute(async (transaction) => {
      await lockVersions(transaction, projectId);
      const present = await transaction
        .selectFrom("deployments")
        .select(["source_blob", "status"])
        .where("id", "=", id)
        .forUpdate()
        .executeTakeFirst();
      const isQueued = present?.status === "queued";
      const isOver = present?.status === "failed" || present?.status === "stopped";
      await transaction
        .updateTable("deployments")
        .set({
          deleted_at: now,
          updated_at: now,
          source_token: null,
          ...(!isOver && { status: "stopped", status_reason: "It was deleted." }),
          ...(isQueued && { source_blob: null }),
        })
        .where("id", "=", id)
        .where("deleted_at", "is", null)
        .execute();
      await transaction
        .updateTable("app_versions")
        .set({ is_current: false })
        .where("deployment_id", "=", id)
        .execute();
      await sql`delete from schedules where project_id = ${projectId} and flow_id is null and not exists (
        select 1 from app_versions as current
        where current.project_id = schedules.project_id and current.app_name = schedules.app_name
          and current.version = schedules.version and current.is_current)`.execute(transaction);
      return isQueued ? (present.source_blob ?? undefined) : undefined;
    });
  }

  /** Builds of deleted deployments, and of stopped ones beyond the newest `kept` of each project, without invocations. */
  idleArtifacts(kept: number): Promise<readonly { readonly id: string; readonly artifact: string }[]> {
    return this.#query
      .with("ranked", (with_) =>
        with_
          .selectFrom("deployments")
          .select(["id", "artifact", "deleted_at"])
          .select(
            sql<number>`row_number() over (partition by project_id, deleted_at is null order by created_at desc)`.as(
              "place",
            ),
          )
          .where("artifact", "is not", null)
          .where("status", "=", "stopped"),
      )
      .selectFrom("ranked")
      .select(["id", "artifact"])
      .$narrowType<{ artifact: string }>()
      .where((where) => where.or([where("deleted_at", "is not", null), where("place", ">", kept)]))
      .where(hasNoInvocation("ranked"))
      .execute();
  }

  /** @returns false when it runs again, or an invocation needs it. */
  async forgetArtifact(id: string): Promise<boolean> {
    const { numUpdatedRows } = await this.#query
      .updateTable("deployments")
      .set({ artifact: null })
      .where("id", "=", id)
      .where("status", "=", "stopped")
      .where(hasNoInvocation("deployments"))
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /** Removes the rows of deployments that were deleted before `date`, with their log lines. */
  async dropDeletedBefore(date: Date): Promise<void> {
    await this.#query
      .deleteFrom("deployments")
      .where("deleted_at", "<", date.toISOString())
      .where("artifact", "is", null)
      .execute();
  }

  /** @throws {ServiceError} 500 when the master key is missing or fails. */
  async openEnv(row: SealedRow<"env">): Promise<Readonly<Record<string, string>>> {
    // `insert` wrote it.
    return JSON.parse(await this.#envelopes.unseal(row.env, sealedPlace(row, "env"))) as Record<string, string>;
  }

  /** Returns `undefined` without a token. @throws {ServiceError} 500 when the master key is missing or fails. */
  async openToken(row: SealedRow<"source_token">): Promise<string | undefined> {
    const { source_token: sealed } = row;
    return sealed === null ? undefined : this.#envelopes.unseal(sealed, sealedPlace(row, "source_token"));
  }
}

/** One request at a time, so that the limit holds. @throws {ServiceError} 429 */
async function admit(transaction: Transaction<Tables>, projectId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`deployments of ${projectId}`}, 0))`.execute(transaction);
  const { count } = await transaction
    .selectFrom("deployments")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("project_id", "=", projectId)
    .where("status", "in", ["queued", "in_progress"])
    .executeTakeFirstOrThrow();
  if (count < maxBuilds) return;
  throw new ServiceError(
    429,
    "too_many_requests",
    `This project has ${String(count)} deployments that wait or build; the limit is ${String(maxBuilds)}. Wait until one ends, or delete one.`,
    { retryAfterSeconds: 10 },
  );
}
