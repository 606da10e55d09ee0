import type { Database, Tables } from "@shoal/database";
import { storableText } from "../../storage/storable-text.ts";
import { type Kysely, sql, type Transaction } from "kysely";
import { tooManySchedules } from "@shoal/contract/refusals";
import { BuildError, type BuiltApp } from "../runtime/app-runtime.ts";
import { maxSchedulesPerApp, replaceDeclared } from "./declared-schedules.ts";
import {
  type CurrentVersion,
  currentVersions,
  lockVersions,
  replaceVersions,
  stopSuperseded,
} from "./current-versions.ts";

/** A deployment that this server builds. */
export interface ClaimedBuild {
  readonly id: string;
  readonly project_id: string;
  readonly version: string;
  readonly force: boolean;
  readonly entrypoint: string;
  readonly source_type: "file" | "github";
  readonly source_url: string | null;
  readonly source_ref: string | null;
  readonly source_path: string | null;
  readonly source_token: Buffer | null;
  readonly source_blob: string | null;
  readonly env: Buffer;
  readonly builder_life: string | null;
  readonly attempts: number;
  readonly created_at: string;
}

const claimed = [
  "id",
  "project_id",
  "version",
  "force",
  "entrypoint",
  "source_type",
  "source_url",
  "source_ref",
  "source_path",
  "source_token",
  "source_blob",
  "env",
  "builder_life",
  "attempts",
  "created_at",
] as const satisfies readonly (keyof ClaimedBuild)[];

interface Candidate {
  readonly id: string;
  readonly source_blob: string | null;
  readonly status_reason: string | null;
  readonly waited_seconds: number;
}

/** Reasons contain the last lines of tools. */
const maxReasonLength = 8192;
const daySeconds = 24 * 60 * 60;
/** Builds that one look considers. */
const maxCandidates = 200;
const archiveElsewhere =
  "Waits for the server that received the archive: the running servers cannot read it. Servers of one database must share blobs_dir, or use blob_store_url.";
const archiveUnreachable =
  "No running server could read the archive for a day. Servers of one database must share blobs_dir, or use blob_store_url. Deploy again.";

/** How a build ends when the versions cannot be published. */
export interface NotPublished {
  readonly status: "failed" | "stopped";
  readonly status_reason: string;
}

/** Builds that wait, shared by all servers. A build belongs to one running server; a change by another has no effect. */
export class BuildQueue {
  readonly #query: Database["query"];
  readonly #serverId: string;

  constructor({ query }: Pick<Database, "query">, serverId: string) {
    this.#query = query;
    this.#serverId = serverId;
  }

  /**
   * Takes the next build: a queued one, or one whose server stopped. Projects with fewer builds come first.
   * @param own - builds that this server runs now.
   * @param canRead - whether this server has the archive. Servers may have separate blobs.
   */
  async claim(own: readonly string[], canRead: (blob: string) => Promise<boolean>): Promise<ClaimedBuild | undefined> {
    for (const candidate of await this.#candidates(own)) {
      const { id, source_blob: blob } = candidate;
      if (blob !== null && !(await canRead(blob))) await this.#noteUnreadable(candidate);
      else {
        const taken = await this.#claim(id, own);
        if (taken !== undefined) return taken;
      }
    }
    return undefined;
  }

  #candidates(own: readonly string[]): Promise<Candidate[]> {
    return this.#query
      .selectFrom("deployments")
      .select(["id", "source_blob", "status_reason"])
      .select(sql<number>`extract(epoch from now() - created_at)::int`.as("waited_seconds"))
      .where(this.#isFree(own))
      .orderBy(
        sql`(select count(*) from deployments busy where busy.project_id = deployments.project_id and busy.status = 'in_progress')`,
      )
      .orderBy("created_at")
      .limit(maxCandidates)
      .execute();
  }

  #claim(id: string, own: readonly string[]): Promise<ClaimedBuild | undefined> {
    const life = this.#life();
    return this.#query
      .updateTable("deployments")
      .set({
        status: "in_progress",
        status_reason: null,
        builder: this.#serverId,
        builder_life: life,
        attempts: sql<number>`attempts + 1`,
        updated_at: sql<string>`now()`,
      })
      .where("id", "=", id)
      .where(this.#isFree(own))
      .returning(claimed)
      .executeTakeFirst();
  }

  #life() {
    return sql<string>`(select life from servers where id = ${this.#serverId})`;
  }

  #isFree(own: readonly string[]) {
    const life = this.#life();
    return sql<boolean>`deployments.deleted_at is null and ${life} is not null and (deployments.status = 'queued' or (
      deployments.status = 'in_progress' and not (deployments.id = any (${own}::text[])) and (
        (builder = ${this.#serverId} and builder_life = ${life})
        or not exists (select 1 from servers where servers.id = builder and servers.life = builder_life))))`;
  }

  /** Another server has the archive, and may be busy or start again soon. */
  async #noteUnreadable({ id, status_reason, waited_seconds: waited }: Candidate): Promise<void> {
    if (waited < 15 || (status_reason === archiveElsewhere && waited < daySeconds)) return;
    const change =
      waited < daySeconds
        ? ({ status: "queued", status_reason: archiveElsewhere } as const)
        : ({ status: "failed", status_reason: archiveUnreachable, source_blob: null, source_token: null } as const);
    await this.#query
      .updateTable("deployments")
      .set({ ...change, builder: null, builder_life: null, updated_at: sql<string>`now()` })
      .where("id", "=", id)
      .where(this.#isFree([]))
      .execute();
  }

  /** @returns whether the build still belongs to this server. */
  async keepSource(build: ClaimedBuild, blob: { readonly name: string; readonly sha256: string }): Promise<boolean> {
    const { numUpdatedRows } = await this.#query
      .updateTable("deployments")
      .set({ source_blob: blob.name, source_checksum: blob.sha256, source_token: null })
      .where(this.#isOwn(build))
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /** Returns the build to the queue, as if it had not begun. */
  async putBack(build: ClaimedBuild): Promise<void> {
    await this.#query
      .updateTable("deployments")
      .set({ status: "queued", builder: null, builder_life: null, attempts: sql<number>`attempts - 1` })
      .where(this.#isOwn(build))
      .execute();
  }

  async end(build: ClaimedBuild, end: NotPublished): Promise<void> {
    await this.#end(this.#query, build, end);
  }

  /**
   * Makes the apps the current versions of their labels, and stops deployments without a current version.
   * @returns whether the deployment runs now.
   */
  async publish(build: ClaimedBuild, built: BuiltApp): Promise<boolean> {
    return this.#query.transaction().execute(async (transaction) => {
      await lockVersions(transaction, build.project_id);
      const isOwn = await transaction
        .selectFrom("deployments")
        .select("id")
        .where(this.#isOwn(build))
        .forUpdate()
        .executeTakeFirst();
      if (isOwn === undefined) return isPublished(transaction, build, built);
      const current = await currentVersions(
        transaction,
        build,
        built.apps.map(({ name }) => name),
      );
      const problem = problemWith(build, current);
      if (problem !== undefined) {
        await this.#end(transaction, build, problem);
        return false;
      }
      await replaceVersions(transaction, build, {
        replaced: current.map(({ id }) => id),
        apps: built.apps,
      });
      const surplus = await replaceDeclared(transaction, build, built.apps);
      if (surplus !== undefined) throw new BuildError(tooManySchedules(surplus, maxSchedulesPerApp).problem);
      await transaction
        .updateTable("deployments")
        .set({
          status: "running",
          artifact: built.artifact,
          language: built.language,
          builder: null,
          builder_life: null,
          source_blob: null,
          updated_at: sql<string>`now()`,
        })
        .where("id", "=", build.id)
        .execute();
      await stopSuperseded(transaction, build, [...new Set(current.map(({ deployment_id }) => deployment_id))]);
      return true;
    });
  }

  async #end(query: Kysely<Tables>, build: ClaimedBuild, { status, status_reason }: NotPublished): Promise<void> {
    await query
      .updateTable("deployments")
      .set({
        status,
        status_reason: storableText(status_reason, maxReasonLength),
        builder: null,
        builder_life: null,
        source_blob: null,
        source_token: null,
        updated_at: sql<string>`now()`,
      })
      .where(this.#isOwn(build))
      .execute();
  }

  #isOwn({ builder_life, id }: ClaimedBuild) {
    return sql<boolean>`deployments.id = ${id} and status = 'in_progress' and deleted_at is null
      and builder = ${this.#serverId} and builder_life = ${builder_life}`;
  }
}

/** An earlier attempt may have committed although its connection broke. */
async function isPublished(
  transaction: Transaction<Tables>,
  { id }: ClaimedBuild,
  { artifact }: BuiltApp,
): Promise<boolean> {
  const row = await transaction
    .selectFrom("deployments")
    .select("id")
    .where("id", "=", id)
    .where("artifact", "=", artifact)
    .executeTakeFirst();
  return row !== undefined;
}

/** `latest` moves with each deployment; other labels are fixed, unless the request forces a change. */
function problemWith(build: ClaimedBuild, current: readonly CurrentVersion[]): NotPublished | undefined {
  const [taken] = current;
  if (taken !== undefined && build.version !== "latest" && !build.force)
    return {
      status: "failed",
      status_reason: `Version ${build.version} of the app ${taken.app_name} already exists (deployment ${taken.deployment_id}). Choose another version, or replace it with force.`,
    };
  const newer = current.find(({ deployed_at }) => deployed_at > build.created_at);
  return (
    newer && {
      status: "stopped",
      status_reason: `Deployment ${newer.deployment_id} of the app ${newer.app_name} is newer, and its build ended first.`,
    }
  );
}
