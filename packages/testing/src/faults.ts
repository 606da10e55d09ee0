import { ServiceError, type BytesReply, type StreamFrame } from "@shoal/router";
import type { ErrorCode } from "@shoal/schemas";
import { Readable } from "node:stream";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import type { RecordedCall } from "./calls.ts";

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

/** Applies the faults that precede the call. A client that gives up ends a delay. */
export async function failEarly(
  fault: Fault,
  operationId: string,
  { closed, drop }: Pick<RecordedCall, "closed" | "drop">,
): Promise<void> {
  if (fault.delayMs !== undefined) await sleep(fault.delayMs, undefined, { signal: closed() });
  if (fault.status !== undefined) {
    const { message = `${operationId} was set to fail (failNext).`, retryAfterSeconds, status } = fault;
    throw new ServiceError(
      status,
      fault.code ?? codes[status] ?? (status >= 500 ? "internal_error" : "bad_request"),
      message,
      retryAfterSeconds === undefined ? {} : { retryAfterSeconds },
    );
  }
  if (fault.cut === "before") {
    drop();
    throw new Error("The connection was cut (failNext).");
  }
}

/** Cuts a handler's result as its fault says. @param drop - closes the connection. */
export function cutLate(result: unknown, fault: Fault | undefined, drop: () => void): unknown {
  const { cut } = fault ?? {};
  if (cut === undefined || cut === "before") return result;
  if (cut === "answer") {
    drop();
    throw new Error("The connection was cut (failNext).");
  }
  if ("afterEvents" in cut) return isEvents(result) ? cutEvents(result, cut.afterEvents) : result;
  return isBytes(result) ? { ...result, stream: cutBytes(result.stream, cut.afterBytes) } : result;
}

function isEvents(result: unknown): result is AsyncIterable<StreamFrame<unknown>> {
  return typeof result === "object" && result !== null && Symbol.asyncIterator in result;
}

function isBytes(result: unknown): result is BytesReply {
  return typeof result === "object" && result !== null && "stream" in result;
}

function cutEvents(events: AsyncIterable<StreamFrame<unknown>>, count: number): AsyncIterable<StreamFrame<unknown>> {
  let left = count;
  const inner = events[Symbol.asyncIterator]();
  const end = async (): Promise<IteratorResult<StreamFrame<unknown>, undefined>> => {
    await inner.return?.();
    return { done: true, value: undefined };
  };
  return {
    [Symbol.asyncIterator]: () => ({
      next: async () => {
        if (left === 0) {
          await end();
          throw new Error("The stream was cut (failNext).");
        }
        const step = await inner.next();
        if (step.done !== true && !("caughtUp" in step.value)) left -= 1;
        return step;
      },
      return: end,
    }),
  };
}

function cutBytes(source: Readable, count: number): Readable {
  async function* begin(): AsyncGenerator<Buffer> {
    let left = count;
    for await (const chunk of source as AsyncIterable<Buffer>) {
      if (chunk.length > left) {
        if (left > 0) yield chunk.subarray(0, left);
        // Flush the bytes written so far.
        await setImmediate();
        throw new Error("The stream was cut (failNext).");
      }
      left -= chunk.length;
      yield chunk;
    }
  }
  // No read-ahead: an error would discard buffered bytes.
  return Readable.from(begin(), { objectMode: false, highWaterMark: 1 });
}
