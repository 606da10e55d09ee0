import type { Database } from "@shoal/database";
import { createId } from "@shoal/primitives";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { Flows } from "../../sessions/flows/flows.ts";
import { FlowRunStore } from "../../sessions/flows/run/run-store.ts";
import type { FlowToStart } from "../../sessions/flows/run/scheduled-runs.ts";
import { scheduleRow } from "../../testing/schedule-row.ts";
import { openTestDatabase, silentLog } from "../../testing/test-database.ts";
import type { Log } from "../../log/log.ts";
import { ScheduleTimer } from "./schedule-timer.ts";

const folder = await mkdtemp(join(tmpdir(), "schedules-"));
let database: Database;
beforeAll(async () => {
  ({ database } = await openTestDatabase(folder));
});
afterAll(async () => {
  await database.close();
  await rm(folder, { recursive: true });
});

/** A flow with a schedule that is due. */
async function dueFlow() {
  const [projectId, id] = [createId(), createId()];
  await database.query.insertInto("projects").values({ id: projectId, name: projectId }).execute();
  const flow = await new Flows(database).create(projectId, {
    ...{ name: "flow", start_url: "https://shop.example/", parameters: [], steps: [] },
  });
  const flow_start = JSON.stringify({ base_url: "", key_id: "key", run: {} });
  const target = { app_name: null, version: null, action_name: null, flow_id: flow.id, flow_start };
  await database.query
    .insertInto("schedules")
    .values(scheduleRow({ id, project_id: projectId, ...target, is_paused: false, next_at: new Date(0).toISOString() }))
    .execute();
  return {
    flowId: flow.id,
    row: () => database.query.selectFrom("schedules").selectAll().where("id", "=", id).executeTakeFirstOrThrow(),
    makeDue: () => sql`update schedules set next_at = now() where id = ${id}`.execute(database.query),
    runs: () => database.query.selectFrom("flow_runs").select("id").where("flow_id", "=", flow.id).execute(),
  };
}

type Start = (of: FlowToStart, signal: AbortSignal) => Promise<void>;

function openTimer(start: Start): ScheduleTimer {
  const timer = new ScheduleTimer(database, silentLog as unknown as Log, { mayStart: () => true, start });
  onTestFinished(() => timer.close());
  return timer;
}

const insertRun: Start = async ({ flowId, projectId, scheduled }) => {
  await new FlowRunStore(database, "server").insert({ flowId, projectId, version: 1, rowCount: 1, scheduled });
};

it("starts flows of other projects, and closes, while the start of a flow hangs", async () => {
  const slow = await dueFlow();
  const quick = await dueFlow();
  const timer = openTimer((of, signal) =>
    of.flowId === quick.flowId
      ? insertRun(of, signal)
      : new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            reject(signal.reason as Error);
          });
        }),
  );
  await expect.poll(async () => (await quick.runs()).length).toBe(1);
  await expect.poll(async () => (await slow.row()).last_problem).toBe("The run may not have started.");
  expect(await quick.row()).toMatchObject({ last_problem: null, last_flow_run_id: (await quick.runs())[0]?.id });
  await timer.close();
  const stopped = "The server stopped before the run started.";
  expect(await slow.row()).toMatchObject({ last_problem: stopped, last_flow_run_id: null });
});

it("stores that a start failed for a reason of the service", async () => {
  const flow = await dueFlow();
  openTimer(() => Promise.reject(new Error("connect ECONNREFUSED 10.0.0.1")));
  await expect.poll(async () => (await flow.row()).last_problem).toContain("could not start the run");
  expect((await flow.row()).last_flow_run_id).toBeNull();
});

it("starts one run of a schedule whose next time comes on another server during a start", async () => {
  const flow = await dueFlow();
  const begun = Promise.withResolvers<undefined>();
  const held = Promise.withResolvers<undefined>();
  const first = openTimer(async (of, signal) => {
    begun.resolve(undefined);
    await held.promise;
    await insertRun(of, signal);
  });
  await begun.promise;
  await flow.makeDue();
  openTimer(insertRun);
  await expect.poll(async () => (await flow.runs()).length).toBe(1);
  held.resolve(undefined);
  await first.close();
  const [run, ...others] = await flow.runs();
  expect(others).toEqual([]);
  expect(await flow.row()).toMatchObject({ last_flow_run_id: run?.id, last_problem: null });
});
