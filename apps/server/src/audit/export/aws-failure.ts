/** The message contains no secret; API responses show it. */
export class AwsFailure extends Error {
  override readonly name = "AwsFailure";
  /** `undefined` when the service did not answer. */
  readonly status: number | undefined;

  constructor(message: string, options: ErrorOptions & { readonly status?: number } = {}) {
    super(message, options);
    this.status = options.status;
  }
}
