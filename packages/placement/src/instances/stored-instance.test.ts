import { expect, it, vi } from "vitest";
import type { Box } from "../boxes/box.ts";
import { storeInstance } from "./stored-instance.ts";

const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };

it("is kept if its instance does not answer after it was stored", async () => {
  const drop = vi.fn(() => Promise.resolve());
  const stored = { pausedMs: 7, drop, start: () => Promise.reject(new Error("Not started.")) };
  const box = { id: "box", store: () => Promise.resolve(stored) } as unknown as Box;
  const copy = await storeInstance(box, {
    ...{ kind: "sandbox", project: "p" as const, log },
    ask: (question) =>
      "copied" in question ? Promise.reject(new Error("No answer.")) : Promise.resolve({ busy: null } as never),
  });
  expect(copy.pausedMs).toBe(7);
  await copy.drop();
  await copy.dropped;
  expect(drop).toHaveBeenCalledOnce();
});
