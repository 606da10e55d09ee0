import { expect, it } from "vitest";
import { nextCondition } from "./pool-condition.ts";

const counts = (available: number, acquired: number) => ({ size: 2, available, acquired });

it("reports a full pool, its last browser, and failing starts once each", () => {
  expect(nextCondition("new", counts(1, 0), false)).toBe("new");
  expect(nextCondition("new", counts(2, 0), false)).toBe("filled");
  expect(nextCondition("filled", counts(1, 0), false)).toBe("filled");
  expect(nextCondition("filled", counts(0, 2), false)).toBe("empty");
  expect(nextCondition("empty", counts(0, 1), false)).toBe("empty");
  expect(nextCondition("empty", counts(1, 1), false)).toBe("filled");
  expect(nextCondition("new", counts(0, 0), true)).toBe("failing");
  // A retry is under way.
  expect(nextCondition("failing", counts(0, 0), false)).toBe("failing");
  expect(nextCondition("failing", counts(2, 0), false)).toBe("filled");
  // Of an archived project.
  expect(nextCondition("filled", { size: 0, available: 0, acquired: 0 }, false)).toBe("filled");
});
