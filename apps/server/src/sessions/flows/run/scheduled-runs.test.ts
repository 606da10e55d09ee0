import { createId } from "@shoal/primitives";
import { CreatedApiKey, Flow, FlowRun, Schedule } from "@shoal/schemas";
import { sql } from "kysely";
import { expect, it } from "vitest";
import { useFlowServer } from "../testing/flow-server.ts";

const flows = useFlowServer((_request, response) => {
  response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><p>ready</p>");
});
const { call } = flows;
const yearly = "0 0 1 1 *";

async function flowOf(expectation: object, parameters: readonly object[] = []): Promise<string> {
  const steps = [{ action: "expect", expect: [expectation], timeout_ms: 60_000 }];
  const body = { name: createId(), start_url: `${flows.base}/`, steps, parameters };
  return Flow.parse(await call("POST", "/flows", body)).id;
}

const schedules = async (flow: string): Promise<Schedule[]> =>
  ((await call("GET", `/schedules?flow=${flow}`)) as object[]).map((one) => Schedule.parse(one));
/** Makes it due. */
const makeDue = (id: string) =>
  sql`update schedules set next_at = now() where id = ${id}`.execute(flows.server.database.query);

it("runs a flow at each due time, but not while the previous run goes on", async () => {
  const flow = await flowOf({ text: "{{word}}" }, [{ name: "word" }]);
  const flowRun = { parameters: { word: "ready" }, person_timeout_seconds: 14_400 };
  const body = { flow, cron: yearly, flow_run: flowRun };
  const { id, flow_run } = Schedule.parse(await call("POST", "/schedules", body));
  expect(flow_run).toMatchObject({ parameters: { word: "ready" } });
  expect(await schedules(flow)).toMatchObject([{ id, flow_id: flow, status: "active" }]);
  await makeDue(id);
  const last = async () => (await schedules(flow))[0]?.last_flow_run_id;
  await expect.poll(last).toEqual(expect.any(String));
  // The id is there before the run.
  await expect.poll(async () => (await schedules(flow))[0]?.last_problem).toBeUndefined();
  const run = async (wait = "") =>
    FlowRun.parse(await call("GET", `/flows/${flow}/runs/${(await last()) ?? ""}${wait}`));
  await expect.poll(async () => (await run("?wait_seconds=50")).status).toBe("succeeded");
  const first = await last();

  await call("PATCH", `/flows/${flow}`, {
    steps: [{ action: "expect", expect: [{ text: "never" }], timeout_ms: 60_000, on_divergence: "wait" }],
  });
  await makeDue(id);
  await expect.poll(last).not.toBe(first);
  await expect.poll(async () => (await schedules(flow))[0]?.last_problem).toBeUndefined();
  await makeDue(id);
  await expect.poll(async () => (await schedules(flow))[0]?.last_problem).toContain("previous run");
  expect(await call("GET", `/flows/${flow}/runs`)).toHaveLength(2);
  await call("POST", `/flows/${flow}/runs/${(await last()) ?? ""}/cancel`);
  await call("DELETE", `/flows/${flow}`);
  expect(await schedules(flow)).toEqual([]);
});

it("runs a flow with the present rights of the caller alone", async () => {
  const flow = await flowOf({ text: "ready" });
  const created = CreatedApiKey.parse(await call("POST", "/org/api_keys", { name: "scheduler" }));
  const viewer = CreatedApiKey.parse(await call("POST", "/org/api_keys", { name: "viewer", role: "viewer" }));
  const schedule = (key: string, more: object = {}) =>
    flows.server.request("POST", "/schedules", { key, body: { flow, cron: yearly, ...more } });
  expect((await schedule(viewer.key)).status).toBe(403);
  const { id } = Schedule.parse((await schedule(created.key)).body);
  await call("DELETE", `/org/api_keys/${created.id}`);
  await makeDue(id);
  await expect
    .poll(async () => (await schedules(flow))[0]?.last_problem)
    .toContain("The API key of the caller is invalid");
  expect(await call("GET", `/flows/${flow}/runs`)).toEqual([]);
  const { key } = await flows.server.addProject("schedule-stranger");
  expect((await schedule(key)).status).toBe(404);
});

it.each([
  ["body.flow_run.parameters.other", 400, { flow_run: { parameters: { other: "x" } } }],
  [
    "body.flow_run.browser.replay.recording",
    404,
    { flow_run: { browser: { replay: { recording: "none", on_missing: "pass" } } } },
  ],
  ["app_name and flow", 400, { app_name: "shop", action_name: "buy" }],
  ["body.payload", 400, { payload: "{}" }],
  [
    "body.flow_run: expected at most 64 KiB",
    400,
    { flow_run: { table: Array.from({ length: 7 }, () => ({ word: "x".repeat(10_000) })) } },
  ],
])("refuses %s with %i", async (what, status, more) => {
  const flow = await flowOf({ text: "ready" });
  const answer = await flows.server.request("POST", "/schedules", { body: { flow, cron: yearly, ...more } });
  expect(answer.status).toBe(status);
  expect(JSON.stringify(answer.body)).toContain(what);
});
