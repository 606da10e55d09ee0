import { invalid, type Refusal } from "@shoal/contract/refusals";
import type { ErrorBody, ErrorCode, ErrorDetail } from "@shoal/schemas";

const marker = Symbol.for("shoal.error.ServiceError");

/** The parts of an error's message that programs read as data. */
export interface ErrorData {
  /** Path of the invalid field: `body.viewport.height`. The message starts with it. */
  readonly field?: string | undefined;
  /** The limit that the value exceeds, or the accepted values. */
  readonly limit?: number | string | undefined;
  /** The next step, as a sentence. The message ends with it. */
  readonly hint?: string | undefined;
}

export interface ServiceErrorOptions extends ErrorOptions, ErrorData {
  readonly details?: readonly ErrorDetail[];
  readonly retryAfterSeconds?: number;
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** Thrown by a handler to answer with this status and body. Any other error becomes a 500 that hides its message. */
export class ServiceError extends Error implements ErrorData {
  override readonly name = "ServiceError";
  readonly [marker] = true;
  readonly status: number;
  readonly code: ErrorCode;
  /** What failed, without `field` and `hint`. */
  readonly problem: string;
  readonly field: string | undefined;
  readonly limit: number | string | undefined;
  readonly hint: string | undefined;
  readonly details: readonly ErrorDetail[] | undefined;
  /** Seconds, sent as `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;
  /** Further fields of the body, for statuses whose body the endpoint declares. */
  readonly fields: Readonly<Record<string, unknown>> | undefined;

  /** @param problem - what failed. The message adds `options.field` and `options.hint` to it. */
  constructor(status: number, code: ErrorCode, problem: string, options: ServiceErrorOptions = {}) {
    super(composeMessage(problem, options), options);
    this.problem = problem;
    this.status = status;
    this.code = code;
    this.field = options.field;
    this.limit = options.limit;
    this.hint = options.hint;
    this.details = options.details;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.fields = options.fields;
  }

  /** Lists invalid fields in `details` as well. */
  static of(refusal: Refusal, options: ErrorOptions = {}): ServiceError {
    const { status, code, problem, ...data } = refusal;
    const isInvalid = code === "bad_request" && data.field !== undefined;
    return new ServiceError(status, code, problem, {
      ...data,
      ...options,
      ...(isInvalid && { details: [fieldDetail(problem, data)] }),
    });
  }

  /** Unlike `instanceof`, works across two installed copies of this package. */
  static isInstance(error: unknown): error is ServiceError {
    return typeof error === "object" && error !== null && marker in error;
  }

  /** Returns the error body of the contract. */
  toBody(): ErrorBody {
    return {
      ...this.fields,
      code: this.code,
      message: this.message,
      ...dataOf(this),
      ...(this.details && { details: [...this.details] }),
    };
  }
}

/** `field: problem. Hint` */
export function composeMessage(problem: string, { field, hint }: ErrorData): string {
  const located = field === undefined || problem.startsWith(`${field}: `) ? problem : `${field}: ${problem}`;
  if (hint === undefined || located.endsWith(hint)) return located;
  return `${located}${/[.!?]$/.test(located) ? "" : "."} ${hint}`;
}

/** One entry of `details`. */
export function fieldDetail(problem: string, data: ErrorData): ErrorDetail {
  return { code: "invalid_input", message: composeMessage(problem, data), ...dataOf(data) };
}

/**
 * The 400 for input that the schema accepts but the handler does not. @param field - path of the field: `body.name`.
 */
export function badInput(
  field: string,
  problem: string,
  options: ErrorOptions & Omit<ErrorData, "field"> = {},
): ServiceError {
  const { cause, ...data } = options;
  return ServiceError.of(invalid(field, problem, data), cause === undefined ? {} : { cause });
}

function dataOf({ field, hint, limit }: ErrorData): Pick<ErrorBody, "field" | "limit" | "hint"> {
  return {
    ...(field !== undefined && { field }),
    ...(limit !== undefined && { limit }),
    ...(hint !== undefined && { hint }),
  };
}
