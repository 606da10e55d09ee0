import type { Schema } from "@shoal/schemas";
import { mismatchOf } from "./check.ts";
import type { AttemptClock } from "./clock.ts";
import { ContractError } from "./errors.ts";
import { onConnection } from "./exchange.ts";
import type { Plan, Settings } from "./plan.ts";

/** Says that an answer does not fit, in the way the caller wants it. */
export function contractError(plan: Plan, response: Response, path: string, problem: string): ContractError {
  const requestId = response.headers.get("x-request-id") ?? undefined;
  return new ContractError(`${plan.bounds.operation}: the answer does not fit the contract at ${path}: ${problem}. The service may be of another version than this client.`, path, requestId);
}

/** Checks a value that came from the service. @throws {ContractError} unless the caller does not want that. */
export function checkValue(settings: Settings, plan: Plan, response: Response, checked: { schema: Schema; value: unknown; at: string }): void {
  const validate = plan.options.validate ?? settings.validate ?? "error";
  if (validate === "off") return;
  const mismatch = mismatchOf(checked.schema, checked.value, checked.at);
  if (mismatch === undefined) return;
  const error = contractError(plan, response, mismatch.path, mismatch.problem);
  if (validate === "error") throw error;
  settings.logger?.warn({ operation: plan.bounds.operation, path: error.path, request_id: error.requestId }, error.message);
}

/** Reads a whole body, within the time that one try has. */
export async function readBody(settings: Settings, plan: Plan, response: Response, clock: AttemptClock): Promise<string> {
  clock.limit(plan.timeoutMs, "the answer did not end");
  return onConnection(settings, clock, `${plan.bounds.operation} lost the connection to ${settings.baseUrl} in the middle of the answer`, response.text());
}

/** Reads a body of JSON. @throws {ContractError} when it is none. */
export async function readJson(settings: Settings, plan: Plan, response: Response, clock: AttemptClock): Promise<unknown> {
  const text = await readBody(settings, plan, response, clock);
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    const type = response.headers.get("content-type") ?? "no content type";
    throw contractError(plan, response, "body", text === "" ? `expected JSON, got an empty body (status ${response.status})` : `expected JSON, got something else (${type})`);
  }
}
