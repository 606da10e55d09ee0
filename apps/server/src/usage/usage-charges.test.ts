import type { Database } from "@shoal/database";
import { createId } from "@shoal/primitives";
import fc from "fast-check";
import { type KyselyPlugin, sql } from "kysely";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sessionRow } from "../testing/session-row.ts";
import { openTestDatabase } from "../testing/test-database.ts";
import { UsageCharges } from "./usage-charges.ts";

// A database without a server, whose jobs would charge between two steps of a test.
const folder = mkdtempSync(join(tmpdir(), "shoal-usage-"));
let database: Database;
let charges: UsageCharges;
beforeAll(async () => {
  ({ database } = await openTestDatabase(folder));
  charges = new UsageCharges(database);
});
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

async function addProject(): Promise<string> {
  const id = createId();
  await database.query.insertInto("projects").values({ id, name: id }).execute();
  return id;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const at = (ms: number) => new Date(ms).toISOString();
/** Of yesterday, so that the half hour after it is over. */
const midnight = (Math.floor(Date.now() / dayMs) - 1) * dayMs;

interface Interval {
  readonly since: number;
  /** `undefined` = running. */
  readonly until?: number;
  readonly seen?: number;
  readonly key?: string;
}

async function use(projectId: string, intervals: readonly Interval[]): Promise<void> {
  for (const { key = null, seen, since, until } of intervals)
    await database.query
      .insertInto("usage_sessions")
      .values({
        session_id: createId(),
        project_id: projectId,
        api_key_id: key,
        server_id: "elsewhere",
        started_at: at(since),
        seen_at: seen === undefined ? null : at(seen),
        ended_at: until === undefined ? null : at(until),
      })
      .execute();
}

async function days(projectId: string, scope: "project" | "api_key" = "project") {
  return database.query
    .selectFrom("usage_days")
    .select([
      sql<string>`to_char(date, 'YYYY-MM-DD')`.as("date"),
      "api_key_id",
      "session_ms",
      "sessions_started",
      "peak_sessions",
      "bytes_sent",
      "bytes_received",
    ])
    .where("project_id", "=", projectId)
    .where("scope", "=", scope)
    .orderBy("date")
    .orderBy("api_key_id")
    .execute();
}

const addRow = async (projectId: string, id: string) => {
  await database.query
    .insertInto("sessions")
    .values(sessionRow({ id, project_id: projectId, api_key_id: "key" }))
    .execute();
};
const end = (id: string, reason: string) =>
  database.query
    .updateTable("sessions")
    .set({ ended_at: at(Date.now()), ended_reason: reason })
    .where("id", "=", id)
    .execute();
const setTimes = (id: string, times: { started_at?: string; seen_at?: string }) =>
  database.query.updateTable("usage_sessions").set(times).where("session_id", "=", id).execute();

it("splits a session at midnight in UTC, and counts its start once", async () => {
  const project = createId();
  await use(project, [{ since: midnight - dayMs - 90 * minuteMs, until: midnight + 30 * minuteMs, key: "k" }]);
  await charges.charge();
  const expected = [
    { session_ms: 90 * minuteMs, sessions_started: 1, peak_sessions: 1 },
    { session_ms: dayMs, sessions_started: 0, peak_sessions: 1 },
    { session_ms: 30 * minuteMs, sessions_started: 0, peak_sessions: 1 },
  ];
  expect(await days(project)).toMatchObject(expected);
  expect(await days(project, "api_key")).toMatchObject(expected.map((row) => ({ ...row, api_key_id: "k" })));
});

it("adds only the time since the last charge, however often it charges", async () => {
  const project = createId();
  const since = midnight - 60 * minuteMs;
  await use(project, [{ since, seen: since + 10 * minuteMs }]);
  await charges.charge();
  await charges.charge();
  expect(await days(project)).toMatchObject([{ session_ms: 10 * minuteMs, sessions_started: 1 }]);
  await database.query
    .updateTable("usage_sessions")
    .set({ seen_at: at(since + 25 * minuteMs), ended_at: at(since + 20 * minuteMs), bytes_sent: 7, bytes_received: 70 })
    .where("project_id", "=", project)
    .execute();
  await Promise.all([charges.charge(), new UsageCharges(database).charge()]);
  await charges.charge();
  expect(await days(project)).toMatchObject([
    { session_ms: 20 * minuteMs, sessions_started: 1, bytes_sent: 7, bytes_received: 70 },
  ]);
});

it("charges a session of a killed server until its last sign of life", async () => {
  const project = await addProject();
  const session = createId();
  await addRow(project, session);
  const since = midnight - 60 * minuteMs;
  await setTimes(session, { started_at: at(since), seen_at: at(since + 5 * minuteMs) });
  await end(session, "instance_lost");
  await charges.charge();
  expect(await days(project)).toMatchObject([{ session_ms: 5 * minuteMs, sessions_started: 1 }]);
});

it("charges a session that ended before its first sign of life, and none whose start failed", async () => {
  const project = await addProject();
  const [short, failed] = [createId(), createId()];
  await addRow(project, short);
  await addRow(project, failed);
  await setTimes(short, { started_at: at(Date.now() - 2_000) });
  await end(short, "deleted");
  await database.query.deleteFrom("sessions").where("id", "=", failed).execute();
  await charges.charge();
  const rows = await days(project);
  expect(rows.reduce((sum, row) => sum + row.sessions_started, 0)).toBe(1);
  expect(rows.reduce((sum, row) => sum + row.session_ms, 0)).toBeGreaterThanOrEqual(2_000);
});

it("does not charge browsers that wait in a pool, and charges a lease to the key that acquired it", async () => {
  const project = await addProject();
  const session = createId();
  const states = { pool_id: "pool", pool_state: "warm" } as const;
  await database.query
    .insertInto("sessions")
    .values(sessionRow({ id: session, project_id: project, ...states }))
    .execute();
  await charges.charge();
  expect(await days(project)).toEqual([]);
  const change = (values: object) =>
    database.query.updateTable("sessions").set(values).where("id", "=", session).execute();
  await change({ pool_state: "leased" });
  await change({ api_key_id: "acquirer" });
  await end(session, "deleted");
  await charges.charge();
  const rows = await days(project, "api_key");
  expect(rows.map(({ api_key_id }) => api_key_id)).toEqual(["acquirer"]);
  expect(rows[0]?.sessions_started).toBe(1);
  expect(rows[0]?.session_ms).toBeLessThan(10 * minuteMs);
});

/** The highest number of overlapping intervals on each day, by brute force over all starts. */
function peaksOf(intervals: readonly (readonly [number, number])[]): Record<string, number> {
  const peaks: Record<string, number> = {};
  for (const [since, until] of intervals)
    for (let day = Math.floor(since / dayMs) * dayMs; day < until; day += dayMs) {
      const moment = Math.max(since, day);
      const count = intervals.filter(([first, last]) => first <= moment && moment < last).length;
      const date = at(day).slice(0, 10);
      peaks[date] = Math.max(peaks[date] ?? 0, count);
    }
  return peaks;
}

it("finds the exact peak of every day, with charges at any moments in between", async () => {
  const base = midnight - 3 * dayMs;
  const interval = fc.record({ start: fc.nat(170), minutes: fc.integer({ min: 1, max: 150 }), key: fc.nat(2) });
  await fc.assert(
    fc.asyncProperty(
      fc.array(interval, { minLength: 1, maxLength: 25 }),
      fc.array(fc.nat(400), { maxLength: 4 }),
      async (drawn, moments) => {
        const project = createId();
        const sessions = drawn.map(({ key, minutes, start }) => ({
          id: createId(),
          key: `key${String(key)}`,
          // In steps of 15 minutes, so that ends and starts coincide and midnights are crossed.
          since: base + start * 15 * minuteMs,
          until: base + (start + minutes) * 15 * minuteMs,
        }));
        let before = -Infinity;
        for (const moment of [...moments.sort((a, b) => a - b), 1_000].map((step) => base + step * 15 * minuteMs)) {
          for (const { id, key, since, until } of sessions.filter((session) => session.since <= moment)) {
            const state = { seen_at: at(Math.min(moment, until)), ended_at: until <= moment ? at(until) : null };
            const { query } = database;
            if (since > before)
              await query
                .insertInto("usage_sessions")
                .values({
                  session_id: id,
                  project_id: project,
                  api_key_id: key,
                  server_id: "elsewhere",
                  started_at: at(since),
                  ...state,
                })
                .execute();
            else await query.updateTable("usage_sessions").set(state).where("session_id", "=", id).execute();
          }
          await charges.charge();
          before = moment;
        }
        const found = Object.fromEntries((await days(project)).map(({ date, peak_sessions }) => [date, peak_sessions]));
        expect(found).toEqual(peaksOf(sessions.map(({ since, until }) => [since, until])));
        const total = (await days(project)).reduce((sum, { session_ms }) => sum + session_ms, 0);
        expect(total).toBe(sessions.reduce((sum, { since, until }) => sum + until - since, 0));
        const ofKeys = await days(project, "api_key");
        expect(ofKeys.reduce((sum, { session_ms }) => sum + session_ms, 0)).toBe(total);
        for (const key of new Set(sessions.map((session) => session.key))) {
          const own = ofKeys.filter(({ api_key_id }) => api_key_id === key);
          expect(Object.fromEntries(own.map(({ date, peak_sessions }) => [date, peak_sessions]))).toEqual(
            peaksOf(sessions.filter((session) => session.key === key).map(({ since, until }) => [since, until])),
          );
        }
      },
    ),
    { numRuns: 15, seed: Number(process.env.SHOAL_TEST_SEED ?? 1) },
  );
});

it("counts the peak of sessions that start and end between two statements of a charge", async () => {
  const { query } = database;
  // Older sessions would make every charge read their whole time again.
  await query.deleteFrom("usage_sessions").execute();
  const moment = (minutes: number) => midnight + (minutes - 60) * minuteMs;
  await use(createId(), [{ since: moment(0), seen: moment(10) }]);
  await charges.charge();
  const projects: string[] = [];
  const afterEach: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      const project = createId();
      projects.push(project);
      const burst = { since: moment(10 + 2 * projects.length), until: moment(11 + 2 * projects.length) };
      await use(project, [burst, burst]);
      return result;
    },
  };
  await query
    .updateTable("usage_sessions")
    .set({ seen_at: at(moment(30)) })
    .execute();
  await new UsageCharges({ ...database, query: query.withPlugin(afterEach) }).charge();
  await charges.charge();
  expect(projects.length).toBeGreaterThan(2);
  const found = await Promise.all(projects.map((project) => days(project)));
  expect(found.flat().map(({ peak_sessions }) => peak_sessions)).toEqual(projects.map(() => 2));
});

it("keeps the largest size of stored data of a day", async () => {
  const project = await addProject();
  const extension = { id: createId(), project_id: project, blob: "b", checksum: "c", size_bytes: 5_000 };
  const { query } = database;
  await query.insertInto("extensions").values(extension).execute();
  await charges.chargeStorage();
  await query.updateTable("extensions").set({ size_bytes: 9_000 }).where("id", "=", extension.id).execute();
  const snapshot = {
    ...{ id: createId(), project_id: project, session_id: createId(), engine: "restored", blob: createId() },
    ...{ size_bytes: 600, paused_ms: 0, unpacked_bytes: 0, settings: "{}" },
    ...{ created_at: at(midnight), expires_at: at(midnight + dayMs) },
  } as const;
  await query.insertInto("snapshots").values(snapshot).execute();
  await charges.chargeStorage();
  await query.deleteFrom("snapshots").where("id", "=", snapshot.id).execute();
  await query.deleteFrom("extensions").where("id", "=", extension.id).execute();
  await charges.chargeStorage();
  const rows = await query.selectFrom("usage_days").select("storage_bytes").where("project_id", "=", project).execute();
  expect(rows).toEqual([{ storage_bytes: 9_600 }]);
});

it("drops days after their retention, and sessions that are charged", async () => {
  const project = createId();
  const today = async () => {
    const { rows } = await sql<{ at: string }>`select (now() at time zone 'utc')::date::text as at`.execute(
      database.query,
    );
    return Date.parse(rows[0]?.at ?? "");
  };
  const start = (await today()) - 10 * dayMs;
  await use(project, [{ since: start, until: start + 3 * dayMs }]);
  await charges.charge();
  expect(await days(project)).toHaveLength(3);
  const left = await database.query
    .selectFrom("usage_sessions")
    .select("session_id")
    .where("project_id", "=", project)
    .execute();
  expect(left).toEqual([]);
  const before = await today();
  await charges.dropBefore(9);
  // A day may begin meanwhile.
  const first = [before, await today()].map((ms) => at(ms - 9 * dayMs).slice(0, 10));
  const kept = (await days(project)).map(({ date }) => date);
  expect(first).toContain(kept[0]);
  expect(kept.at(-1)).toBe(at(start + 2 * dayMs).slice(0, 10));
});
