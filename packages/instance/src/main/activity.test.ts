import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { trackActivity } from "./activity.ts";

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

function track() {
  const changes: (number | null)[] = [];
  const onTimeout = vi.fn<() => void>();
  return { changes, onTimeout, activity: trackActivity({ onChange: (idle) => changes.push(idle), onTimeout }) };
}

it("ends an unused instance, counted from the assignment", () => {
  const { activity, onTimeout } = track();
  vi.advanceTimersByTime(60_000);
  activity.limit(10_000);
  vi.advanceTimersByTime(9_999);
  expect(onTimeout).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(onTimeout).toHaveBeenCalledOnce();
});

it("reports the time that is left, by a monotonic clock, and none while it is used", () => {
  const { activity } = track();
  expect(activity.expiresInMs).toBeNull();
  activity.limit(10_000);
  vi.advanceTimersByTime(4_000);
  vi.setSystemTime(0);
  expect([activity.expiresInMs, activity.uses]).toEqual([6_000, 0]);
  const end = activity.begin();
  expect([activity.expiresInMs, activity.uses]).toEqual([null, 1]);
  end();
  expect(activity.expiresInMs).toBe(10_000);
});

it("waits while any use lasts, and counts from the end of the last use", () => {
  const { activity, onTimeout } = track();
  activity.limit(10_000);
  const first = activity.begin();
  const second = activity.begin();
  expect(activity.idleSinceMs).toBeNull();
  vi.advanceTimersByTime(60_000);
  first();
  first();
  vi.advanceTimersByTime(60_000);
  expect(onTimeout).not.toHaveBeenCalled();
  second();
  expect(activity.idleSinceMs).toBe(121_000);
  vi.advanceTimersByTime(9_999);
  expect(onTimeout).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(onTimeout).toHaveBeenCalledOnce();
});

it("reports the first change at once, and only the last of many quick changes", () => {
  const { activity, changes } = track();
  for (let i = 0; i < 100; i++) {
    activity.begin()();
    vi.advanceTimersByTime(1);
  }
  vi.advanceTimersByTime(1_000);
  expect(changes[0]).toBeNull();
  expect(changes.at(-1)).toBe(1_099);
  expect(changes.length).toBeLessThanOrEqual(4);
});

it("reports nothing after a stop", () => {
  const { activity, onTimeout } = track();
  activity.limit(1_000);
  activity.stop();
  activity.begin()();
  vi.advanceTimersByTime(10_000);
  expect(onTimeout).not.toHaveBeenCalled();
});
