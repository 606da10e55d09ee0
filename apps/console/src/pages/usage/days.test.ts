import type { UsageRow } from "@shoal/schemas";
import { expect, it } from "vitest";
import { daysOf, lastDays, totalOf } from "./days.ts";

const row = (date: string, project_id: string, count: number): UsageRow => ({
  date,
  project_id,
  session_minutes: count,
  sessions_started: count,
  peak_concurrent_sessions: count,
  bytes_sent: count,
  bytes_received: count,
  storage_bytes: count,
});

it("lists the last days in UTC with both ends", () => {
  const period = lastDays(7, Date.parse("2026-03-02T23:59:59Z"));
  expect(period).toEqual({ from: "2026-02-24", to: "2026-03-02" });
  expect(daysOf(period)).toHaveLength(7);
  expect(daysOf(period).at(-1)).toBe("2026-03-02");
});

it("sums minutes, and takes the highest day of peaks and storage", () => {
  const rows = [row("2026-03-01", "a", 2), row("2026-03-01", "b", 3), row("2026-03-02", "a", 4)];
  expect(totalOf(rows, "minutes")).toBe(9);
  expect(totalOf(rows, "peak")).toBe(4);
  expect(totalOf(rows, "storage")).toBe(5);
  expect(totalOf([], "peak")).toBe(0);
});
