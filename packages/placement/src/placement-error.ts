const marker = Symbol.for("shoal.error.PlacementError");

/**
 * - `no_chromium`: no browser was found, or the one that was asked for is missing.
 * - `no_isolation`: the sandbox was asked for and this host cannot make one.
 * - `bad_option`: an option makes no sense; the message names it.
 * - `start_failed`: an instance did not become ready.
 * - `instance_lost`: the instance ended or cannot be reached.
 * - `no_space`: the disk of the sessions' files is full, or nearly.
 * - `closed`: the placement was closed.
 */
export type PlacementErrorCode = "no_chromium" | "no_isolation" | "bad_option" | "start_failed" | "instance_lost" | "no_space" | "closed";

/** What a placement rejects with, an abort excepted, which passes through as the caller's `signal.reason`. The message ends with a way out where there is one. */
export class PlacementError extends Error {
  override readonly name = "PlacementError";
  readonly [marker] = true;
  readonly code: PlacementErrorCode;

  constructor(code: PlacementErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /** Unlike `instanceof`, holds across two installed copies of this package. */
  static isInstance(error: unknown): error is PlacementError {
    return typeof error === "object" && error !== null && marker in error;
  }
}
