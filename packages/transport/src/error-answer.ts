import type { ErrorDetail } from "@shoal/schemas";
import type { AttemptClock } from "./clock.ts";
import { ApiError } from "./errors.ts";
import type { Plan, Settings } from "./plan.ts";
import { isRetryable, retryAfterMs } from "./retry.ts";

const maxErrorBytes = 256 * 1024;

/** The beginning of a body. What broke, or is too long, is left out: the status says enough. */
async function beginningOf(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  try {
    while (bytes < maxErrorBytes) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      bytes += value.byteLength;
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    return text;
  }
  await reader.cancel().catch(() => undefined);
  return text;
}

function objectIn(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function detailsIn(settings: Settings, value: unknown): ErrorDetail[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value
    .filter((detail): detail is Record<string, unknown> => typeof detail === "object" && detail !== null)
    .map(({ code, message }) => ({
      ...(typeof code === "string" && { code }),
      ...(typeof message === "string" && { message: settings.redact(message) }),
    }));
}

function fieldsIn(settings: Settings, body: Record<string, unknown>): ApiError["fields"] {
  const fields: [string, string | number | boolean | null][] = [];
  for (const [name, value] of Object.entries(body)) {
    if (typeof value === "string") fields.push([settings.redact(name), settings.redact(value)]);
    else if (typeof value === "number" || typeof value === "boolean" || value === null) fields.push([settings.redact(name), value]);
  }
  return Object.fromEntries(fields);
}

/** Where a redirect leads, without what may be secret in it. */
function targetOf(response: Response, url: string): string {
  try {
    const target = new URL(response.headers.get("location") ?? "", url);
    return target.origin + target.pathname;
  } catch {
    return "another address";
  }
}

/** The error for a redirect. @param response - where the runtime shows it. */
export function redirected(settings: Settings, plan: Plan, response?: Response): ApiError {
  const target = response?.headers.has("location") === true ? targetOf(response, plan.url) : "another address";
  const message = `${plan.bounds.operation} was redirected from ${settings.baseUrl} to ${target}. Redirects are not followed, for they would carry the key elsewhere; set baseUrl to the service's own address.`;
  const requestId = response?.headers.get("x-request-id") ?? undefined;
  return new ApiError(settings.redact(message), { code: "redirected", status: response?.status ?? 0, requestId, retryable: false });
}

/** Reads the error with which the service ends an event stream. It is not retried: the service ended the stream on purpose. */
export function errorEvent(settings: Settings, plan: Plan, response: Response, data: string): ApiError {
  const { code, message, status, details, ...rest } = objectIn(data);
  const fallback = `${plan.bounds.operation} was ended by ${settings.baseUrl} with an error event.`;
  return new ApiError(settings.redact(typeof message === "string" && message !== "" ? message : fallback), {
    code: typeof code === "string" && code !== "" ? settings.redact(code) : "internal_error",
    status: typeof status === "number" ? status : response.status,
    requestId: response.headers.get("x-request-id") ?? undefined,
    retryable: false,
    details: detailsIn(settings, details),
    fields: fieldsIn(settings, rest),
  });
}

/** The error that an answer means. */
export async function errorAnswer(settings: Settings, plan: Plan, response: Response, clock: AttemptClock): Promise<ApiError> {
  const { status, headers } = response;
  const { operation } = plan.bounds;
  const requestId = headers.get("x-request-id") ?? undefined;
  // A page hides the status of a redirect that it does not follow.
  if (response.type === "opaqueredirect" || (status >= 300 && status < 400)) {
    await response.body?.cancel().catch(() => undefined);
    return redirected(settings, plan, response);
  }
  clock.limit(plan.timeoutMs, "the error's body did not end");
  const { code, message, details, ...rest } = objectIn(await beginningOf(response));
  clock.signal.throwIfAborted();
  const fallback = `${operation} got status ${status} from ${settings.baseUrl} without an error of the service (${headers.get("content-type") ?? "no content type"}); a proxy, or another program, may have answered.`;
  return new ApiError(settings.redact(typeof message === "string" && message !== "" ? message : fallback), {
    code: typeof code === "string" && code !== "" ? settings.redact(code) : `http_${status}`,
    status,
    requestId,
    retryable: isRetryable(status, headers),
    details: detailsIn(settings, details),
    fields: fieldsIn(settings, rest),
    retryAfterMs: retryAfterMs(headers),
  });
}
