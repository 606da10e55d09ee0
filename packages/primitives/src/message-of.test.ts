import { expect, it } from "vitest";
import { messageOf } from "./index.ts";

it.each([
  [new Error("disk full"), "disk full"],
  [new TypeError(""), ""],
  ["text", "text"],
  [undefined, "undefined"],
  [404, "404"],
])("returns the message of %j", (error, message) => {
  expect(messageOf(error)).toBe(message);
});
