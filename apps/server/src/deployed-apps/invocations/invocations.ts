import type { Page } from "@shoal/contract";
import { actionNotFound, appVersionNotFound, invocationNotFound, needsAsync } from "@shoal/contract/refusals";
import type { Change, Database } from "@shoal/database";
import { ServiceError } from "@shoal/router";
import type { CreateInvocation, Invocation, ListInvocations, UpdateInvocation } from "@shoal/schemas";
import type * as z from "zod/mini";
import { toPage } from "../../http/paging.ts";
import type { Log } from "../../log/log.ts";
import type { InvocationLimits } from "../../storage/errors/invocation-limits.ts";
import { requireMember } from "../../storage/errors/require-member.ts";
import type { DeployedApps, InvokableVersion } from "../deployments/deployed-apps.ts";
import type { AppLogs } from "../logs/app-logs.ts";
import type { AppRuntime } from "../runtime/app-runtime.ts";
import type { DeploymentKeys } from "../keys/deployment-keys.ts";
import { InvocationQueue } from "./invocation-queue.ts";
import { InvocationRunner } from "./invocation-runner.ts";
import { type InvocationRow, InvocationStore, type NewInvocation } from "./invocation-store.ts";
import { toInvocation } from "./invocation-view.ts";
import { WarmPrograms, type WarmRules } from "./warm-programs.ts";

export interface InvocationRules {
  /** Invocations that run on this server at once. */
  readonly maxHere: number;
  readonly limits: InvocationLimits;
  readonly warm: WarmRules;
  readonly retentionMs: number;
}

export interface InvocationsParts {
  readonly database: Database;
  readonly runtime: Pick<AppRuntime, "start">;
  readonly apps: Pick<DeployedApps, "find" | "runnable" | "isRunning">;
  readonly keys: DeploymentKeys;
  readonly logs: Pick<AppLogs, "writer">;
  readonly rules: InvocationRules;
  readonly serverId: string;
  /** True while the other servers may have declared this server dead. */
  readonly isDoubtful: () => boolean;
  /** True while other servers take the waiting invocations. */
  readonly isDraining?: () => boolean;
  readonly log: Log;
}

/** The longest synchronous call, in seconds. */
const synchronousSeconds = 100;

/** Invocations of apps. A server runs the invocations that it accepts; every server can read and end all. */
export class Invocations {
  readonly store: InvocationStore;
  readonly #parts: InvocationsParts;
  readonly #programs: WarmPrograms;
  readonly #runner: InvocationRunner;
  readonly #queue: InvocationQueue;
  readonly #unlisten: () => void;

  constructor(parts: InvocationsParts) {
    const { database, rules } = parts;
    this.#parts = parts;
    this.store = new InvocationStore(database);
    this.#programs = new WarmPrograms({ ...parts, rules: rules.warm });
    this.#runner = new InvocationRunner({
      ...parts,
      store: this.store,
      programs: this.#programs,
      onEnd: ({ deployment_id }) => {
        this.#queue.look();
        this.#inBackground(this.#releaseKey(deployment_id));
      },
    });
    this.#queue = new InvocationQueue({
      ...parts,
      store: this.store,
      limits: rules.limits,
      hasRoom: () =>
        !this.#runner.isClosed &&
        !parts.isDoubtful() &&
        parts.isDraining?.() !== true &&
        this.#runner.size < rules.maxHere,
      start: (row) => {
        void this.#runner.start(row);
      },
    });
    this.#unlisten = database.onChange((change) => {
      this.#inBackground(this.#onChange(change));
    });
  }

  /** @returns the new invocation, and its end. @throws {ServiceError} 404, 429, 503 or 529. */
  async create(
    projectId: string,
    request: z.output<typeof CreateInvocation>,
  ): Promise<{ readonly row: InvocationRow; readonly ended: Promise<InvocationRow> }> {
    refuseSynchronous(request);
    const version = await this.#find(projectId, request);
    const given: NewInvocation = {
      project_id: projectId,
      deployment_id: version.deployment_id,
      app_name: version.app_name,
      version: version.version,
      action_name: request.action_name,
      // Clients send an empty value for none.
      payload: request.payload === undefined || request.payload === "" ? null : request.payload,
      is_async: request.async,
      timeout_seconds: request.async ? request.async_timeout_seconds : synchronousSeconds,
      max_retries: request.max_retries ?? 0,
    };
    try {
      this.#requireRoom();
      const row = await this.store.insert(given, this.#parts.serverId, this.#parts.rules.limits);
      return { row, ended: this.#runner.start(row) };
    } catch (error) {
      if (request.queue !== true || !isFull(error)) throw error;
      const row = await this.store.insertWaiting(given);
      return { row, ended: Promise.resolve(row) };
    }
  }

  /** Prepares a program for the first invocation of a deployment that runs. */
  prepare(deploymentId: string): void {
    this.#programs.refill(deploymentId);
  }

  async list(projectId: string, filter: z.output<typeof ListInvocations>): Promise<Page<Invocation>> {
    return toPage(await this.store.list(projectId, filter), filter, (row) => toInvocation(row));
  }

  /** @throws {ServiceError} 404 */
  async get(projectId: string, id: string): Promise<InvocationRow> {
    const row = await this.store.find(projectId, id);
    if (row === undefined) throw ServiceError.of(invocationNotFound(id));
    return row;
  }

  /** Ends an invocation on whichever server runs it. An ended one stays unchanged. */
  async update(projectId: string, id: string, request: z.output<typeof UpdateInvocation>): Promise<InvocationRow> {
    const present = await this.get(projectId, id);
    const cancelled = "The invocation was cancelled.";
    const output = request.output === "" ? undefined : request.output;
    const ended = await this.store.end(present.id, {
      status: request.status,
      output: output ?? (request.status === "failed" ? JSON.stringify({ error: cancelled }) : undefined),
      ...(request.status === "failed" && { status_reason: cancelled }),
    });
    if (ended === undefined) return this.get(projectId, id);
    await this.#runner.cancel(id);
    return ended;
  }

  /** Deletes what nothing needs any more; for one server at a time. */
  async sweep(): Promise<void> {
    await this.store.dropEndedBefore(new Date(Date.now() - this.#parts.rules.retentionMs));
    await this.#parts.keys.releaseIdle();
  }

  async close(): Promise<void> {
    this.#unlisten();
    await this.#queue.close();
    await this.#runner.close();
    await this.#programs.close();
  }

  async #find(
    projectId: string,
    { app_name, action_name, version }: Pick<z.output<typeof CreateInvocation>, "app_name" | "action_name" | "version">,
  ): Promise<InvokableVersion> {
    const found = await this.#parts.apps.find(projectId, app_name, version);
    if (found === undefined) throw ServiceError.of(appVersionNotFound(app_name, version));
    if (!found.actions.includes(action_name))
      throw ServiceError.of(actionNotFound({ app: app_name, version, action: action_name }, found.actions));
    return found;
  }

  #requireRoom(): void {
    requireMember("invocations", { isClosed: this.#runner.isClosed, isDoubtful: this.#parts.isDoubtful() });
    const { maxHere } = this.#parts.rules;
    if (this.#runner.size < maxHere) return;
    throw new ServiceError(
      529,
      "capacity_exhausted",
      `This server runs ${String(maxHere)} invocations, its limit (max_invocations).`,
      { hint: "Wait until one ends, or raise the limit if the machine has enough memory.", retryAfterSeconds: 5 },
    );
  }

  async #onChange(change: Change | undefined): Promise<void> {
    if (change === undefined) {
      for (const id of await this.store.leftBy(this.#parts.serverId, this.#runner.ids())) void this.#runner.cancel(id);
      for (const id of this.#programs.deployments()) await this.#onDeployment(id);
    } else if (change.table === "invocations") {
      if (this.#runner.has(change.id) && (await this.store.leftBy(this.#parts.serverId, [change.id])).length > 0)
        await this.#runner.cancel(change.id);
    } else if (change.table === "deployments") await this.#onDeployment(change.id);
  }

  async #onDeployment(id: string): Promise<void> {
    if (await this.#parts.apps.isRunning(id)) return;
    this.#programs.drop(id);
    await this.#parts.keys.releaseIdle();
  }

  async #releaseKey(deploymentId: string): Promise<void> {
    if (!(await this.#parts.apps.isRunning(deploymentId))) await this.#parts.keys.releaseIdle();
  }

  #inBackground(task: Promise<void>): void {
    task.catch((error: unknown) => {
      this.#parts.log.warn({ err: error }, "a change of invocations or deployments could not be followed");
    });
  }
}

/** Whether an invocation may wait instead: 429 at a limit, 529 on a full server. */
function isFull(error: unknown): boolean {
  return ServiceError.isInstance(error) && (error.status === 429 || error.status === 529);
}

/** @throws {ServiceError} 400 */
function refuseSynchronous({
  async: isAsync,
  max_retries,
  queue,
}: Pick<z.output<typeof CreateInvocation>, "async" | "max_retries" | "queue">): void {
  if (isAsync) return;
  const field = queue === true ? "queue" : max_retries === undefined || max_retries === 0 ? undefined : "max_retries";
  if (field !== undefined) throw ServiceError.of(needsAsync(field));
}
