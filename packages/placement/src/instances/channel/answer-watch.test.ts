import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { AnswerWatch } from "./answer-watch.ts";

const everyMs = 30_000;
/** How the instance takes questions. */
let take: (signal: AbortSignal) => Promise<unknown>;
let questions: number;
let ends: string[];
let sleeping: ((change: { type: "asleep"; sinceMs: number } | { type: "awake"; sleptMs: number }) => void) | undefined;
let watch: AnswerWatch;

const silent = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener("abort", () => {
      reject(signal.reason as Error);
    });
  });

beforeEach(() => {
  vi.useFakeTimers();
  [take, questions, ends] = [silent, 0, []];
  watch = new AnswerWatch({
    ask(signal) {
      questions += 1;
      return take(signal);
    },
    distrust: (why) => ends.push(why),
    sleep: {
      onChange(listener) {
        sleeping = listener;
        return () => undefined;
      },
    },
  });
});
afterEach(() => {
  watch.close();
  vi.useRealTimers();
});

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

it("ends an instance that leaves three questions in a row unanswered while a caller waits", async () => {
  watch.begin();
  await pass(4 * everyMs - 1);
  expect([questions, ends]).toEqual([3, []]);
  // Each further question is another timer.
  await pass(10);
  expect(ends).toEqual([expect.stringContaining("it answered nothing for 90 s")]);
  await pass(100 * everyMs);
  expect([questions, ends.length]).toEqual([3, 1]);
});

it("counts callers that leave early, and connections", async () => {
  for (let call = 0; call < 13; call++) {
    const endWait = watch.begin();
    await pass(everyMs / 3);
    endWait(false);
  }
  expect(ends).toHaveLength(1);
});

it("ends nothing that answers a question in time, or refuses it", async () => {
  watch.begin();
  take = async (signal) => {
    if (questions % 3 !== 0) return silent(signal);
    if (questions % 2 === 0) throw new Error("refused");
    return undefined;
  };
  await pass(100 * everyMs);
  expect(questions).toBeGreaterThan(50);
  expect(ends).toEqual([]);
});

it("asks nothing when no caller waits", async () => {
  watch.begin()(true);
  await pass(100 * everyMs);
  expect(questions).toBe(0);
  take = () => Promise.resolve();
  watch.begin()(false);
  await pass(100 * everyMs);
  expect(questions).toBe(1);
});

it("asks and ends nothing that sleeps or is copied", async () => {
  watch.begin();
  sleeping?.({ type: "asleep", sinceMs: 0 });
  await pass(100 * everyMs);
  expect(questions).toBe(0);
  sleeping?.({ type: "awake", sleptMs: 0 });
  // It falls asleep again before it can answer.
  for (let round = 0; round < 10; round++) {
    await pass(1.5 * everyMs);
    sleeping?.({ type: "asleep", sinceMs: 0 });
    await pass(everyMs);
    sleeping?.({ type: "awake", sleptMs: 0 });
  }
  expect(questions).toBeGreaterThan(5);
  expect(ends).toEqual([]);
  const release = watch.hold();
  await pass(100 * everyMs);
  expect(ends).toEqual([]);
  release();
  await pass(10 * everyMs);
  expect(ends).toHaveLength(1);
});
