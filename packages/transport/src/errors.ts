import type { ErrorCode, ErrorDetail } from "@shoal/schemas";

const apiError = Symbol.for("shoal.error.ApiError");
const connectionError = Symbol.for("shoal.error.ConnectionError");
const timeoutError = Symbol.for("shoal.error.TimeoutError");
const contractError = Symbol.for("shoal.error.ContractError");

function carries(error: unknown, marker: symbol): boolean {
  return typeof error === "object" && error !== null && marker in error;
}

/** The service answered with an error. Narrow on `code`; `status` is for logs. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly [apiError] = true;
  /** From the error's body: known codes complete in the editor, new ones do not break. `http_502` where the answer did not come from Shoal, `redirected` for a redirect, which is never followed. */
  readonly code: ErrorCode;
  /** HTTP status; 0 for a redirect that the runtime does not show. */
  readonly status: number;
  /** The answer's `X-Request-Id`; the service's log has the same. */
  readonly requestId: string | undefined;
  /** Whether sending the same request again may succeed. */
  readonly retryable: boolean;
  /** Every cause that the service named, where there are several. */
  readonly details: readonly ErrorDetail[] | undefined;
  /** How long the service asked to wait before the next try, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** What the error's body says beyond code, message and details, as far as it is no list or object: the `existing_id` of a conflict. */
  readonly fields: Readonly<Record<string, string | number | boolean | null>>;

  constructor(
    message: string,
    init: Pick<ApiError, "code" | "status" | "requestId" | "retryable"> & Partial<Pick<ApiError, "details" | "retryAfterMs" | "fields">>,
  ) {
    super(message);
    this.code = init.code;
    this.status = init.status;
    this.requestId = init.requestId;
    this.retryable = init.retryable;
    this.details = init.details;
    this.retryAfterMs = init.retryAfterMs;
    this.fields = init.fields ?? {};
  }

  /** Unlike `instanceof`, holds across two installed copies of this package. */
  static isInstance(error: unknown): error is ApiError {
    return carries(error, apiError);
  }
}

/** The service could not be reached, or the connection broke before the answer was complete. `cause` is what the runtime said. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  readonly [connectionError] = true;
  readonly code = "connection_failed";
  readonly retryable = true;

  /** Unlike `instanceof`, holds across two installed copies of this package. */
  static isInstance(error: unknown): error is ConnectionError {
    return carries(error, connectionError);
  }
}

/** The answer did not come, or did not end, in time. */
export class TimeoutError extends Error {
  override readonly name = "TimeoutError";
  readonly [timeoutError] = true;
  readonly code = "timeout";
  readonly retryable = true;
  /** The limit that was reached, in milliseconds. */
  readonly timeoutMs: number;

  constructor(message: string, timeoutMs: number) {
    super(message);
    this.timeoutMs = timeoutMs;
  }

  /** Unlike `instanceof`, holds across two installed copies of this package. */
  static isInstance(error: unknown): error is TimeoutError {
    return carries(error, timeoutError);
  }
}

/** The service answered with something that does not fit the contract: another version, or another program, is at the address. Never holds values of the answer. */
export class ContractError extends Error {
  override readonly name = "ContractError";
  readonly [contractError] = true;
  readonly code = "contract_mismatch";
  readonly retryable = false;
  /** Where the answer does not fit: `body.viewport.height`, `body[3].id`, `headers.content-type`. */
  readonly path: string;
  /** The answer's `X-Request-Id`. */
  readonly requestId: string | undefined;

  constructor(message: string, path: string, requestId?: string) {
    super(message);
    this.path = path;
    this.requestId = requestId;
  }

  /** Unlike `instanceof`, holds across two installed copies of this package. */
  static isInstance(error: unknown): error is ContractError {
    return carries(error, contractError);
  }
}

/** What a call rejects with, but for an abort (the caller's own `signal.reason`) and a wrong argument (`TypeError`). */
export type ShoalError = ApiError | ConnectionError | TimeoutError | ContractError;

/** Whether an error is one of the four that this package throws. */
export function isShoalError(error: unknown): error is ShoalError {
  return ApiError.isInstance(error) || ConnectionError.isInstance(error) || TimeoutError.isInstance(error) || ContractError.isInstance(error);
}
