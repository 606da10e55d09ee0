import { expect, vi } from "vitest";

export function until(check: () => void): Promise<void> {
  return vi.waitFor(check, { interval: 20, timeout: 15_000 });
}

/** Returns the figure when five readings, 100 ms apart, are equal after it has grown. */
export async function settled(figure: () => number): Promise<number> {
  let before = 0;
  let same = 0;
  await vi.waitFor(
    () => {
      const now = figure();
      same = now > 0 && now === before ? same + 1 : 0;
      before = now;
      expect(same).toBeGreaterThanOrEqual(5);
    },
    { interval: 100, timeout: 15_000 },
  );
  return before;
}
