import type { ErrorBody, ErrorCode, ErrorDetail } from "@shoal/schemas";

const marker = Symbol.for("shoal.error.ServiceError");

/** Thrown by a handler: the answer is an error with this status and body. Anything else that a handler throws is a 500 without its message. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly [marker] = true;
  readonly status: number;
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[] | undefined;
  /** Seconds, sent as `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;
  /** What the body says beside the common fields, where the endpoint declares a body of its own for the status. */
  readonly fields: Readonly<Record<string, unknown>> | undefined;

  constructor(
    status: number,
    code: ErrorCode,
    message: string,
    options: ErrorOptions & { details?: readonly ErrorDetail[]; retryAfterSeconds?: number; fields?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(message, options);
    this.status = status;
    this.code = code;
    this.details = options.details;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.fields = options.fields;
  }

  /** Unlike `instanceof`, holds across two installed copies of this package. */
  static isInstance(error: unknown): error is ServiceError {
    return typeof error === "object" && error !== null && marker in error;
  }

  /** The body that goes over the wire. */
  toBody(): ErrorBody {
    return { ...this.fields, code: this.code, message: this.message, ...(this.details && { details: [...this.details] }) };
  }
}

/** The 400 for input that only whoever works with it can tell is wrong: as the contract's own checks make it. @param message - begins with the field, `body.name: …`. */
export function badInput(message: string, options: ErrorOptions = {}): ServiceError {
  return new ServiceError(400, "bad_request", message, { ...options, details: [{ code: "invalid_input", message }] });
}
