import { expect, it } from "vitest";
import { errorOf } from "./index.ts";

it("returns an error itself", () => {
  const error = new TypeError("disk full");
  expect(errorOf(error)).toBe(error);
});

it.each([
  ["text", "text"],
  [undefined, "undefined"],
  [404, "404"],
])("wraps %j in an error with its text", (thrown, message) => {
  expect(errorOf(thrown)).toEqual(new Error(message));
});
