import type { Schema } from "@shoal/schemas";
import type { Answer } from "../exchange/exchange.ts";
import { contractError } from "../exchange/failures.ts";
import type { Plan, Settings } from "../request/plan.ts";
import { mismatchOf } from "./check.ts";

/** Checks a value of a response. @throws {ContractError} when `validate` is `error`. */
export function checkValue(
  settings: Settings,
  plan: Plan,
  response: Response,
  checked: { schema: Schema; value: unknown; at: string },
): void {
  const validate = plan.options.validate ?? settings.validate ?? "error";
  if (validate === "off") return;
  const mismatch = mismatchOf(checked.schema, checked.value, checked.at);
  if (mismatch === undefined) return;
  const error = contractError(plan, response, mismatch.path, mismatch.problem);
  if (validate === "error") throw error;
  settings.logger?.warn(
    { operation: plan.bounds.operation, path: error.path, request_id: error.requestId },
    error.message,
  );
}

/** @throws {ContractError} when the body is not JSON. */
export async function readJson(plan: Plan, answer: Answer): Promise<unknown> {
  const { response } = answer;
  const text = await answer.text();
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    const type = response.headers.get("content-type") ?? "no content type";
    const problem = text === "" ? `an empty body (status ${response.status})` : `something else (${type})`;
    throw contractError(plan, response, "body", `expected JSON, got ${problem}`);
  }
}
