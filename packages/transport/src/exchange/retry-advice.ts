/** Parses seconds (`1.5`) or an HTTP date into milliseconds from now. @param date - the `Date` header, from the same clock as an HTTP date. */
function waitIn(header: string, date: string | null): number | undefined {
  const seconds = Number(header);
  const sentAt = Date.parse(date ?? "");
  // The local clock may be wrong or change in between.
  const ms =
    header.trim() === "" || Number.isNaN(seconds)
      ? Date.parse(header) - (Number.isNaN(sentAt) ? Date.now() : sentAt)
      : seconds * 1000;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/** Milliseconds that the service requests. */
export function retryAfterMs(headers: Headers): number | undefined {
  const exact = Number.parseFloat(headers.get("retry-after-ms") ?? "");
  if (exact >= 0) return exact;
  const header = headers.get("retry-after");
  return header === null ? undefined : waitIn(header, headers.get("date"));
}

/** True when the same request may succeed later. `x-should-retry` of the service wins. */
export function isRetryable(status: number, headers: Headers): boolean {
  const advice = headers.get("x-should-retry");
  if (advice === "true") return true;
  if (advice === "false") return false;
  // 501 (not implemented) is permanent.
  return status === 408 || status === 409 || status === 429 || (status >= 500 && status !== 501);
}
