import type { Browser } from "@shoal/schemas";
import { expect, it } from "vitest";
import { type SessionOrder, sorted } from "./session-order.ts";

const nowMs = Date.parse("2026-01-31T12:00:00Z");
const at = (minutesAgo: number) => new Date(nowMs - minutesAgo * 60_000).toISOString();
const session = (session_id: string, fields: Partial<Browser>) =>
  ({ session_id, created_at: at(10), timeout_seconds: 60, ...fields }) as Browser;

const sessions = [
  session("c", { name: "order-10", created_at: at(5) }),
  session("b", { name: "order-9", created_at: at(20), deleted_at: at(19) }),
  session("a", { created_at: at(9), expires_at: at(2) }),
];

it.each<[SessionOrder | undefined, string]>([
  [undefined, "cba"],
  ["name", "abc"],
  // Lives of 9, 5 and 1 minutes.
  ["age", "acb"],
  // 19 minutes ago, 3 minutes ago, now.
  ["use", "bac"],
])("sorts sessions by %s", (order, expected) => {
  expect(
    sorted(sessions, order, nowMs)
      .map(({ session_id }) => session_id)
      .join(""),
  ).toBe(expected);
});
