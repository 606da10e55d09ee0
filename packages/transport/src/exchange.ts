import { AttemptClock, pause } from "./clock.ts";
import { ApiError, ConnectionError, isShoalError, type ShoalError } from "./errors.ts";
import { errorAnswer, redirected } from "./error-answer.ts";
import type { FailureInfo, RequestInfo } from "./options.ts";
import type { Plan, Settings } from "./plan.ts";
import { delayMs, isRetryable, retryAfterMs } from "./retry.ts";
import type { OpenUpload } from "./upload.ts";

/** Reads a successful answer. It ends the clock when nothing more is to be read. */
export type Consume<T> = (response: Response, clock: AttemptClock) => Promise<T>;

/** What the runtime said, innermost first: `fetch failed` says nothing, its cause `connect ECONNREFUSED 127.0.0.1:7777` does. */
function reasonOf(error: unknown): string {
  let reason = "";
  for (let at = error; at instanceof Error; at = at.cause) reason = at.message === "" ? reason : at.message;
  return reason === "" ? "no reason was given" : reason;
}

/** @param what - what failed, to which the runtime's reason is added. */
export function connectionError(settings: Settings, what: string, error: unknown): ConnectionError {
  return new ConnectionError(`${what}: ${settings.redact(reasonOf(error))}.`, isSafe(settings, error) ? { cause: error } : {});
}

/** Whether an error that came from elsewhere holds no key, in any of its causes and fields. */
function isSafe(settings: Settings, error: unknown): boolean {
  try {
    let text = "";
    for (let at = error; at instanceof Error; at = at.cause) text += `${at.message}${at.stack ?? ""}${JSON.stringify(at)}`;
    return settings.redact(text) === text;
  } catch {
    // It refers to itself, so nobody can tell.
    return false;
  }
}

/**
 * Waits for work on the connection.
 *
 * @param failed - what to say when it breaks: `profiles.get could not reach http://127.0.0.1:7777`.
 * @throws {ConnectionError} when the work fails; the clock's reason when that is why.
 */
export function onConnection<T>(settings: Settings, clock: AttemptClock, failed: string, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = (error?: unknown) => {
      clock.whenAborted(undefined);
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the caller's own reason, whatever it is
      reject(clock.signal.aborted ? clock.signal.reason : connectionError(settings, failed, error));
    };
    // Not every `fetch` that a caller may give listens to the signal.
    clock.whenAborted(fail);
    work.then((value) => {
      clock.whenAborted(undefined);
      resolve(value);
    }, fail);
  });
}

async function send(
  settings: Settings,
  plan: Plan,
  clock: AttemptClock,
  attempt: number,
): Promise<{ response: Response; upload: OpenUpload | undefined }> {
  const { endpoint, url, body, options, timeoutMs } = plan;
  const { fetch: custom } = settings;
  let { headers } = plan;
  let info: RequestInfo | undefined;
  if (settings.hooks !== undefined) {
    info = { operationId: endpoint.operationId, method: endpoint.method, url, headers: new Headers(headers), attempt };
    await settings.hooks.onRequest?.(info);
    headers = Object.fromEntries(info.headers);
  }
  // Set last, so that no hook sees it.
  const wire: Record<string, string> =
    settings.apiKey === undefined || endpoint.auth === "none" ? { ...headers } : { ...headers, authorization: `Bearer ${settings.apiKey}` };

  const waiting = "no answer came";
  clock.limit(timeoutMs, waiting);
  let upload: OpenUpload | undefined;
  if (typeof body === "object") {
    const { sizeBytes } = body;
    upload = await body.open((sentBytes) => {
      clock.limit(timeoutMs, "the upload did not get on");
      options.onUploadProgress?.({ sentBytes, totalBytes: sizeBytes });
    });
    if (sizeBytes !== undefined) wire["content-length"] = String(sizeBytes);
  }
  const startedAt = performance.now();
  let answered = false;
  try {
    const init: RequestInit & { duplex?: "half" } = {
      method: endpoint.method,
      headers: wire,
      body: upload?.body ?? (typeof body === "string" ? body : null),
      // Only a body that is a stream needs it; elsewhere it says nothing.
      ...(upload !== undefined && { duplex: "half" }),
      signal: clock.signal,
      // A redirect would carry project and other headers, in some runtimes the key too, to another address. With "manual" its
      // status can be told; but then Node keeps all that it sends of a stream in memory (https://github.com/nodejs/undici/issues/4058).
      redirect: upload === undefined ? "manual" : "error",
    };
    const request = custom === undefined ? fetch(url, init) : custom(new Request(url, init));
    const response = await onConnection(settings, clock, `${endpoint.operationId} could not reach ${settings.baseUrl}`, request);
    answered = true;
    const durationMs = performance.now() - startedAt;
    settings.logger?.debug(
      {
        operation: endpoint.operationId,
        attempt,
        status: response.status,
        duration_ms: Math.round(durationMs),
        request_id: response.headers.get("x-request-id"),
      },
      "shoal answered",
    );
    const ignored = response.headers.get("x-shoal-ignored-fields");
    if (ignored !== null)
      settings.logger?.warn({ operation: endpoint.operationId, ignored_fields: ignored }, "shoal ignored fields that it does not know");
    if (info !== undefined) await settings.hooks?.onResponse?.({ ...info, status: response.status, responseHeaders: response.headers, durationMs });
    return { response, upload };
  } catch (error) {
    upload?.close();
    const failure = answered ? error : failureOf(settings, plan, upload, error);
    if (info !== undefined && !answered) await tellFailure(settings, { ...info, error: failure, durationMs: performance.now() - startedAt });
    throw failure;
  }
}

/** Why there is no answer: what the upload failed with, rather than the connection that broke for want of its data. */
function failureOf(settings: Settings, plan: Plan, upload: OpenUpload | undefined, error: unknown): unknown {
  const failure = upload?.failure();
  if (failure !== undefined) return failure.error;
  return upload !== undefined && ConnectionError.isInstance(error) && reasonOf(error).includes("unexpected redirect")
    ? redirected(settings, plan)
    : error;
}

async function tellFailure(settings: Settings, failure: FailureInfo): Promise<void> {
  try {
    await settings.hooks?.onFailure?.(failure);
  } catch {
    // The failure itself is what the caller is to see.
  }
}

/** Milliseconds until the next try, or `undefined` when there is to be none. */
function nextTry(plan: Plan, attempt: number, failure: Pick<ApiError, "retryable" | "retryAfterMs">): number | undefined {
  if (attempt > plan.maxRetries || !failure.retryable) return undefined;
  const wait = delayMs(attempt - 1, failure.retryAfterMs);
  const { totalTimeoutMs, startedAt } = plan.bounds;
  const leftMs = totalTimeoutMs === undefined ? Infinity : totalTimeoutMs - (performance.now() - startedAt);
  return wait === undefined || wait >= leftMs ? undefined : wait;
}

/**
 * Sends a request, again where that is safe and may help, and reads the answer.
 *
 * @param raw - take every answer as it is, once the retries are used up.
 */
export async function exchange<T>(settings: Settings, plan: Plan, consume: Consume<T>, raw = false): Promise<T> {
  const { signal, operation } = plan.bounds;
  signal?.throwIfAborted();
  for (let attempt = 1; ; attempt++) {
    const turn = settings.gate.enter(signal);
    if (turn !== undefined) await turn;
    const clock = new AttemptClock(plan.bounds);
    let upload: OpenUpload | undefined;
    let failure: ShoalError;
    try {
      const sent = await send(settings, plan, clock, attempt);
      const { response } = sent;
      upload = sent.upload;
      if (
        response.ok ||
        (raw &&
          nextTry(plan, attempt, { retryable: isRetryable(response.status, response.headers), retryAfterMs: retryAfterMs(response.headers) }) ===
            undefined)
      )
        return await consume(response, clock);
      failure = await errorAnswer(settings, plan, response, clock);
      clock.end();
    } catch (error) {
      clock.end();
      // What is still under way is of no use any more.
      clock.abort(error);
      signal?.throwIfAborted();
      if (!isShoalError(error)) throw error;
      failure = error;
    } finally {
      upload?.close();
      settings.gate.leave();
    }
    const wait = nextTry(plan, attempt, {
      retryable: failure.retryable,
      retryAfterMs: ApiError.isInstance(failure) ? failure.retryAfterMs : undefined,
    });
    if (wait === undefined) throw failure;
    settings.logger?.warn({ operation, attempt, delay_ms: Math.round(wait), code: failure.code }, "shoal call failed, trying again");
    await settings.hooks?.onRetry?.({ operationId: operation, attempt, delayMs: wait, error: failure });
    await pause(wait, signal);
  }
}
