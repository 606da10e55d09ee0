import type { Page } from "@shoal/contract";
import { deploymentBuildMissing } from "@shoal/contract/refusals";
import { type Database, outageOf } from "@shoal/database";
import type { Access } from "../../http/auth/access.ts";
import { type MultipartPart, ServiceError, type StreamFrame, type UnknownFields } from "@shoal/router";
import type { AppVersion, Deployment, DeploymentEvent, ListApps, ListDeployments } from "@shoal/schemas";
import type * as z from "zod/mini";
import { type Blobs, sweepBlobs } from "../../storage/blobs/blobs.ts";
import { sinceOf } from "../../storage/moment.ts";
import type { AppLogs } from "../logs/app-logs.ts";
import { followEvents, type FollowedState } from "../logs/follow-events.ts";
import type { AppRuntime } from "../runtime/app-runtime.ts";
import { toDeployment, toSummary } from "./deployment-row.ts";
import type { DeploymentStore } from "./deployment-store.ts";
import { rollBack } from "./rollback.ts";
import { takeRequest } from "./requested-deployment.ts";

export interface DeploymentsParts {
  readonly database: Pick<Database, "onChange" | "query">;
  readonly store: DeploymentStore;
  /** Archives of sources, and builds. */
  readonly blobs: Blobs;
  readonly logs: AppLogs;
  readonly runtime: Pick<AppRuntime, "has" | "remove">;
  /** Called when a deployment runs again. */
  readonly onRunning: (deploymentId: string) => void;
  readonly unknownFields: UnknownFields;
  /** Days after which log lines are deleted. */
  readonly logRetentionDays: () => number;
}

export interface FollowRequest {
  readonly since: string | undefined;
  readonly lastEventId: string | undefined;
  readonly signal: AbortSignal;
}

type FollowState = FollowedState<DeploymentEvent>;

/** Superseded deployments per project that can run again. */
const keptArtifacts = 20;
const dayMs = 24 * 60 * 60 * 1000;

/** The operations on deployments. A {@link Builder} builds them. */
export class Deployments {
  readonly #parts: DeploymentsParts;

  constructor(parts: DeploymentsParts) {
    this.#parts = parts;
  }

  /** The app gets the policy of the caller, and its key ends with a limited one. @throws {ServiceError} 400, 413, 429. */
  async create(
    { key, projectId }: Pick<Access, "key" | "projectId">,
    parts: AsyncIterable<MultipartPart>,
  ): Promise<Deployment> {
    const { blobs, store } = this.#parts;
    const requested = await takeRequest(parts, this.#parts);
    try {
      const isLimited = key.policy !== undefined || (key.isPerson !== true && key.expiresAtMs !== Infinity);
      const issuerKeyId = isLimited ? key.id : null;
      return await store.insert(projectId, { ...requested, policy: key.policy?.wire, issuerKeyId });
    } catch (error) {
      // After a broken connection the row may exist: keep the archive; a sweep removes it if the row does not exist.
      if (requested.archive !== undefined && outageOf(error) === undefined)
        await blobs.delete(requested.archive.name).catch(() => undefined);
      throw error;
    }
  }

  async get(projectId: string, id: string): Promise<Deployment> {
    return toDeployment(await this.#parts.store.existing(projectId, id));
  }

  list(projectId: string, filter: z.output<typeof ListDeployments>): Promise<Page<Deployment>> {
    return this.#parts.store.list(projectId, filter);
  }

  listApps(projectId: string, filter: z.output<typeof ListApps>): Promise<Page<AppVersion>> {
    return this.#parts.store.listApps(projectId, filter);
  }

  async delete(projectId: string, id: string): Promise<void> {
    const { blobs, store } = this.#parts;
    const archive = await store.delete(projectId, id);
    // A sweep removes what stays.
    if (archive !== undefined) await blobs.delete(archive).catch(() => undefined);
  }

  /** @throws {ServiceError} 404, 409. */
  async rollback(projectId: string, id: string): Promise<Deployment> {
    const { blobs, onRunning, runtime, store } = this.#parts;
    await store.existing(projectId, id);
    const artifact = await store.artifactOf(id);
    if (artifact !== null && !(await runtime.has(artifact)))
      throw ServiceError.of(deploymentBuildMissing(id, blobs.place));
    const deployment = toDeployment(await rollBack(this.#parts.database.query, projectId, id));
    onRunning(id);
    return deployment;
  }

  /** @throws {ServiceError} 400, 404. */
  async follow(
    projectId: string,
    id: string,
    { lastEventId, signal, since }: FollowRequest,
  ): Promise<AsyncIterable<StreamFrame<DeploymentEvent>>> {
    const { database, logs, store } = this.#parts;
    const from = sinceOf(since);
    await store.existing(projectId, id);
    return followEvents<DeploymentEvent>({
      logs,
      owner: { deployment_id: id },
      since: from,
      lastEventId,
      signal,
      look: () => this.#look(id),
      onChange: (listener) =>
        database.onChange((change) => {
          if (change === undefined || (change.table === "deployments" && change.id === id)) listener();
        }),
    });
  }

  /** Deletes old lines, and archives and builds that nothing needs. */
  async sweep(): Promise<void> {
    const { blobs, logRetentionDays, logs, runtime, store } = this.#parts;
    const oldest = new Date(Date.now() - logRetentionDays() * dayMs);
    await logs.dropBefore(oldest);
    await sweepBlobs(blobs, (names) => store.blobsInUse(names));
    // The row first: a rollback meanwhile needs the build. The next sweep removes a build without a row.
    for (const { artifact, id } of await store.idleArtifacts(keptArtifacts))
      if (await store.forgetArtifact(id)) await runtime.remove(artifact);
    await store.dropDeletedBefore(oldest);
  }

  /** Deleted deployments too: a follower sees the end. */
  async #look(id: string): Promise<FollowState> {
    const { store } = this.#parts;
    const row = await store.find(id);
    if (row === undefined) return { key: "deleted", events: [], order: "last" };
    const deployment = toDeployment(row);
    const timestamp = row.updated_at ?? row.created_at;
    const state: DeploymentEvent = { event: "deployment_state", deployment, timestamp };
    const key = `${row.status} ${timestamp}`;
    switch (row.status) {
      case "queued":
      case "in_progress":
        return { key, events: [state], order: "first" };
      case "running": {
        const summaries = (await store.versionsOf(id)).map((version) => toSummary(version, row));
        // Clients leave at `running`.
        return { key, events: [...summaries, state], order: "after_build" };
      }
      case "failed":
      case "stopped":
        return { key, events: [state], order: "last" };
    }
  }
}
