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
  /** Code in the response. `http_502` and the like for a response that is not from Shoal, `redirected` for a redirect, which is never followed. */
  readonly code: ErrorCode;
  /** HTTP status; 0 for a redirect that the runtime hides. */
  readonly status: number;
  /** `X-Request-Id` of the response, which is also in the log of the service. */
  readonly requestId: string | undefined;
  /** Whether sending the same request again may succeed. */
  readonly retryable: boolean;
  /** All causes, if the service reported several. */
  readonly details: readonly ErrorDetail[] | undefined;
  /** Milliseconds to wait before the next attempt, if the service sent them. */
  readonly retryAfterMs: number | undefined;
  /** Other scalar fields of the error: the `existing_id` of a conflict. */
  readonly fields: Readonly<Record<string, string | number | boolean | null>>;

  constructor(
    message: string,
    init: Pick<ApiError, "code" | "status" | "requestId" | "retryable"> &
      Partial<Pick<ApiError, "details" | "retryAfterMs" | "fields">>,
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

  /** Unlike `instanceof`, works across two installed copies of this package. */
  static isInstance(error: unknown): error is ApiError {
    return carries(error, apiError);
  }
}

/** The service could not be reached, or the connection broke before the end of the response. `cause` is the error of the runtime. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  readonly [connectionError] = true;
  readonly code = "connection_failed";
  readonly retryable = true;
  /** The next step, which also ends the message, for a cause that the SDK knows. */
  readonly hint: string | undefined;

  constructor(message: string, init: ErrorOptions & { readonly hint?: string | undefined } = {}) {
    super(message, init);
    this.hint = init.hint;
  }

  /** Unlike `instanceof`, works across two installed copies of this package. */
  static isInstance(error: unknown): error is ConnectionError {
    return carries(error, connectionError);
  }
}

/** The response did not arrive, or did not end, in time. */
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

  /** Unlike `instanceof`, works across two installed copies of this package. */
  static isInstance(error: unknown): error is TimeoutError {
    return carries(error, timeoutError);
  }
}

/** The response does not match the contract: the service has another version, or another program answered. Contains no values of the response. */
export class ContractError extends Error {
  override readonly name = "ContractError";
  readonly [contractError] = true;
  readonly code = "contract_mismatch";
  readonly retryable = false;
  /** Place of the mismatch: `body.viewport.height`, `body[3].id`, `headers.content-type`. */
  readonly path: string;
  /** `X-Request-Id` of the response. */
  readonly requestId: string | undefined;

  constructor(message: string, path: string, requestId?: string) {
    super(message);
    this.path = path;
    this.requestId = requestId;
  }

  /** Unlike `instanceof`, works across two installed copies of this package. */
  static isInstance(error: unknown): error is ContractError {
    return carries(error, contractError);
  }
}

/** The errors of this package. A call also rejects with the `reason` of an aborted signal and with a `TypeError` for an invalid argument. */
export type ShoalError = ApiError | ConnectionError | TimeoutError | ContractError;

/** True for the four error classes of this package. */
export function isShoalError(error: unknown): error is ShoalError {
  return (
    ApiError.isInstance(error) ||
    ConnectionError.isInstance(error) ||
    TimeoutError.isInstance(error) ||
    ContractError.isInstance(error)
  );
}
