import { createId } from "@shoal/primitives";
import { Browser, CreatedApiKey, Flow, FlowRun } from "@shoal/schemas";
import { eventually } from "@shoal/testkit";
import { sql } from "kysely";
import { expect, it } from "vitest";
import { useFlowServer } from "../testing/flow-server.ts";

const page = `<!doctype html><title>shop</title><label>Name <input></label><button>Save</button><p></p>
  <script>
    const seen = JSON.parse(sessionStorage.seen ?? "[]");
    document.querySelector("button").onclick = () => {
      seen.push(document.querySelector("input").value);
      sessionStorage.seen = JSON.stringify(seen);
      document.title = seen.join(", ");
    };
    document.querySelector("p").textContent = [innerWidth, matchMedia("(prefers-color-scheme: dark)").matches].join(" ");
  </script>`;
const flows = useFlowServer((_request, response) => {
  response.writeHead(200, { "content-type": "text/html" }).end(page);
});
const { call } = flows;
const save = { action: "click", target: { role: "button", name: "Save" } };
const fill = { action: "fill", target: { role: "textbox", name: "Name" }, text: "{{name}}" };
/** After its time, the row waits for a person: for four hours with `long`. */
const waiting = { action: "expect", expect: [{ text: "never" }], timeout_ms: 60_000, on_divergence: "wait" };
const long = { person_timeout_seconds: 14_400 };

async function flowOf(steps: readonly object[], parameters: readonly object[] = []): Promise<string> {
  const body = { name: createId(), start_url: `${flows.base}/`, steps, parameters };
  return Flow.parse(await call("POST", "/flows", body)).id;
}

async function ended(flowId: string, body: object): Promise<FlowRun> {
  let run = FlowRun.parse(await call("POST", `/flows/${flowId}/runs`, body));
  while (run.status === "running")
    run = FlowRun.parse(await call("GET", `/flows/${flowId}/runs/${run.id}?wait_seconds=50`));
  return run;
}

const open = async (body: object = {}) =>
  Browser.parse(await call("POST", "/browsers", { timeout_seconds: 600, ...body })).session_id;
const refused = (flowId: string, body: object, key?: string) =>
  flows.server.request("POST", `/flows/${flowId}/runs`, { body, ...(key !== undefined && { key }) });

it("runs in a session of the caller, row after row, and leaves it open", async () => {
  const id = await open({ name: "own" });
  const flow = await flowOf([fill, save], [{ name: "name" }]);
  const run = await ended(flow, { session: "own", table: [{ name: "Ada" }, { name: "Bea" }] });
  expect(run).toMatchObject({ status: "succeeded", rows: [{ session_id: id }, { session_id: id }] });
  expect(await call("GET", `/browsers/${id}`)).toMatchObject({ session_id: id });
  const { tabs } = (await call("POST", `/browsers/${id}/observe`, {})) as { tabs: { title: string }[] };
  expect(tabs).toMatchObject([{ title: "Ada, Bea" }]);
  const diverged = await ended(flow, { session: id, parameters: { name: "Cy" }, names: { Save: "Order" } });
  expect(diverged.status).toBe("diverged");
  expect(await call("GET", `/browsers/${id}`)).toMatchObject({ session_id: id });
});

it("refuses a session under a person, with another run, or that does not exist, and leaves it after a cancellation", async () => {
  const id = await open();
  const flow = await flowOf([waiting]);
  await call("POST", `/browsers/${id}/handoff`, { message: "I do it" });
  expect(await refused(flow, { session: id })).toMatchObject({ status: 409, body: { code: "handoff_active" } });
  await call("POST", `/browsers/${id}/handoff/release`, {});
  const run = FlowRun.parse(await call("POST", `/flows/${flow}/runs`, { session: id, ...long }));
  // On a slow machine, the first run asks a person already.
  const busy = await refused(flow, { session: id });
  expect(busy).toMatchObject({ status: 409 });
  expect(["conflict", "handoff_active"]).toContain((busy.body as { code: string }).code);
  await call("POST", `/flows/${flow}/runs/${run.id}/cancel`);
  expect(await call("GET", `/browsers/${id}`)).toMatchObject({ session_id: id });
  const next = FlowRun.parse(await call("POST", `/flows/${flow}/runs`, { session: id, ...long }));
  const read = async (wait = 0) =>
    FlowRun.parse(await call("GET", `/flows/${flow}/runs/${next.id}?wait_seconds=${String(wait)}`));
  await eventually(async () => (await read()).rows[0]?.session_id === id);
  await call("DELETE", `/browsers/${id}`);
  expect(await refused(flow, { session: id })).toMatchObject({ status: 404 });
  let after = await read();
  while (after.status === "running") after = await read(50);
  // A person was asked before the end of the session, or not.
  expect(["failed", "diverged"]).toContain(after.status);
  expect(after.rows).toMatchObject([{ session_id: id }]);
  const { key } = await flows.server.addProject("run-stranger");
  const theirs = Browser.parse((await flows.server.request("POST", "/browsers", { key, body: {} })).body);
  expect(await refused(flow, { session: theirs.session_id })).toMatchObject({ status: 404 });
});

it("takes its request for a person back when a run is canceled", async () => {
  const id = await open();
  const flow = await flowOf([{ ...waiting, timeout_ms: 0 }]);
  const run = FlowRun.parse(await call("POST", `/flows/${flow}/runs`, { session: id, ...long }));
  const handoff = () => flows.server.request("GET", `/browsers/${id}/handoff`);
  await eventually(async () => (await handoff()).status === 200);
  expect(await handoff()).toMatchObject({ body: { status: "requested" } });
  await call("POST", `/flows/${flow}/runs/${run.id}/cancel`);
  expect(await handoff()).toMatchObject({ body: { status: "canceled" } });
  await call("POST", `/browsers/${id}/act`, { type: "click", role: "button", name: "Save" });
});

it("runs in a session only for keys that may act in it", async () => {
  const [own, other] = [await open(), await open()];
  const flow = await flowOf([save]);
  const { project_id: project } = await flows.server.database.query
    .selectFrom("flows")
    .select("project_id")
    .where("id", "=", flow)
    .executeTakeFirstOrThrow();
  const statements = [
    { action: "operation:flows.runs.*", resource: `projects/${project}/*` },
    { action: "browsers:use", resource: `projects/${project}/browsers/${own}` },
  ];
  const { key } = CreatedApiKey.parse(await call("POST", "/org/api_keys", { name: "one", policy: { statements } }));
  expect(await refused(flow, { session: other }, key)).toMatchObject({
    status: 403,
    body: { code: "insufficient_scope", message: expect.stringContaining("body.session") as unknown },
  });
  expect(await refused(flow, { session: own }, key)).toMatchObject({ status: 201 });
});

it("does not run in the browser of a login for callers without the right to secrets", async () => {
  const id = await open();
  const flow = await flowOf([save]);
  const signsIn = sql`update sessions set options = '{"signs_in": true}' where id = ${id}`;
  await signsIn.execute(flows.server.database.query);
  const { key } = CreatedApiKey.parse(await call("POST", "/org/api_keys", { name: "operator", role: "operator" }));
  expect(await refused(flow, { session: id }, key)).toMatchObject({ status: 403, body: { code: "forbidden" } });
});

it("runs in browsers with the viewport and the conditions of the caller", async () => {
  const browser = {
    viewport: { width: 700, height: 500 },
    conditions: { color_scheme: "dark" },
    proxy: { mode: "direct" },
  };
  const flow = await flowOf([{ action: "expect", expect: [{ text: "700 true" }] }]);
  expect(await ended(flow, { browser })).toMatchObject({ status: "succeeded" });
});

it.each([
  ["session and browser", 400, { session: "any", browser: { stealth: true } }],
  ["body.concurrency", 400, { session: "any", concurrency: 2 }],
  ["Profile none", 404, { browser: { profile: { name: "none" } } }],
  ["Proxy none", 404, { browser: { proxy: { name: "none" } } }],
  ["body.browser.viewport.width", 400, { browser: { viewport: { width: 100_000, height: 500 } } }],
  ["body.browser.replay.recording", 404, { browser: { replay: { recording: "none", on_missing: "pass" } } }],
])("refuses %s with %i before rows begin", async (what, status, body) => {
  const answer = await refused(await flowOf([save]), body);
  expect(answer).toMatchObject({ status });
  expect(JSON.stringify(answer.body)).toContain(what);
});
