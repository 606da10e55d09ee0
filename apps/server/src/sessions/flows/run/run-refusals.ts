import { invalid, type Refusal } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";

/** 404 for a run that the flow does not have, or no longer. */
export function flowRunNotFound(id: string): Refusal {
  return {
    status: 404,
    code: "not_found",
    problem: `Run ${id} of this flow was not found.`,
    hint: "List the runs with flows.runs.list. The latest 200 are kept.",
  };
}

/** 404 for a step without a picture. */
export function noRunPicture(id: string): Refusal {
  return {
    status: 404,
    code: "not_found",
    problem: `Run ${id} has no picture of this step.`,
    hint: "Steps whose divergence has has_picture have one: see flows.runs.get. The latest 20 runs of a flow keep 10 each, and none is taken where a page may show a stored value.",
  };
}

/** 409 for a run over the limit of a server. */
export function tooManyRows(limit: number): Refusal {
  return {
    status: 409,
    code: "conflict",
    problem: `${String(limit)} rows of this project run or wait on this server, the limit.`,
    limit,
    hint: "Wait until a run has ended: flows.runs.get with wait_seconds.",
  };
}

/** 400 for a value of a parameter. @param at - `parameters` or `table[2]`. */
export function badValue(at: string, name: string, problem: string, hint?: string): Refusal {
  return invalid(`body.${at}.${name}`, problem, hint === undefined ? {} : { hint });
}

/** 403 for a caller without the right to stored values. */
export const needsSecrets = {
  status: 403,
  code: "forbidden",
  problem: "The flow types stored values, and the caller has no right to them.",
  hint: "Use the key of an administrator, or a key with operation:credentials.use",
} as const satisfies Refusal;

/** 409 for a run whose schedule was deleted, or has come to a later time. */
export function notExpected(scheduleId: string): Refusal {
  return {
    status: 409,
    code: "conflict",
    problem: `Schedule ${scheduleId} no longer expects this run: it was deleted, or its next time came first.`,
  };
}

/** 409 for a session in which another run acts. */
export function sessionInRun(sessionId: string): Refusal {
  return {
    status: 409,
    code: "conflict",
    problem: `A run of a flow acts in browser ${sessionId}`,
    field: "body.session",
    hint: "Wait for its end with flows.runs.get, or cancel it with flows.runs.cancel.",
  };
}

/** Names a field of a body as the field of an object in the body. */
export function within(error: unknown, place: string): unknown {
  if (!ServiceError.isInstance(error) || error.field?.startsWith("body.") !== true) return error;
  const { code, hint, limit, problem, status } = error;
  const field = error.field.replace("body.", `body.${place}.`);
  return ServiceError.of(
    { status, code, problem, field, ...(limit !== undefined && { limit }), ...(hint !== undefined && { hint }) },
    { cause: error },
  );
}
