import type { AppVersion, Deployment, DeploymentEvent, Invocation, InvocationEvent, Schedule } from "@shoal/schemas";
import type { AppDescription } from "@shoal/client/app";
import type { EventLog } from "../files/event-log.ts";

/** An invocation of an action in the fake. */
export interface FakeInvocation {
  readonly invocation_id: string;
  /** Aborted when the invocation is cancelled or reaches its timeout. */
  readonly signal: AbortSignal;
  /** Adds a line to the log. */
  log(line: string): void;
}

/**
 * The returned value becomes the output, as JSON; an exception fails the invocation.
 * @param payload - parsed; `undefined` if the request has none.
 */
export type FakeAction = (payload: unknown, invocation: FakeInvocation) => unknown;

export interface DeploymentRow {
  readonly id: string;
  readonly projectId: string;
  /** Label of its versions. */
  readonly version: string;
  readonly shown: Omit<Deployment, "id" | "status" | "status_reason" | "updated_at">;
  status: "queued" | "in_progress" | "running" | "failed" | "stopped";
  statusReason: string | undefined;
  updatedAt: string | undefined;
  isDeleted: boolean;
  /** The versions that it created, also superseded ones. */
  versions: readonly AppVersion[];
  /** With the schedules of their code. */
  apps: readonly AppDescription[];
  events: EventLog<DeploymentEvent>;
}

export interface InvocationRow {
  readonly id: string;
  readonly projectId: string;
  readonly deployment: DeploymentRow;
  readonly asked: Pick<Invocation, "app_name" | "version" | "action_name" | "payload">;
  readonly startedAt: string;
  status: "queued" | "running" | "succeeded" | "failed";
  statusReason: string | undefined;
  output: string | undefined;
  finishedAt: string | null;
  readonly events: EventLog<InvocationEvent>;
  /** Aborted at the end. */
  readonly stop: AbortController;
  /** Not `PromiseWithResolvers`: the types of users' projects may be older than ES2024. */
  readonly ended: { readonly promise: Promise<undefined>; readonly resolve: (value: undefined) => void };
}

export interface ScheduleRow extends Omit<Schedule, "status" | "next_run_at"> {
  readonly projectId: string;
  isPaused: boolean;
}
