const marker = Symbol.for("shoal.error.PlacementError");

/**
 * `restore_failed`: CRIU could not restore the processes of a copy, which it may never be able to do here.
 * `no_isolation`: this host does not support the required sandbox. `instance_lost`: it ended or cannot be reached.
 * `no_capacity`: a cluster has no room for another instance now. `unavailable`: its API server does not answer.
 */
export type PlacementErrorCode =
  | "no_chromium"
  | "no_isolation"
  | "bad_option"
  | "start_failed"
  | "restore_failed"
  | "instance_lost"
  | "no_space"
  | "no_capacity"
  | "unavailable"
  | "closed";

export interface PlacementErrorOptions extends ErrorOptions {
  /** When the same call may succeed. */
  readonly retryAfterSeconds?: number;
}

/** Aborts reject with the caller's `signal.reason` instead. */
export class PlacementError extends Error {
  override readonly name = "PlacementError";
  readonly [marker] = true;
  readonly code: PlacementErrorCode;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: PlacementErrorCode, message: string, options?: PlacementErrorOptions) {
    super(message, options);
    this.code = code;
    this.retryAfterSeconds = options?.retryAfterSeconds;
  }

  /** Unlike `instanceof`, works across two installed copies of this package. */
  static isInstance(error: unknown): error is PlacementError {
    return typeof error === "object" && error !== null && marker in error;
  }
}
