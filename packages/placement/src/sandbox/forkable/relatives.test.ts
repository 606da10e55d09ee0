import { expect, it } from "vitest";
import { Relatives } from "./relatives.ts";

it("counts the boxes of a user, up to a session with all copies of one request", () => {
  const relatives = new Relatives();
  const leave = Array.from({ length: 33 }, () => relatives.join(1));
  expect(() => relatives.join(1)).toThrow("snapshots are 33, the limit");
  relatives.join(2)();
  leave[0]?.();
  expect(() => relatives.join(1)).not.toThrow();
  expect(() => relatives.join(1)).toThrow("the limit");
});
