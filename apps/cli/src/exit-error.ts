/** A failure with an exit status of its own. */
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
