import { startWatch } from "@shoal/contract";
import { ServiceError, type Handler, type HandlerCall } from "@shoal/router";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createIdempotencyMemory, maxIdempotencyKeys } from "./idempotency.ts";
import { callerGraceMs } from "./shared-call.ts";

type Call = HandlerCall<typeof startWatch>;
interface Answer {
  readonly watch_id: string;
}

/** A handler whose calls end when they are told to, and what became of each. */
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

/** Somebody who calls, and may leave. */
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

describe("a call whose caller is lost", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("goes on with a key, and gives its answer to whoever comes back in time", async () => {
    const { calls, handler } = slow();
    const handle = createIdempotencyMemory().wrap(startWatch, handler);
    const [first, second, third] = [caller(), caller(), caller()];
    const lost = handle(first.call);
    first.leave();
    await expect(lost).rejects.toThrow("left");
    await vi.advanceTimersByTimeAsync(callerGraceMs - 1);
    const lostToo = handle(second.call);
    second.leave();
    await expect(lostToo).rejects.toThrow("left");
    // The time begins again with every caller who leaves.
    await vi.advanceTimersByTimeAsync(callerGraceMs - 1);
    const answered = handle(third.call);
    await vi.advanceTimersByTimeAsync(callerGraceMs * 10);
    expect(calls[0]?.signal.aborted).toBe(false);
    calls[0]?.end.resolve({ watch_id: "w" });
    expect(await answered).toEqual({ watch_id: "w" });
    expect(await handle(caller().call)).toEqual({ watch_id: "w" });
    expect(calls).toHaveLength(1);
  });

  it("is remembered when it ends while nobody waits", async () => {
    const { calls, handler } = slow();
    const handle = createIdempotencyMemory().wrap(startWatch, handler);
    const first = caller();
    const lost = handle(first.call);
    first.leave();
    await expect(lost).rejects.toThrow("left");
    calls[0]?.end.resolve({ watch_id: "w" });
    await vi.advanceTimersByTimeAsync(callerGraceMs * 2);
    expect(calls[0]?.signal.aborted).toBe(false);
    expect(await handle(caller().call)).toEqual({ watch_id: "w" });
  });

  it("goes on as long as one of several waits", async () => {
    const { calls, handler } = slow();
    const handle = createIdempotencyMemory().wrap(startWatch, handler);
    const [first, second] = [caller(), caller()];
    const answers = Promise.allSettled([handle(first.call), handle(second.call)]);
    first.leave();
    await vi.advanceTimersByTimeAsync(callerGraceMs * 2);
    calls[0]?.end.resolve({ watch_id: "w" });
    expect(await answers).toMatchObject([{ status: "rejected" }, { value: { watch_id: "w" } }]);
  });

  it("is stopped when nobody has come back, and its key says so from then on", async () => {
    const { calls, handler } = slow();
    const handle = createIdempotencyMemory().wrap(startWatch, handler);
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

  it("tells the truth where it was done, or refused, all the same", async () => {
    const refusal = new ServiceError(409, "conflict", "a dialog is open");
    const ends = [
      () => ({ watch_id: "done" }),
      () => {
        throw refusal;
      },
    ];
    const handle = createIdempotencyMemory().wrap(startWatch, async ({ signal }) => {
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

  it("is done again after a failure that passes, while nobody waited", async () => {
    const { calls, handler } = slow();
    const handle = createIdempotencyMemory().wrap(startWatch, handler);
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

  it("is stopped at once without a key, and not begun where its caller has left already", async () => {
    const { calls, handler } = slow();
    const handle = createIdempotencyMemory().wrap(startWatch, handler);
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

  it("is not forgotten while it runs, however many keys come after", async () => {
    const { calls, handler } = slow();
    const memory = createIdempotencyMemory();
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
