import { startWatch } from "@shoal/contract";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Handler, HandlerCall } from "../handler/handler.ts";
import { ServiceError } from "../handler/service-error.ts";
import { remembering } from "../testing/remembering.ts";
import { maxIdempotencyKeys } from "./idempotency-memory.ts";
import { callerGraceMs } from "./shared-call.ts";

type Call = HandlerCall<typeof startWatch>;
interface Answer {
  readonly watch_id: string;
}

function slow() {
  const calls: { readonly signal: AbortSignal; readonly end: PromiseWithResolvers<Answer> }[] = [];
  const handler: Handler<typeof startWatch> = ({ signal }) => {
    const end = Promise.withResolvers<Answer>();
    signal.addEventListener("abort", () => {
      end.reject(signal.reason as Error);
    });
    calls.push({ signal, end });
    return end.promise;
  };
  return { calls, handler };
}

function caller(key: string | null = "k") {
  const left = new AbortController();
  const call: Call = {
    params: { id: "" },
    query: {},
    body: { path: "/a", recursive: false },
    headers: key === null ? {} : { "idempotency-key": key },
    requestId: "r",
    signal: left.signal,
    lastEventId: undefined,
    context: undefined,
  };
  const leave = () => {
    left.abort(new Error("left"));
  };
  return { call, leave };
}

describe("a call whose caller disconnects", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("continues with a key, and returns its answer to a caller that comes back in time", async () => {
    const { calls, handler } = slow();
    const handle = remembering().wrap(startWatch, handler);
    const [first, second, third] = [caller(), caller(), caller()];
    const lost = handle(first.call);
    first.leave();
    await expect(lost).rejects.toThrow("left");
    await vi.advanceTimersByTimeAsync(callerGraceMs - 1);
    const lostToo = handle(second.call);
    second.leave();
    await expect(lostToo).rejects.toThrow("left");
    // The grace period starts again whenever a caller leaves.
    await vi.advanceTimersByTimeAsync(callerGraceMs - 1);
    const answered = handle(third.call);
    await vi.advanceTimersByTimeAsync(callerGraceMs * 10);
    expect(calls[0]?.signal.aborted).toBe(false);
    calls[0]?.end.resolve({ watch_id: "w" });
    expect(await answered).toEqual({ watch_id: "w" });
    expect(await handle(caller().call)).toEqual({ watch_id: "w" });
    expect(calls).toHaveLength(1);
  });

  it("is remembered when it ends without a caller", async () => {
    const { calls, handler } = slow();
    const handle = remembering().wrap(startWatch, handler);
    const first = caller();
    const lost = handle(first.call);
    first.leave();
    await expect(lost).rejects.toThrow("left");
    calls[0]?.end.resolve({ watch_id: "w" });
    await vi.advanceTimersByTimeAsync(callerGraceMs * 2);
    expect(calls[0]?.signal.aborted).toBe(false);
    expect(await handle(caller().call)).toEqual({ watch_id: "w" });
  });

  it("continues while one of several callers waits", async () => {
    const { calls, handler } = slow();
    const handle = remembering().wrap(startWatch, handler);
    const [first, second] = [caller(), caller()];
    const answers = Promise.allSettled([handle(first.call), handle(second.call)]);
    first.leave();
    await vi.advanceTimersByTimeAsync(callerGraceMs * 2);
    calls[0]?.end.resolve({ watch_id: "w" });
    expect(await answers).toMatchObject([{ status: "rejected" }, { value: { watch_id: "w" } }]);
  });

  it("is stopped when no caller comes back, and its key then answers call_cut_off", async () => {
    const { calls, handler } = slow();
    const handle = remembering().wrap(startWatch, handler);
    const first = caller();
    const lost = handle(first.call);
    first.leave();
    await expect(lost).rejects.toThrow("left");
    await vi.advanceTimersByTimeAsync(callerGraceMs);
    expect(calls[0]?.signal.aborted).toBe(true);
    for (const again of [caller(), caller()]) {
      await expect(handle(again.call)).rejects.toMatchObject({
        status: 409,
        code: "call_cut_off",
        retryAfterSeconds: undefined,
        message: expect.stringMatching(/"k".*5 s.*new key/) as unknown,
      });
    }
    expect(calls).toHaveLength(1);
    void handle(caller("other").call);
    expect(calls).toHaveLength(2);
  });

  it("keeps its result when it completes or fails in spite of the stop", async () => {
    const refusal = new ServiceError(409, "conflict", "a dialog is open");
    const ends = [
      () => ({ watch_id: "done" }),
      () => {
        throw refusal;
      },
    ];
    const handle = remembering().wrap(startWatch, async ({ signal }) => {
      await new Promise((resolve) => {
        signal.addEventListener("abort", resolve);
      });
      return ends.shift()?.() ?? { watch_id: "" };
    });
    for (const key of ["done", "refused"]) {
      const { call, leave } = caller(key);
      const lost = handle(call);
      leave();
      await expect(lost).rejects.toThrow("left");
      await vi.advanceTimersByTimeAsync(callerGraceMs);
    }
    expect(await handle(caller("done").call)).toEqual({ watch_id: "done" });
    await expect(handle(caller("refused").call)).rejects.toBe(refusal);
  });

  it("runs again after a temporary failure without a caller", async () => {
    const { calls, handler } = slow();
    const handle = remembering().wrap(startWatch, handler);
    const first = caller();
    const lost = handle(first.call);
    first.leave();
    await expect(lost).rejects.toThrow("left");
    calls[0]?.end.reject(new ServiceError(429, "too_many_watches", "full"));
    await vi.advanceTimersByTimeAsync(0);
    const again = handle(caller().call);
    calls[1]?.end.resolve({ watch_id: "w2" });
    expect(await again).toEqual({ watch_id: "w2" });
  });

  it("is stopped at once without a key, and not started for a caller that has left", async () => {
    const { calls, handler } = slow();
    const handle = remembering().wrap(startWatch, handler);
    const keyless = caller(null);
    const lost = handle(keyless.call);
    keyless.leave();
    expect(calls[0]?.signal.aborted).toBe(true);
    await expect(lost).rejects.toThrow("left");
    const late = caller();
    late.leave();
    await expect(handle(late.call)).rejects.toThrow("left");
    expect(calls).toHaveLength(1);
  });

  it("is not evicted while it runs, however many keys follow", async () => {
    const { calls, handler } = slow();
    const memory = remembering();
    const handle = memory.wrap(startWatch, handler);
    const quick = memory.wrap(startWatch, () => ({ watch_id: "q" }));
    const running = handle(caller("first").call);
    for (let i = 0; i < maxIdempotencyKeys + 1; i++) await quick(caller(`k${String(i)}`).call);
    const joined = handle(caller("first").call);
    calls[0]?.end.resolve({ watch_id: "w" });
    expect(await Promise.all([running, joined])).toEqual([{ watch_id: "w" }, { watch_id: "w" }]);
    expect(calls).toHaveLength(1);
  });
});
