import type { ErrorCode } from "@shoal/schemas";

/** A fault of a call. Several fields apply in this order. */
export interface Fault {
  /** Delay in milliseconds before anything else. */
  readonly delayMs?: number;
  /** Answers with this status, 400 to 599, and the usual error body. */
  readonly status?: number;
  /** The error's code; default for the status if absent. */
  readonly code?: ErrorCode;
  readonly message?: string;
  /** Seconds, sent as `Retry-After`. */
  readonly retryAfterSeconds?: number;
  /**
   * Closes the connection: before the call, after it takes effect but before its answer, or in the middle of a stream.
   */
  readonly cut?: "before" | "answer" | { readonly afterEvents: number } | { readonly afterBytes: number };
  /** Number of affected calls; default 1. */
  readonly times?: number;
}

const codes: Readonly<Record<number, ErrorCode>> = {
  400: "bad_request",
  401: "unauthorized",
  403: "forbidden",
  404: "not_found",
  409: "conflict",
  413: "payload_too_large",
  429: "too_many_requests",
  501: "not_implemented",
  503: "shutting_down",
  507: "insufficient_storage",
  529: "capacity_exhausted",
};

export function codeOf({ code, status = 500 }: Fault): ErrorCode {
  return code ?? codes[status] ?? (status >= 500 ? "internal_error" : "bad_request");
}

export class Faults {
  readonly #waiting = new Map<string, { readonly fault: Fault; left: number }[]>();

  /** @throws {RangeError} for a status below 400 or above 599. */
  add(operationId: string, fault: Fault): void {
    if (fault.status !== undefined && (!Number.isInteger(fault.status) || fault.status < 400 || fault.status > 599))
      throw new RangeError(`fault.status: expected 400 to 599, got ${fault.status}`);
    const queue = this.#waiting.get(operationId) ?? [];
    queue.push({ fault, left: fault.times ?? 1 });
    this.#waiting.set(operationId, queue);
  }

  take(operationId: string): Fault | undefined {
    const queue = this.#waiting.get(operationId) ?? [];
    const first = queue[0];
    if (first === undefined) return undefined;
    if (--first.left <= 0) queue.shift();
    return first.fault;
  }

  clear(): void {
    this.#waiting.clear();
  }
}
