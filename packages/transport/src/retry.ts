const maxWaitMs = 60_000;

/** Seconds (`1.5`) or an HTTP date; milliseconds from now. @param date - when the answer was sent, by the clock that the header goes by. */
function waitIn(header: string, date: string | null): number | undefined {
  const seconds = Number(header);
  const sentAt = Date.parse(date ?? "");
  // This machine's clock may be wrong, or be set in between.
  const ms = header.trim() === "" || Number.isNaN(seconds) ? Date.parse(header) - (Number.isNaN(sentAt) ? Date.now() : sentAt) : seconds * 1000;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/** How long the service asks to wait, in milliseconds. */
export function retryAfterMs(headers: Headers): number | undefined {
  const exact = Number.parseFloat(headers.get("retry-after-ms") ?? "");
  if (exact >= 0) return exact;
  const header = headers.get("retry-after");
  return header === null ? undefined : waitIn(header, headers.get("date"));
}

/** Whether the same request may succeed later. The service's `x-should-retry` wins. */
export function isRetryable(status: number, headers: Headers): boolean {
  const advice = headers.get("x-should-retry");
  if (advice === "true") return true;
  if (advice === "false") return false;
  // 501: what is not implemented now is not implemented in a second.
  return status === 408 || status === 409 || status === 429 || (status >= 500 && status !== 501);
}

/** 0.5 s, 1 s, 2 s, … 8 s, less up to a quarter, so that clients which failed together do not come back together. */
export function backoffMs(retries: number): number {
  return Math.min(500 * 2 ** retries, 8000) * (1 - Math.random() / 4);
}

/** How long to wait before the next try; `undefined` when the service asks for more than a minute: such a wait is the caller's to decide. */
export function delayMs(retries: number, askedMs: number | undefined): number | undefined {
  if (askedMs === undefined) return backoffMs(retries);
  return askedMs > maxWaitMs ? undefined : askedMs;
}
