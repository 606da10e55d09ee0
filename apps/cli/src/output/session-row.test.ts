import { expect, it } from "vitest";
import { ageOf, sessionRow } from "./session-row.ts";

const now = new Date("2026-01-02T12:00:00.000Z");
const created_at = "2026-01-02T11:57:00.000Z";

it("shows an idle session with the time of its last use", () => {
  const session = { created_at, expires_at: "2026-01-02T12:04:00.000Z", timeout_seconds: 300 };
  expect(sessionRow(session, now)).toMatchObject({
    status: "idle",
    age: "3 min",
    last_used: "2026-01-02T11:59:00.000Z",
  });
});

it("shows a session without an expiry as in use", () => {
  expect(sessionRow({ created_at, timeout_seconds: 300 }, now)).toMatchObject({ status: "in use", last_used: "now" });
});

it("shows the reason, the duration and the end of an ended session", () => {
  const deleted_at = "2026-01-02T11:58:30.000Z";
  expect(sessionRow({ created_at, deleted_at, ended_reason: "timeout" }, now)).toMatchObject({
    status: "ended: timeout",
    age: "1 min",
    last_used: deleted_at,
  });
});

it.each([
  [0, "0 s"],
  [45_000, "45 s"],
  [90 * 86_400_000, "90 d"],
])("shows an age of %i ms as %s", (ms, text) => {
  expect(ageOf(new Date(now.getTime() - ms), now)).toBe(text);
});
