import { contract } from "@shoal/contract";
import { outsidePolicy } from "@shoal/contract/refusals";
import type { Role } from "@shoal/contract/rights";
import { ServiceError } from "@shoal/router";
import { StartFlowRun } from "@shoal/schemas";
import type { Access, PresentAccess } from "../../../http/auth/access.ts";
import { refuseWithoutRights } from "../../../http/auth/rights.ts";
import type { Flows } from "../flows.ts";
import type { FlowRunner } from "./flow-runner.ts";
import { within } from "./run-refusals.ts";
import type { ScheduledRun } from "./run-store.ts";

/** A flow that a schedule starts. */
export interface FlowToStart {
  readonly flowId: string;
  readonly projectId: string;
  readonly scheduled: ScheduledRun;
  readonly start: {
    readonly base_url: string;
    /** The key of the caller of the schedule. */
    readonly key_id: string;
    /** Of the caller, if it was a person. */
    readonly role?: Role;
    /** Input of `flows.runs.create`. */
    readonly run: unknown;
  };
}

interface ScheduledRunsParts {
  readonly flows: Pick<Flows, "get">;
  readonly runner: Pick<FlowRunner, "check" | "start">;
  readonly presentAccess: PresentAccess;
  readonly isDraining: () => boolean;
}

/** Runs of flows that schedules start. */
export class ScheduledRuns {
  readonly #parts: ScheduledRunsParts;

  constructor(parts: ScheduledRunsParts) {
    this.#parts = parts;
  }

  /** Whether this server starts runs now. */
  mayStart(): boolean {
    return !this.#parts.isDraining();
  }

  /** @throws {ServiceError} as `flows.runs.create`, with fields of `flow_run`. */
  async check(
    access: Access,
    { flowId, run, signal }: { readonly flowId: string; readonly run: unknown; readonly signal: AbortSignal },
  ): Promise<void> {
    const request = StartFlowRun.parse(run);
    requireRightToRun(access);
    const flow = await this.#parts.flows.get(access.projectId, flowId, request.version);
    await this.#parts.runner.check(access, { flow, request, session: undefined, signal }).catch((error: unknown) => {
      throw within(error, "flow_run");
    });
  }

  /** With the present rights of the key. Removes the problem of the schedule. @throws {ServiceError} */
  async start({ flowId, projectId, scheduled, start }: FlowToStart, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { base_url: baseUrl, key_id: keyId, role, run } = start;
    const present = await this.#parts.presentAccess({ key: { id: keyId }, projectId, baseUrl, role } as Access);
    const access: Access = { ...present, baseUrl, namedProjectId: undefined };
    requireRightToRun(access);
    const request = StartFlowRun.parse(run);
    const flow = await this.#parts.flows.get(projectId, flowId, request.version);
    signal.throwIfAborted();
    await this.#parts.runner.start(access, { flow, request, scheduled, session: undefined, signal });
  }
}

/** @throws {ServiceError} 403. */
function requireRightToRun(access: Access): void {
  const { startFlowRun } = contract;
  const { key, projectId } = access;
  refuseWithoutRights(access, startFlowRun);
  if (key.policy !== undefined && key.policy.permit(startFlowRun, projectId) === undefined)
    throw ServiceError.of(outsidePolicy(startFlowRun.operationId, undefined));
}
