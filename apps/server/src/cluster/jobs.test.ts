import type { Database } from "@shoal/database";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startJobs } from "./jobs.ts";
import { openTestDatabase } from "../testing/test-database.ts";

const log = pino({ level: "silent" });
let folder: string;
let database: Database;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "shoal-jobs-"));
  ({ database } = await openTestDatabase(folder));
});
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

it("runs a job once per interval with any number of servers", async () => {
  let runs = 0;
  const job = { name: "count", everyMs: 3_600_000, run: () => Promise.resolve((runs += 1)) };
  const servers = Array.from({ length: 6 }, () => startJobs(database, [job], { log, lookEveryMs: 3_600_000 }));
  await Promise.all(servers.map((jobs) => jobs.runDue()));
  expect(runs).toBe(1);
  await Promise.all(servers.map((jobs) => jobs.runDue()));
  expect(runs).toBe(1);
  await database.query
    .updateTable("jobs")
    .set({ ran_at: new Date(Date.now() - 3_700_000) })
    .execute();
  await Promise.all(servers.map((jobs) => jobs.runDue()));
  expect(runs).toBe(2);
  for (const jobs of servers) await jobs.close();
});

it("continues with other jobs when one fails, and checks periodically", async () => {
  const ran: string[] = [];
  const jobs = startJobs(
    database,
    [
      { name: "fails", everyMs: 1, run: () => Promise.reject(new Error("no")) },
      { name: "works", everyMs: 1, run: () => Promise.resolve(ran.push("works")) },
    ],
    { log, lookEveryMs: 20 },
  );
  await expect.poll(() => ran.length).toBeGreaterThan(2);
  await jobs.close();
  const { length } = ran;
  await jobs.runDue();
  expect(ran.length).toBe(length);
});
