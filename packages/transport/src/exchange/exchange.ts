import type { ResponsePromise } from "ky";
import type { Plan, Settings } from "../request/plan.ts";
import { isShoalError, type TimeoutError } from "../surface/errors.ts";
import type { FailureInfo, RequestInfo } from "../surface/options.ts";
import { connectionError, timeoutError, unreachable, untilAborted } from "./failures.ts";
import { warnOfIgnoredFields } from "./ignored-fields.ts";
import { pause } from "./pause.ts";
import { delayMs } from "./retry.ts";
import type { UploadAttempt } from "./upload-attempt.ts";

/** Bytes of a body that is read whole; lists and log lines are far smaller. */
const maxBodyBytes = 64 * 1024 * 1024;
/** Longest time that a timer can wait; ky rejects more. */
const maxTimerMs = 2_147_483_647;

export interface Answer {
  readonly response: Response;
  /** Reads the whole body, within `timeoutMs` and 64 MiB. */
  text(): Promise<string>;
}

/** `text`: the caller reads the body with {@link Answer.text}. `stream`: the caller reads `response.body`. `any`: the same, and errors are answers too. */
export type Reading = "text" | "stream" | "any";

let http: typeof import("./api.ts") | undefined;

/** Repeats the request where that is safe and may help, and passes the response to `consume`. */
export async function exchange<T>(
  settings: Settings,
  plan: Plan,
  reading: Reading,
  consume: (answer: Answer) => T | Promise<T>,
): Promise<T> {
  plan.bounds.signal?.throwIfAborted();
  // On the first call, because ky loads Node's fetch, which takes longer than the rest of the import.
  http ??= await import("./api.ts");
  return new Exchange(settings, plan, reading, http).run(consume);
}

/** One call with its attempts. ky does timeouts, retries and delays; this class sends each attempt and decides about retries. */
export class Exchange {
  readonly #settings: Settings;
  readonly #plan: Plan;
  readonly #reading: Reading;
  readonly #http: typeof import("./api.ts");
  #attempt = 0;
  #delayMs = 0;
  #hasPlace = false;
  #isOver = false;
  #info: RequestInfo | undefined;
  #upload: UploadAttempt | undefined;
  /** Ends the message of a timeout. */
  #waitingFor = "no connection was free";
  #waitingSince = Infinity;

  constructor(settings: Settings, plan: Plan, reading: Reading, http: typeof import("./api.ts")) {
    this.#settings = settings;
    this.#plan = plan;
    this.#reading = reading;
    this.#http = http;
  }

  async run<T>(consume: (answer: Answer) => T | Promise<T>): Promise<T> {
    const { signal } = this.#plan.bounds;
    try {
      for (;;) {
        await this.begin();
        const answer = await this.#fetch();
        try {
          return await consume(answer);
        } catch (error) {
          answer.response.body?.cancel().catch(() => undefined);
          signal?.throwIfAborted();
          // ky's part ends with the headers: a truncated body is repeated here.
          if (!(await this.#mayRepeat(error))) throw error;
          await pause(this.#delayMs, signal);
        }
      }
    } finally {
      this.#isOver = true;
      this.#endAttempt();
    }
  }

  /** Starts an attempt, outside its time limit: waits for a free place, then calls the `onRequest` hooks. */
  async begin(): Promise<void> {
    const { gate, hooks } = this.#settings;
    const { endpoint, bounds, url, headers } = this.#plan;
    const turn = gate.enter(bounds.signal);
    if (turn !== undefined) await turn;
    if (this.#isOver) {
      gate.leave();
      return;
    }
    this.#hasPlace = true;
    this.#attempt += 1;
    if (hooks === undefined) return;
    const { operationId, method } = endpoint;
    this.#info = { operationId, method, url, headers: new Headers(headers), attempt: this.#attempt };
    await hooks.onRequest?.(this.#info);
  }

  async #fetch(): Promise<Answer> {
    const { endpoint, url, body, bounds, timeoutMs, maxRetries } = this.#plan;
    const { signal, totalTimeoutMs } = bounds;
    const isUpload = typeof body === "object";
    const answering = this.#http.api(url, {
      method: endpoint.method,
      ...(signal !== undefined && { signal }),
      // With "manual" the status of a redirect is visible, but Node then keeps a streamed body in memory
      // (https://github.com/nodejs/undici/issues/4058).
      redirect: isUpload ? "error" : "manual",
      timeout: isUpload || timeoutMs > maxTimerMs ? false : timeoutMs,
      ...(totalTimeoutMs !== undefined &&
        totalTimeoutMs <= maxTimerMs && { totalTimeout: Math.max(0, this.#leftMs()) }),
      retry: {
        methods: [endpoint.method],
        limit: Math.min(Math.max(0, maxRetries + 1 - this.#attempt), Number.MAX_SAFE_INTEGER),
        shouldRetry: ({ error }) => this.#mayRepeat(this.#failureOf(error)),
        delay: () => this.#delayMs,
      },
      context: { exchange: this },
      fetch: (request) => this.#send(request as Request),
    });
    try {
      return { response: await answering, text: () => this.#readText(answering) };
    } catch (error) {
      throw this.#failureOf(error);
    }
  }

  /** Sends one attempt, up to the headers of the response; of an error, up to the end of its body. */
  async #send(request: Request): Promise<Response> {
    const { operationId } = this.#plan.endpoint;
    const { fetch: custom } = this.#settings;
    const info = this.#info;
    const startedAt = performance.now();
    this.#waitFor("no response arrived");
    let response: Response;
    try {
      const { signal, init } = await this.#contentOf(request);
      response = await (
        custom === undefined ? fetch(request, init) : untilAborted(custom(new Request(request, init)), signal)
      ).catch(async (error: unknown) => {
        throw signal.aborted ? this.#abortReason() : await unreachable(this.#settings, error, operationId);
      });
    } catch (error) {
      const failure = this.#upload === undefined ? error : this.#upload.causeOf(this.#settings, error);
      if (info !== undefined)
        await this.#reportFailure({ ...info, error: failure, durationMs: performance.now() - startedAt });
      throw failure;
    }
    await this.#reportResponse(response, performance.now() - startedAt);
    if (response.ok) {
      if (this.#reading !== "text" || (custom === undefined && hasSafeLength(response))) return response;
      const { withBoundedBody } = await import("./bounded-body.ts");
      return withBoundedBody(this.#plan, response, { maxBytes: maxBodyBytes, signal: request.signal });
    }
    const { adviceOf, errorAnswer } = await import("./error-answer.ts");
    const advice = adviceOf(response);
    if (this.#reading === "any" && this.#delayAfter(advice) === undefined) return response;
    throw await errorAnswer(this.#settings, this.#plan, response, { ...advice, signal: request.signal });
  }

  /**
   * ky does not get headers and body: it clones a request that it may repeat, which would keep an upload in memory, and
   * copies headers three times. The key is added last, so that no hook sees it.
   */
  async #contentOf({ signal }: Request): Promise<{ signal: AbortSignal; init: RequestInit }> {
    const { endpoint, body } = this.#plan;
    const { apiKey } = this.#settings;
    const headers = this.#info === undefined ? { ...this.#plan.headers } : Object.fromEntries(this.#info.headers);
    if (apiKey !== undefined && endpoint.auth !== "none") headers.authorization = `Bearer ${apiKey}`;
    if (body === undefined) return { signal, init: { headers } };
    if (typeof body === "string") return { signal, init: { headers, body } };
    if (body.sizeBytes !== undefined) headers["content-length"] = String(body.sizeBytes);
    const { UploadAttempt } = await import("./upload-attempt.ts");
    const upload = await UploadAttempt.open(this.#plan, body);
    this.#upload = upload;
    const either = AbortSignal.any([signal, upload.signal]);
    const init: RequestInit & { duplex: "half" } = { headers, body: upload.body, duplex: "half", signal: either };
    return { signal: either, init };
  }

  async #readText(answering: ResponsePromise): Promise<string> {
    const { operation, signal } = this.#plan.bounds;
    this.#waitFor("the response did not end");
    this.#upload?.waitForBody();
    try {
      return await answering.text();
    } catch (error) {
      signal?.throwIfAborted();
      if (this.#upload?.signal.aborted === true) throw this.#upload.signal.reason;
      const failure = this.#failureOf(error);
      throw isShoalError(failure)
        ? failure
        : connectionError(
            this.#settings,
            `${operation} lost the connection to ${this.#settings.baseUrl} in the middle of the response`,
            error,
          );
    }
  }

  /** Sets the delay of the next attempt and calls the `onRetry` hooks. */
  async #mayRepeat(error: unknown): Promise<boolean> {
    const { operation, signal } = this.#plan.bounds;
    this.#endAttempt();
    if (signal?.aborted === true || !isShoalError(error)) return false;
    const wait = this.#delayAfter(error);
    if (wait === undefined) return false;
    this.#delayMs = wait;
    const attempt = this.#attempt;
    this.#settings.logger?.warn(
      { operation, attempt, delay_ms: Math.round(wait), code: error.code },
      "shoal call failed, trying again",
    );
    await this.#settings.hooks?.onRetry?.({ operationId: operation, attempt, delayMs: wait, error });
    return true;
  }

  /** Milliseconds until the next attempt; `undefined` when the failure is final. */
  #delayAfter(failure: {
    readonly retryable: boolean;
    readonly retryAfterMs?: number | undefined;
  }): number | undefined {
    if (!failure.retryable || this.#attempt > this.#plan.maxRetries) return undefined;
    const wait = delayMs(this.#attempt - 1, failure.retryAfterMs);
    return wait === undefined || wait >= this.#leftMs() ? undefined : wait;
  }

  #leftMs(): number {
    const { totalTimeoutMs = Infinity, startedAt } = this.#plan.bounds;
    return totalTimeoutMs - (performance.now() - startedAt);
  }

  #waitFor(what: string): void {
    this.#waitingFor = what;
    this.#waitingSince = performance.now();
  }

  #failureOf(error: unknown): unknown {
    return error instanceof this.#http.KyTimeoutError ? this.#timeoutError() : error;
  }

  #timeoutError(): TimeoutError {
    const { bounds, timeoutMs, body } = this.#plan;
    const { operation, totalTimeoutMs = Infinity, startedAt } = bounds;
    const attemptEndsAt = this.#waitingSince + (typeof body === "object" ? Infinity : timeoutMs);
    return timeoutError(
      operation,
      this.#waitingFor,
      startedAt + totalTimeoutMs <= attemptEndsAt ? { totalTimeoutMs } : { timeoutMs },
    );
  }

  #abortReason(): unknown {
    const { signal } = this.#plan.bounds;
    if (signal?.aborted === true) return signal.reason;
    return this.#upload?.signal.aborted === true ? this.#upload.signal.reason : this.#timeoutError();
  }

  async #reportResponse(response: Response, durationMs: number): Promise<void> {
    const { logger, hooks } = this.#settings;
    const { status, headers } = response;
    const operation = this.#plan.bounds.operation;
    logger?.debug(
      {
        operation,
        attempt: this.#attempt,
        status,
        duration_ms: Math.round(durationMs),
        request_id: headers.get("x-request-id"),
      },
      "shoal answered",
    );
    const ignored = headers.get("x-shoal-ignored-fields");
    if (ignored !== null) warnOfIgnoredFields(logger, operation, ignored);
    if (this.#info !== undefined)
      await hooks?.onResponse?.({ ...this.#info, status, responseHeaders: headers, durationMs });
  }

  async #reportFailure(failure: FailureInfo): Promise<void> {
    try {
      await this.#settings.hooks?.onFailure?.(failure);
    } catch {
      // The call rejects with the failure itself.
    }
  }

  #endAttempt(): void {
    this.#upload?.close();
    this.#upload = undefined;
    if (!this.#hasPlace) return;
    this.#hasPlace = false;
    this.#settings.gate.leave();
  }
}

/** True when the `Content-Length` is known and at most 64 MiB, and decompression cannot exceed it. */
function hasSafeLength({ headers }: Response): boolean {
  const declared = headers.get("content-length");
  return declared !== null && Number(declared) <= maxBodyBytes && !headers.has("content-encoding");
}
