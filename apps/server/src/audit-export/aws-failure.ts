/** A service refused, or gave no answer. The message may be shown to whoever manages the destination: it holds no secret. */
export class AwsFailure extends Error {
  override readonly name = "AwsFailure";
  /** HTTP status of the answer; `undefined` when there was none. */
  readonly status: number | undefined;

  constructor(message: string, options: ErrorOptions & { readonly status?: number } = {}) {
    super(message, options);
    this.status = options.status;
  }
}
