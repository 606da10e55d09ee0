export class ExitError extends Error {
  override readonly name = "ExitError";
  readonly status: number;
  readonly hint: string | undefined;
  constructor(status: number, message: string, hint?: string) {
    super(message);
    this.status = status;
    this.hint = hint;
  }
}

/** The message names the flag; the exit status is 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
