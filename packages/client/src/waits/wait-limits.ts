import type { CallOptions } from "@shoal/transport";

const defaultTimeoutMs = 60_000;

/** Extends the limit of a request that the service answers only after a wait. A limit of the caller stays. */
export function waitingUpTo(seconds: number | undefined, options: CallOptions = {}): CallOptions {
  if (seconds === undefined || seconds === 0 || options.timeoutMs !== undefined) return options;
  return { ...options, timeoutMs: defaultTimeoutMs + seconds * 1000 };
}

/** Limits of one of several requests that wait. @param passedMs - since the first one. */
export function pollLimits(
  seconds: number,
  passedMs: number,
  { timeoutMs = defaultTimeoutMs, totalTimeoutMs }: Pick<CallOptions, "timeoutMs" | "totalTimeoutMs">,
): Pick<CallOptions, "timeoutMs" | "totalTimeoutMs"> {
  return {
    timeoutMs: timeoutMs + seconds * 1000,
    ...(totalTimeoutMs !== undefined && { totalTimeoutMs: Math.max(1, totalTimeoutMs - passedMs) }),
  };
}
