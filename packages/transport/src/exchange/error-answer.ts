import type { ErrorDetail } from "@shoal/schemas";
import { ApiError } from "../surface/errors.ts";
import { isRetryable, retryAfterMs } from "./retry-advice.ts";
import type { Plan, Settings } from "../request/plan.ts";

const maxErrorBytes = 256 * 1024;

/** At most 256 KiB. Ignores a broken connection, because the status suffices. */
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
    .map(({ code, field, hint, limit, message }) => ({
      ...(typeof code === "string" && { code }),
      ...(typeof message === "string" && { message: settings.redact(message) }),
      ...(typeof field === "string" && { field: settings.redact(field) }),
      ...(typeof limit === "string" && { limit: settings.redact(limit) }),
      ...(typeof limit === "number" && { limit }),
      ...(typeof hint === "string" && { hint: settings.redact(hint) }),
    }));
}

function fieldsIn(settings: Settings, body: Record<string, unknown>): ApiError["fields"] {
  const fields: [string, string | number | boolean | null][] = [];
  for (const [name, value] of Object.entries(body)) {
    if (typeof value === "string") fields.push([settings.redact(name), settings.redact(value)]);
    else if (typeof value === "number" || typeof value === "boolean" || value === null)
      fields.push([settings.redact(name), value]);
  }
  return Object.fromEntries(fields);
}

/** Without its query, which may contain secrets. */
function targetOf(response: Response, url: string): string {
  try {
    const target = new URL(response.headers.get("location") ?? "", url);
    return target.origin + target.pathname;
  } catch {
    return "another address";
  }
}

/** @param response - undefined where the runtime hides it. */
export function redirected(settings: Settings, plan: Plan, response?: Response): ApiError {
  const target = response?.headers.has("location") === true ? targetOf(response, plan.url) : "another address";
  const message = `${plan.bounds.operation} was redirected from ${settings.baseUrl} to ${target}. Redirects are not followed; set baseUrl to that address if you trust it.`;
  const requestId = response?.headers.get("x-request-id") ?? undefined;
  const status = response?.status ?? 0;
  return new ApiError(settings.redact(message), { code: "redirected", status, requestId, retryable: false });
}

/** Not retryable, because the service ended the stream on purpose. */
export function errorEvent(settings: Settings, plan: Plan, response: Response, data: string): ApiError {
  const { code, message, status, details, ...rest } = objectIn(data);
  const fallback = `${plan.bounds.operation} was ended by ${settings.baseUrl} with an error.`;
  return new ApiError(settings.redact(typeof message === "string" && message !== "" ? message : fallback), {
    code: typeof code === "string" && code !== "" ? settings.redact(code) : "internal_error",
    status: typeof status === "number" ? status : response.status,
    requestId: response.headers.get("x-request-id") ?? undefined,
    retryable: false,
    details: detailsIn(settings, details),
    fields: fieldsIn(settings, rest),
  });
}

/** Whether the request may be repeated, and after which delay. */
export function adviceOf({ status, headers }: Response): Pick<ApiError, "retryable" | "retryAfterMs"> {
  return { retryable: isRetryable(status, headers), retryAfterMs: retryAfterMs(headers) };
}

/** Reads the body of an error response. */
export async function errorAnswer(
  settings: Settings,
  plan: Plan,
  response: Response,
  { signal, ...retry }: Pick<ApiError, "retryable" | "retryAfterMs"> & { readonly signal: AbortSignal },
): Promise<ApiError> {
  const { status, headers } = response;
  const { operation } = plan.bounds;
  const requestId = headers.get("x-request-id") ?? undefined;
  // Web pages hide the status of a redirect.
  if (response.type === "opaqueredirect" || (status >= 300 && status < 400)) {
    await response.body?.cancel().catch(() => undefined);
    return redirected(settings, plan, response);
  }
  const { code, message, details, ...rest } = objectIn(await beginningOf(response));
  signal.throwIfAborted();
  const fallback = `${operation} got status ${status} from ${settings.baseUrl} without a Shoal error (${headers.get("content-type") ?? "no content type"}). A proxy or another program may have answered.`;
  return new ApiError(settings.redact(typeof message === "string" && message !== "" ? message : fallback), {
    code: typeof code === "string" && code !== "" ? settings.redact(code) : `http_${status}`,
    status,
    requestId,
    ...retry,
    details: detailsIn(settings, details),
    fields: fieldsIn(settings, rest),
  });
}
