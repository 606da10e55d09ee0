import type { Schema } from "@shoal/schemas";
import { mismatchOf } from "./check.ts";
import type { AttemptClock } from "./clock.ts";
import { ContractError } from "./errors.ts";
import { onConnection } from "./exchange.ts";
import type { Plan, Settings } from "./plan.ts";

/** Says that an answer does not fit, in the way the caller wants it. */
export function contractError(plan: Plan, response: Response, path: string, problem: string): ContractError {
  const requestId = response.headers.get("x-request-id") ?? undefined;
  return new ContractError(
    `${plan.bounds.operation}: the answer does not fit the contract at ${path}: ${problem}. The service may be of another version than this client.`,
    path,
    requestId,
  );
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

/** Bytes of an answer that is read whole; lists and log lines are far below. Nothing that answers more, or without end, fills the memory. */
const maxAnswerBytes = 64 * 1024 * 1024;

/** Reads a whole body, within the time that one try has. @throws {ContractError} when it is longer than 64 MiB. */
export async function readBody(settings: Settings, plan: Plan, response: Response, clock: AttemptClock): Promise<string> {
  clock.limit(plan.timeoutMs, "the answer did not end");
  const { headers, body } = response;
  const declared = headers.get("content-length");
  const known = declared !== null && Number(declared) <= maxAnswerBytes && !headers.has("content-encoding");
  // Reading it piece by piece takes longer, so that is for answers that do not say how long they are.
  const reading = known || body === null ? response.text() : textOf(body);
  const text = await onConnection(
    settings,
    clock,
    `${plan.bounds.operation} lost the connection to ${settings.baseUrl} in the middle of the answer`,
    reading,
  );
  if (text === undefined) throw contractError(plan, response, "body", `longer than ${maxAnswerBytes} bytes`);
  return text;
}

/** A body's text, or nothing when it is too long. */
async function textOf(body: ReadableStream<Uint8Array>): Promise<string | undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > maxAnswerBytes) {
      await reader.cancel().catch(() => undefined);
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** Reads a body of JSON. @throws {ContractError} when it is none. */
export async function readJson(settings: Settings, plan: Plan, response: Response, clock: AttemptClock): Promise<unknown> {
  const text = await readBody(settings, plan, response, clock);
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    const type = response.headers.get("content-type") ?? "no content type";
    throw contractError(
      plan,
      response,
      "body",
      text === "" ? `expected JSON, got an empty body (status ${response.status})` : `expected JSON, got something else (${type})`,
    );
  }
}
