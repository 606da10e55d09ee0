/** A secret store refused or did not answer. The message is for people, without secrets. */
export class ProviderFailure extends Error {
  override readonly name = "ProviderFailure";
  /** HTTP status of the answer. */
  readonly status: number | undefined;
  /** Requests before that time are useless. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    {
      cause,
      retryAfterMs,
      status,
    }: ErrorOptions & { readonly status?: number; readonly retryAfterMs?: number | undefined } = {},
  ) {
    super(message, { cause });
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}
