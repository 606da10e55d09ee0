import type { Database } from "@shoal/database";
import { sql } from "kysely";
import { lockOfWriters } from "./chunk-writer.ts";

/** Bytes that this server stores for a deployment between two looks at its project. */
const mostBetween = 2 ** 20;
/** Deployments whose bytes are counted; each look at a project is a query. */
const maxCounted = 10_000;
const chunksAtOnce = 64;
/** Of the limit, after a deletion: the next one is not due at once. */
const keptShare = 0.9;

/** Bounds the stored log lines of each project: its oldest ones go first. */
export class LogQuota {
  readonly #query: Database["query"];
  readonly #maxBytes: () => number;
  /** Bytes since the latest look. */
  readonly #stored = new Map<string, number>();

  /** @param maxBytes - of a project. */
  constructor(query: Database["query"], maxBytes: () => number) {
    this.#query = query;
    this.#maxBytes = maxBytes;
  }

  /** Counts new lines, and deletes the oldest ones of the project if it has too many. */
  async stored(deploymentId: string, bytes: number): Promise<void> {
    const sum = (this.#stored.get(deploymentId) ?? 0) + bytes;
    this.#stored.set(deploymentId, sum);
    if (sum >= Math.min(mostBetween, this.#maxBytes() / 16)) await this.#look(deploymentId);
    const [oldest] = this.#stored.keys();
    if (this.#stored.size > maxCounted && oldest !== undefined) await this.#look(oldest);
  }

  async #look(deploymentId: string): Promise<void> {
    this.#stored.delete(deploymentId);
    const projects = this.#query.selectFrom("deployments").select("project_id").where("id", "=", deploymentId);
    const row = await projects.executeTakeFirst();
    if (row !== undefined) await this.shorten(row.project_id);
  }

  /** Deletes the oldest lines of a project above the limit. */
  async shorten(projectId: string): Promise<void> {
    const maxBytes = this.#maxBytes();
    if ((await this.#bytesOf(projectId)) <= maxBytes) return;
    do if (!(await this.#deleteOldest(projectId))) return;
    while ((await this.#bytesOf(projectId)) > maxBytes * keptShare);
  }

  /** For lines that were stored before a lower limit, and for what other servers store together. */
  async shortenAll(): Promise<void> {
    const totals = await this.#query
      .selectFrom("app_log_totals")
      .innerJoin("deployments", "deployments.id", "app_log_totals.deployment_id")
      .select("project_id")
      .groupBy("project_id")
      .having(({ fn }) => fn.sum("bytes"), ">", this.#maxBytes())
      .execute();
    for (const { project_id: projectId } of totals) await this.shorten(projectId);
  }

  async #bytesOf(projectId: string): Promise<number> {
    const { bytes } = await this.#query
      .selectFrom("app_log_totals")
      .innerJoin("deployments", "deployments.id", "app_log_totals.deployment_id")
      .select(({ fn }) => fn.sum<string | null>("bytes").as("bytes"))
      .where("project_id", "=", projectId)
      .executeTakeFirstOrThrow();
    return Number(bytes ?? 0);
  }

  /** The oldest chunks of the deployment with the oldest one. @returns false if the project has no lines. */
  async #deleteOldest(projectId: string): Promise<boolean> {
    const oldest = await sql<{ deployment_id: string }>`
      select deployment_id from deployments, lateral (
        select deployment_id, sequence from app_log_chunks where deployment_id = deployments.id order by sequence limit 1
      ) as first
      where project_id = ${projectId} order by sequence limit 1`.execute(this.#query);
    const deploymentId = oldest.rows[0]?.deployment_id;
    if (deploymentId === undefined) return false;
    // As writers do, so that two deletions never wait for each other.
    await sql`with turn as materialized (select ${lockOfWriters(deploymentId)})
      delete from app_log_chunks using turn where deployment_id = ${deploymentId} and sequence in (
        select sequence from app_log_chunks where deployment_id = ${deploymentId} order by sequence limit ${sql.lit(chunksAtOnce)}
      )`.execute(this.#query);
    return true;
  }
}
