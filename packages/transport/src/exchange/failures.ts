import type { Plan, Settings } from "../request/plan.ts";
import type { KnownFailure } from "../surface/known-failures.ts";
import { ConnectionError, ContractError, TimeoutError } from "../surface/errors.ts";

/** The innermost message: `fetch failed` says nothing, its cause says `connect ECONNREFUSED 127.0.0.1:7777`. */
export function reasonOf(error: unknown): string {
  let reason = "";
  for (let at = error; at instanceof Error; at = at.cause) reason = at.message === "" ? reason : at.message;
  return reason === "" ? "unknown reason" : reason;
}

/**
 * @param what - the start of the message: `profiles.get could not reach http://127.0.0.1:7777`.
 * @param known - replaces the runtime's reason, and names the next step.
 */
export function connectionError(
  settings: Settings,
  what: string,
  error: unknown,
  { hint, reason = reasonOf(error).trim() }: KnownFailure = {},
): ConnectionError {
  const message = `${what}: ${settings.redact(reason)}.`;
  return new ConnectionError(hint === undefined ? message : `${message} ${hint}`, {
    hint,
    ...(isFreeOfSecrets(settings, error) && { cause: error }),
  });
}

/** Of a request that did not reach the service. */
export async function unreachable(settings: Settings, error: unknown, operation: string): Promise<ConnectionError> {
  const known = await import("../surface/known-failures.ts").then(
    ({ knownFailure }) => knownFailure(error),
    // In a page, the file may need the same connection.
    () => undefined,
  );
  return connectionError(settings, `${operation} could not reach ${settings.baseUrl}`, error, known);
}

function isFreeOfSecrets(settings: Settings, error: unknown): boolean {
  try {
    let text = "";
    for (let at = error; at instanceof Error; at = at.cause)
      text += `${at.message}${at.stack ?? ""}${JSON.stringify(at)}`;
    return settings.redact(text) === text;
  } catch {
    // Circular, so it cannot be searched.
    return false;
  }
}

export function contractError(plan: Plan, response: Response, path: string, problem: string): ContractError {
  const requestId = response.headers.get("x-request-id") ?? undefined;
  return new ContractError(
    `${plan.bounds.operation}: the response does not match the contract at ${path}: ${problem}. The versions of client and service may differ.`,
    path,
    requestId,
  );
}

/** @param waitingFor - what did not happen in time: `no response arrived`. @param limit - the option that was reached. */
export function timeoutError(
  operation: string,
  waitingFor: string,
  limit: { readonly timeoutMs: number } | { readonly totalTimeoutMs: number },
): TimeoutError {
  const isTotal = "totalTimeoutMs" in limit;
  const ms = isTotal ? limit.totalTimeoutMs : limit.timeoutMs;
  return new TimeoutError(
    `${operation} timed out after ${ms} ms${isTotal ? " in all" : ""}: ${waitingFor}. Raise ${isTotal ? "totalTimeoutMs" : "timeoutMs"} if it needs longer.`,
    ms,
  );
}

/** Settles like `work`, or rejects with the signal's reason: a custom `fetch` may ignore its signal. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- the caller's own reason
      reject(signal.reason);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => {
      signal.removeEventListener("abort", onAbort);
    });
  });
}
