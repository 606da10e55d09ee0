import type { OperationsOf } from "@shoal/contract";
import { runAction } from "@shoal/client/app";
import {
  actionNotFound,
  appVersionNotFound,
  invocationNotFound,
  needsAsync,
  projectRunsTooManyInvocations,
} from "@shoal/contract/refusals";
import { createId, messageOf } from "@shoal/primitives";
import { ServiceError, withStatus, type Handlers } from "@shoal/router";
import type { CreatedInvocation, CreateInvocation, Invocation } from "@shoal/schemas";
import { setImmediate } from "node:timers/promises";
import type * as z from "zod/mini";
import { EventLog } from "../files/event-log.ts";
import type { Access } from "../state/access.ts";
import type { InvocationRow } from "../state/apps.ts";
import { holds, pageOf } from "../state/listing.ts";
import { linesSince, sinceMs } from "../state/since.ts";
import type { SessionRow, Store } from "../state/store.ts";
import { recordEvent, type RecordedEvent } from "../state/webhooks.ts";
import { toBrowser } from "../sessions/browser-answer.ts";
import { endSession } from "./browsers.ts";
import { findVersion } from "./deployments.ts";

interface End {
  readonly status: "succeeded" | "failed";
  readonly output?: string | undefined;
  readonly reason?: string | undefined;
}

/** The longest synchronous call, in seconds. */
const synchronousSeconds = 100;

function toInvocation(row: InvocationRow): Invocation {
  return {
    id: row.id,
    ...row.asked,
    status: row.status,
    started_at: row.startedAt,
    finished_at: row.finishedAt,
    ...(row.output !== undefined && { output: row.output }),
    ...(row.statusReason !== undefined && { status_reason: row.statusReason }),
  };
}

function eventOf(row: InvocationRow, status: End["status"]): RecordedEvent {
  const { action_name, app_name, version } = row.asked;
  const data = {
    invocation_id: row.id,
    deployment_id: row.deployment.id,
    app_name,
    version,
    action_name,
    status,
    status_reason: row.statusReason ?? null,
    retries: 0,
    started_at: row.startedAt,
    finished_at: row.finishedAt,
  };
  return { type: `invocation.${status}`, data };
}

function toCreated(row: InvocationRow): CreatedInvocation {
  const { action_name, id, output, status, status_reason } = toInvocation(row);
  return {
    id,
    action_name,
    status,
    ...(output !== undefined && { output }),
    ...(status_reason !== undefined && { status_reason }),
  };
}

function failure(reason: string): End {
  return { status: "failed", output: JSON.stringify({ error: reason }), reason };
}

/** Invocations run the handlers of this process. */
class FakeInvocations {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  create(projectId: string, body: z.output<typeof CreateInvocation>): InvocationRow {
    const { action_name, app_name, max_retries = 0, payload, version } = body;
    if (!body.async && body.queue === true) throw ServiceError.of(needsAsync("queue"));
    if (!body.async && max_retries > 0) throw ServiceError.of(needsAsync("max_retries"));
    const target = findVersion(this.#store, projectId, { app: app_name, version });
    if (target === undefined) throw ServiceError.of(appVersionNotFound(app_name, version));
    const actions = target.found.actions.map(({ name }) => name);
    if (!actions.includes(action_name))
      throw ServiceError.of(actionNotFound({ action: action_name, app: app_name, version }, actions));
    this.#requireRoom(projectId);
    const row: InvocationRow = {
      id: createId(),
      projectId,
      deployment: target.deployment,
      // Clients send an empty value for none.
      asked: { app_name, version, action_name, ...(payload !== undefined && payload !== "" && { payload }) },
      startedAt: new Date().toISOString(),
      status: "queued",
      statusReason: undefined,
      output: undefined,
      finishedAt: null,
      events: new EventLog(),
      stop: new AbortController(),
      ended: Promise.withResolvers(),
    };
    this.#store.invocations.push(row);
    this.#announce(row);
    void this.#run(row, body.async ? body.async_timeout_seconds : synchronousSeconds);
    return row;
  }

  existing(projectId: string, id: string): InvocationRow {
    const found = this.#store.invocations.find((row) => row.id === id && row.projectId === projectId);
    if (found === undefined) throw ServiceError.of(invocationNotFound(id));
    return found;
  }

  /** The running sessions, oldest first. */
  browsersOf({ id }: InvocationRow): SessionRow[] {
    return this.#store.sessions.filter(({ ended, invocationId }) => invocationId === id && ended === undefined);
  }

  /** Ends an invocation, unless it has ended already. A failure ends its browsers. */
  end(row: InvocationRow, { output, reason, status }: End): void {
    if (row.finishedAt !== null) return;
    row.status = status;
    row.output = output;
    row.statusReason = reason;
    row.finishedAt = new Date().toISOString();
    if (status === "failed") for (const session of this.browsersOf(row)) endSession(this.#store, session, "deleted");
    row.stop.abort();
    this.#announce(row);
    row.events.close();
    recordEvent(this.#store.webhooks, row.projectId, eventOf(row, status));
    row.ended.resolve(undefined);
  }

  #announce(row: InvocationRow): void {
    const timestamp = row.finishedAt ?? new Date().toISOString();
    row.events.push({ event: "invocation_state", invocation: toInvocation(row), timestamp });
  }

  #requireRoom(projectId: string): void {
    const limit = this.#store.projects.find(({ id }) => id === projectId)?.limits.invocations ?? 0;
    const used = this.#store.invocations.filter((row) => row.projectId === projectId && row.finishedAt === null).length;
    if (limit === 0 || used < limit) return;
    throw ServiceError.of(projectRunsTooManyInvocations({ limit, used }));
  }

  async #run(row: InvocationRow, timeoutSeconds: number): Promise<void> {
    await setImmediate();
    if (row.finishedAt !== null) return;
    row.status = "running";
    this.#announce(row);
    const timer = setTimeout(() => {
      this.end(row, failure(`The action took longer than ${String(timeoutSeconds)} s.`));
    }, timeoutSeconds * 1000);
    // The test's own work keeps the process alive.
    timer.unref();
    try {
      this.end(row, await this.#outcome(row));
    } finally {
      clearTimeout(timer);
    }
  }

  async #outcome(row: InvocationRow): Promise<End> {
    const { app_name, action_name, payload } = row.asked;
    const { signal } = row.stop;
    const action = this.#store.apps.get(app_name)?.[action_name];
    if (action === undefined) {
      let reason: string | undefined;
      const onError = (error: unknown): void => {
        reason = messageOf(error);
      };
      return { ...(await runAction({ ...row.asked, invocation_id: row.id, signal, onError })), reason };
    }
    try {
      const log = (message: string): void => {
        if (row.finishedAt !== null) return;
        const line = { event: "log" as const, message, source: "stdout", timestamp: new Date().toISOString() };
        row.events.push(line);
        row.deployment.events.push(line);
      };
      const parsed: unknown = payload === undefined ? undefined : JSON.parse(payload);
      const returned = await action(parsed, { invocation_id: row.id, signal, log });
      return { status: "succeeded", output: JSON.stringify(returned) };
    } catch (error) {
      return failure(messageOf(error));
    }
  }
}

export function invocationHandlers(store: Store): Handlers<OperationsOf<"invocations">, Access> {
  const invocations = new FakeInvocations(store);
  return {
    createInvocation: async ({ body, context }) => {
      const row = invocations.create(context.projectId, body);
      if (body.async) return withStatus(202, toCreated(row));
      await row.ended.promise;
      return toCreated(row);
    },
    listInvocations: ({ query, context }) => {
      const { action_name, app_name, deployment_id, limit, offset, query: part, since, status, version } = query;
      const from = sinceMs(since) ?? 0;
      const found = store.invocations.filter(
        ({ asked, deployment, id, projectId, startedAt, status: present }) =>
          projectId === context.projectId &&
          Date.parse(startedAt) >= from &&
          (app_name === undefined || asked.app_name === app_name) &&
          (action_name === undefined || asked.action_name === action_name) &&
          (version === undefined || asked.version === version) &&
          (deployment_id === undefined || deployment.id === deployment_id) &&
          (status === undefined || present === status) &&
          (part === undefined || id === part || holds(asked.app_name, part) || holds(asked.action_name, part)),
      );
      return pageOf(found.reverse(), { limit, offset }, toInvocation);
    },
    getInvocation: ({ params, context }) => toInvocation(invocations.existing(context.projectId, params.id)),
    updateInvocation: ({ params, body, context }) => {
      const row = invocations.existing(context.projectId, params.id);
      const output = body.output === "" ? undefined : body.output;
      const cancelled = failure("The invocation was cancelled.");
      invocations.end(
        row,
        body.status === "failed"
          ? { ...cancelled, output: output ?? cancelled.output }
          : { status: body.status, output },
      );
      return toInvocation(row);
    },
    followInvocation: ({ params, query, context, lastEventId }) =>
      invocations
        .existing(context.projectId, params.id)
        .events.read(Number(lastEventId ?? 0) || 0, linesSince(query.since)),
    listInvocationBrowsers: ({ params, context }) => ({
      browsers: invocations
        .browsersOf(invocations.existing(context.projectId, params.id))
        .map((row) => toBrowser(row, context.baseUrl)),
    }),
    deleteInvocationBrowsers: ({ params, context }) => {
      for (const row of invocations.browsersOf(invocations.existing(context.projectId, params.id)))
        endSession(store, row, "deleted");
    },
  };
}
