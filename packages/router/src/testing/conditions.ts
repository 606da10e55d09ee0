import { eventuallyPasses } from "@shoal/testkit";
import { expect } from "vitest";

/** Returns the figure when five readings, 100 ms apart, are equal after it has grown. */
export async function settled(figure: () => number): Promise<number> {
  let before = 0;
  let same = 0;
  await eventuallyPasses(() => {
    const now = figure();
    same = now > 0 && now === before ? same + 1 : 0;
    before = now;
    expect(same).toBeGreaterThanOrEqual(5);
  });
  return before;
}
