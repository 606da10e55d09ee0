import { expect, vi } from "vitest";

/** Waits until a check passes, for as long as a machine under load may take. */
export function until(check: () => void): Promise<void> {
  return vi.waitFor(check, { interval: 20, timeout: 15_000 });
}

/** Waits until a figure has begun to grow and has then stood still for five looks, 100 milliseconds apart; returns it. */
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
