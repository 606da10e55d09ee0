import ky, { TimeoutError as KyTimeoutError, type KyInstance } from "ky";

// ky's own guard compares names, and so accepts the TimeoutError of this package and of `AbortSignal.timeout`.
export { KyTimeoutError };

/** One instance for all transports. `Exchange` passes itself as `context.exchange`. */
export const api: KyInstance = ky.create({
  // Error statuses become exceptions in `Exchange`, which reads at most 256 KiB of them.
  throwHttpErrors: false,
  hooks: { beforeRetry: [({ options }) => (options.context.exchange as { begin(): Promise<void> }).begin()] },
});
