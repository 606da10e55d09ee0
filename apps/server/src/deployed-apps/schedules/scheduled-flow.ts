import type { StartFlowRun } from "@shoal/schemas";
import type * as z from "zod/mini";
import type { Access } from "../../http/auth/access.ts";

export type FlowRunSettings = z.input<typeof StartFlowRun>;

/** What a schedule keeps to start its flow. */
export interface FlowStart {
  readonly key_id: string;
  readonly base_url: string;
  readonly run: FlowRunSettings;
}

export interface FlowToStart {
  readonly flowId: string;
  readonly projectId: string;
  readonly start: FlowStart;
}

/** Runs of flows, for schedules. */
export interface ScheduledFlows {
  /** Whether this server starts runs now. */
  readonly mayStart: () => boolean;
  /** @throws {ServiceError} as `flows.runs.create`, with fields of `flow_run`. */
  readonly check: (
    access: Access,
    of: { readonly flowId: string; readonly run: FlowRunSettings; readonly signal: AbortSignal },
  ) => Promise<void>;
  /** Starts a run with the present rights of the caller of the schedule. @returns its id. @throws {ServiceError} */
  readonly start: (of: FlowToStart) => Promise<string>;
}
