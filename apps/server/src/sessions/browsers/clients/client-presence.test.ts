import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ClientPresence } from "./client-presence.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
});

it("waits for the first client although the timeout after the last one changes", () => {
  const onAbsent = vi.fn<() => void>();
  const timeouts: { connect_timeout_seconds: number; disconnect_timeout_seconds?: number } = {
    connect_timeout_seconds: 60,
  };
  const presence = new ClientPresence(() => timeouts, onAbsent);
  vi.advanceTimersByTime(30_000);
  presence.look();
  timeouts.disconnect_timeout_seconds = 86_400;
  presence.look();
  vi.advanceTimersByTime(29_999);
  expect(onAbsent).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(onAbsent).toHaveBeenCalledTimes(1);
});

it("waits after the last client, with a timeout that changes", () => {
  const onAbsent = vi.fn<() => void>();
  const timeouts = { connect_timeout_seconds: 60, disconnect_timeout_seconds: 10 };
  const presence = new ClientPresence(() => timeouts, onAbsent);
  presence.enter()();
  vi.advanceTimersByTime(9_999);
  timeouts.disconnect_timeout_seconds = 20;
  presence.look();
  vi.advanceTimersByTime(19_999);
  expect(onAbsent).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(onAbsent).toHaveBeenCalledTimes(1);
});
