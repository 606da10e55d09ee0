/** Resolves with `fallback`, or throws it if it is an error, when the signal aborts. */
export async function orAborted<T, F>(
  promise: Promise<T>,
  signal: AbortSignal,
  fallback: F,
): Promise<T | Exclude<F, Error>> {
  promise.catch(() => undefined);
  const aborted = Promise.withResolvers<T | Exclude<F, Error>>();
  const abort = (): void => {
    if (fallback instanceof Error) aborted.reject(fallback);
    else aborted.resolve(fallback as Exclude<F, Error>);
  };
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
