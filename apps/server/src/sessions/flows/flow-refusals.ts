import type { Refusal } from "@shoal/contract/refusals";

function notFound(problem: string, hint: string): Refusal {
  return { status: 404, code: "not_found", problem, hint };
}

/** Flows of a project. */
export const maxFlows = 1000;

/** 404 for a flow that the caller cannot see. */
export function flowNotFound(id: string): Refusal {
  return notFound(`Flow ${id} was not found in this project.`, "List the flows with flows.list.");
}

/** 404 for a version that a flow does not have, or no longer. */
export function flowVersionNotFound(id: string, version: number): Refusal {
  return notFound(`Flow ${id} has no version ${String(version)}.`, "The service keeps the latest 50 versions.");
}

/** 409 for a flow over the limit of the project. */
export function tooManyFlows(): Refusal {
  return {
    status: 409,
    code: "conflict",
    problem: `This project has ${String(maxFlows)} flows, the limit.`,
    limit: maxFlows,
    hint: "Delete one with flows.delete.",
  };
}

/** 409 for a session without an action that a flow can repeat. */
export function nothingToRecord(browserId: string): Refusal {
  return {
    status: 409,
    code: "conflict",
    problem: `Browser ${browserId} has no action of browsers.act that a flow can repeat`,
    hint: "Act with browsers.act or in a live view first. Actions of CDP clients are not recorded.",
  };
}
