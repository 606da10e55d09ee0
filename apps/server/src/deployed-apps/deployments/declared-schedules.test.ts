import type { Schedule } from "@shoal/schemas";
import { afterAll, beforeAll, expect, it } from "vitest";
import { DeploymentCalls } from "../../testing/deployment-calls.ts";
import { appNamed, ScriptedBuilds } from "../../testing/scripted-builds.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import type { DescribedApp } from "../runtime/app-runtime.ts";

let server: TestServer;
const runtime = new ScriptedBuilds();
const calls = new DeploymentCalls(() => server);

beforeAll(async () => {
  server = await startTestServer({ max_builds: 4 }, { appRuntime: runtime });
});
afterAll(() => server.close());

const daily = (action_name: string, hour: number, more: object = {}) => ({
  ...{ action_name, cron: `0 ${String(hour)} * * *`, time_zone: "Europe/Berlin", ...more },
});
const shop = (...schedules: NonNullable<DescribedApp["schedules"]>): DescribedApp => ({
  ...appNamed("shop", "report", "clean"),
  schedules,
});
const list = async (query = "app_name=shop"): Promise<readonly Schedule[]> =>
  (await server.request("GET", `/schedules?${query}`)).body as Schedule[];
const brief = (schedules: readonly Schedule[]): string[] =>
  schedules.map(({ action_name, cron, origin }) => `${origin} ${action_name} ${cron}`).toSorted();

it("creates the schedules of the code when the deployment runs, and the next deployment replaces them", async () => {
  const first = await calls.deploy({ apps: [shop(daily("report", 9, { payload: "7" }), daily("clean", 3))] });
  await calls.settled(first);
  const given = { app_name: "shop", action_name: "report", cron: "0 12 * * *" };
  expect((await server.request("POST", "/schedules", { body: given })).status).toBe(201);
  const before = await list();
  expect(brief(before)).toEqual(["code clean 0 3 * * *", "code report 0 9 * * *", "request report 0 12 * * *"]);
  expect(before.find(({ payload }) => payload === "7")).toMatchObject({
    version: "latest",
    time_zone: "Europe/Berlin",
    status: "active",
    next_run_at: expect.any(String) as unknown,
  });
  const kept = before.find(({ cron }) => cron === "0 3 * * *");
  await server.request("POST", `/schedules/${kept?.id ?? ""}/pause`);

  const second = await calls.deploy({ apps: [shop(daily("clean", 3), daily("report", 10))] });
  await calls.settled(second);
  const after = await list();
  expect(brief(after)).toEqual(["code clean 0 3 * * *", "code report 0 10 * * *", "request report 0 12 * * *"]);
  // A schedule that stays in the code keeps its state.
  expect(after.find(({ cron }) => cron === "0 3 * * *")).toMatchObject({ id: kept?.id, status: "paused" });

  expect((await calls.rollBack(first)).status).toBe(200);
  expect(brief(await list())).toEqual(["code clean 0 3 * * *", "code report 0 9 * * *", "request report 0 12 * * *"]);

  const none = await calls.deploy({ apps: [appNamed("shop", "report")] });
  await calls.settled(none);
  expect(brief(await list())).toEqual(["request report 0 12 * * *"]);
});

it("removes them with the deployment, and keeps those of other versions", async () => {
  const [fixed, latest] = [
    await calls.deploy({ apps: [{ ...shop(daily("report", 9)), name: "bank" }] }, { version: "v1" }),
    await calls.deploy({ apps: [{ ...shop(daily("report", 8)), name: "bank" }] }),
  ];
  await Promise.all([calls.settled(fixed), calls.settled(latest)]);
  expect(await list("app_name=bank")).toHaveLength(2);
  await server.request("DELETE", `/deployments/${latest}`);
  expect(await list("app_name=bank")).toMatchObject([{ version: "v1", cron: "0 9 * * *" }]);
});

it.each([
  ["an invalid expression", [daily("report", 99)], /schedule of the action report .*cron.*invalid/],
  ["words", [{ ...daily("report", 9), cron: "daily" }], /cron: expected 5 or 6 fields/],
  ["times too close", [{ ...daily("report", 9), cron: "* * * * * *" }], /1 s between.*min_schedule_seconds/],
  ["an unknown time zone", [{ ...daily("report", 9), time_zone: "Moon" }], /time_zone: expected a time zone/],
  ["a payload that is not JSON", [daily("report", 9, { payload: "{" })], /payload: expected JSON/],
  ["an unknown action", [daily("other", 9)], /unknown action: other/],
  [
    "too many",
    Array.from({ length: 21 }, (_, hour) => daily("report", hour)),
    /declares 21 schedules; the limit is 20/,
  ],
])("fails the deployment for %s", async (_what, schedules, reason) => {
  const id = await calls.deploy({ apps: [{ ...shop(...schedules), name: "refused" }] });
  expect(await calls.settled(id)).toMatchObject({
    status: "failed",
    status_reason: expect.stringMatching(reason) as unknown,
  });
  expect(await list("app_name=refused")).toEqual([]);
});

it("fails the deployment whose app would have too many schedules with those of requests", async () => {
  await calls.settled(await calls.deploy({ apps: [appNamed("full", "a")] }));
  for (let hour = 0; hour < 20; hour += 1) {
    const body = { app_name: "full", action_name: "a", cron: `0 ${String(hour)} * * *` };
    expect((await server.request("POST", "/schedules", { body })).status).toBe(201);
  }
  const id = await calls.deploy({ apps: [{ ...appNamed("full", "a"), schedules: [daily("a", 9)] }] });
  expect(await calls.settled(id)).toMatchObject({
    status: "failed",
    status_reason: expect.stringContaining("App full has 20 schedules, the limit.") as unknown,
  });
  expect(runtime.removed).toContain(`artifact of ${id}`);
});
