import { describe, expect, it, onTestFinished, vi } from "vitest";
import { useAnsweringService } from "../testing/answering-service.ts";

const service = useAnsweringService();
const { run } = service;
const row = {
  date: "2026-01-31",
  project_id: "p1",
  project_name: "shop",
  session_minutes: 1.25,
  sessions_started: 2,
  peak_concurrent_sessions: 1,
  bytes_sent: 10,
  bytes_received: 1000,
  storage_bytes: 0,
};

describe("shoal usage", () => {
  it("prints a table with totals, and takes days before today", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-01-31T12:00:00Z") });
    onTestFinished(() => void vi.useRealTimers());
    service.answers["usage.list"] = () => ({
      items: [row, { ...row, date: "2026-01-30", session_minutes: 0.5 }],
      hasMore: false,
      nextOffset: undefined,
    });
    const { status, stderr, stdout } = await run("usage", "--from", "7d", "--group", "project");
    expect(status, stderr).toBe(0);
    expect(stdout.split("\n")[0]).toMatch(/^DATE +PROJECT +MINUTES +SESSIONS +PEAK +SENT BYTES/);
    expect(stderr).toBe("Total of 2 rows: 1.75 minutes, 4 sessions, 20 sent bytes, 2000 received bytes.\n");
    const [asked] = service.asked.filter(({ operationId }) => operationId === "usage.list");
    expect(asked).toMatchObject({ query: { from: "2026-01-24", group_by: "project" } });
  });
});
