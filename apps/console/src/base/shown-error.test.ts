import { ApiError } from "@shoal/client";
import { expect, it } from "vitest";
import { shownError } from "./shown-error.ts";

function refusal(problem: string, hint?: string, field?: string): ApiError {
  const message = [field === undefined ? problem : `${field}: ${problem}`, hint].filter((part) => part).join(" ");
  const fields = { ...(hint !== undefined && { hint }), ...(field !== undefined && { field }) };
  return new ApiError(message, { code: "bad_request", status: 400, requestId: "r", retryable: false, fields });
}

it.each([
  ["List the profiles with profiles.list, or create it with profiles.create.", "List the profiles, or create it."],
  ["Stop one with browsers.replays.stop.", "Stop one."],
  [
    "Go on with browsers.act, browsers.observe and browsers.read, or with a new session.",
    "Go on, or with a new session.",
  ],
  ["Get a new address from browsers.get with a valid key.", "Get a new address with a valid key."],
  ["Connect with chromium.connect.", "Connect with chromium.connect."],
  ["Write it as http://proxy.example:8080.", "Write it as http://proxy.example:8080."],
])("shows the hint %j as %j", (hint, shown) => {
  expect(shownError(refusal("It failed.", hint))).toBe(`It failed. ${shown}`);
});

it("keeps every word of the problem, which may repeat a value", () => {
  const problem = "A profile with profiles.list in its name was not found.";
  expect(shownError(refusal(problem, "List the profiles with profiles.list."))).toBe(`${problem} List the profiles.`);
  expect(shownError(refusal(problem))).toBe(problem);
});

it.each([
  ["body.viewport.height", "expected at least 1", "Viewport height: expected at least 1"],
  ["body.timeout_seconds", "expected at least 10", "Timeout seconds: expected at least 10"],
  ["body", "give exactly one of a and b", "Give exactly one of a and b"],
  ["headers.x-shoal-project", "unknown", "Headers x-shoal-project: unknown"],
])("names the field %j in words", (field, problem, shown) => {
  expect(shownError(refusal(problem, undefined, field))).toBe(shown);
});

it("shows other errors as they are", () => {
  expect(shownError(new TypeError("x is undefined"))).toBe("x is undefined");
  expect(shownError("text")).toBe("text");
});
