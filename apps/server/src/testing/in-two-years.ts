import { vi } from "vitest";

/** Runs work on a server whose clock is two years ahead; the database keeps its own. */
export async function inTwoYears(work: () => Promise<unknown>): Promise<void> {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 2 * 365 * 86_400_000 });
  try {
    await work();
  } finally {
    vi.useRealTimers();
  }
}
