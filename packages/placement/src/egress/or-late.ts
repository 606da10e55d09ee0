/**
 * Calls `onLate` for the result, or for an error to throw, when the signal aborts or the time is over. An own timer,
 * because `AbortSignal.timeout` creates an error with a stack for each request, even long after its end.
 */
export async function orLate<T, F>(
  promise: Promise<T>,
  { ms, signal }: { readonly ms: number; readonly signal?: AbortSignal },
  onLate: () => F,
): Promise<T | F> {
  promise.catch(() => undefined);
  const late = Promise.withResolvers<F>();
  const give = (): void => {
    try {
      late.resolve(onLate());
    } catch (error) {
      late.reject(error);
    }
  };
  const timer = setTimeout(give, ms);
  if (signal?.aborted === true) give();
  signal?.addEventListener("abort", give, { once: true });
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", give);
  }
}
