import { createId } from "@shoal/primitives";
import { CreatedApiKey, Flow, FlowRun, Handoff, WebhookEvent } from "@shoal/schemas";
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from "vitest";
import { startWebhookReceiver, type WebhookReceiver } from "../../../testing/webhook-receiver.ts";
import { startTestServer } from "../../../testing/test-server.ts";
import { useFlowServer } from "../testing/flow-server.ts";
import { FlowRunStore } from "./run-store.ts";

let receiver: WebhookReceiver;
let html: string;
let submitted: string[] = [];
/** Whether pages with {@link buttonOnRequest} show their button. */
let isSaveShown = false;

const flows = useFlowServer((request, response) => {
  if (request.url?.startsWith("/saved") === true) submitted.push(request.url);
  if (request.url === "/shown") {
    response.end(String(isSaveShown));
    return;
  }
  response.writeHead(200, { "content-type": "text/html" }).end(`<!doctype html><title>page</title>${html}`);
});
const { call } = flows;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
});
beforeEach(() => {
  submitted = [];
  isSaveShown = false;
});
afterAll(() => receiver.close());

const save = { role: "button", name: "Save" };
const saveStep = { action: "click", target: save, timeout_ms: 60_000 };
/** Of a step for which the page has no element: enough on a busy machine, and the test waits for its end. */
const timeout_ms = 5_000;
const saveButton = `<button id="save" onclick="fetch('/saved'); document.title = 'saved'">`;
const buttonOnRequest = `<p></p><script>
  const look = async () => {
    if ((await (await fetch("/shown")).text()) !== "true") setTimeout(look, 50);
    else document.querySelector("p").outerHTML = "<button>Save</button>";
  };
  look();
</script>`;

async function flowOf(steps: readonly object[], parameters: readonly object[] = []): Promise<string> {
  const body = { name: createId(), start_url: `${flows.base}/`, steps, parameters };
  return Flow.parse(await call("POST", "/flows", body)).id;
}

const start = async (id: string, body: object = {}) => FlowRun.parse(await call("POST", `/flows/${id}/runs`, body));
async function ended(run: FlowRun): Promise<FlowRun> {
  let seen = run;
  while (seen.status === "running")
    seen = FlowRun.parse(await call("GET", `/flows/${run.flow_id}/runs/${run.id}?wait_seconds=50`));
  return seen;
}

it("runs the rows of a table, and checks expectations", async () => {
  html = `<label>Name <input oninput="document.title = this.value"></label>`;
  const target = { role: "textbox", name: "Name" };
  const id = await flowOf(
    [
      { action: "fill", target, text: "Ms {{name}}" },
      { action: "expect", expect: [{ element: target }, { text: "Name" }, { url: `${flows.base}/*` }] },
    ],
    [{ name: "name" }],
  );
  const run = await ended(await start(id, { table: [{ name: "Ada" }, { name: "Bea" }], concurrency: 2 }));
  expect(run).toMatchObject({ status: "succeeded", row_count: 2 });
  for (const { session_id: sessionId, status, steps } of run.rows) {
    expect([status, steps.map((step) => step.status)]).toEqual(["succeeded", ["done", "done", "done"]]);
    expect(steps.map(({ found_by: by, step }) => [step, by])).toEqual([
      [-1, null],
      [0, "name"],
      [1, null],
    ]);
    expect(await flows.server.request("GET", `/browsers/${sessionId ?? ""}`)).toMatchObject({ status: 404 });
  }
  expect(await call("GET", `/flows/${id}/runs`)).toMatchObject([{ id: run.id, status: "succeeded" }]);
});

it("stops at a page that differs, says how, and tells webhooks", async () => {
  await call("POST", "/webhooks", { url: receiver.url });
  html = `<button>Save as</button><button>Cancel</button>`;
  const steps = [
    { ...saveStep, timeout_ms },
    { action: "click", target: { role: "button", name: "Cancel" } },
  ];
  const run = await ended(await start(await flowOf(steps)));
  expect(run.status).toBe("diverged");
  const [row] = run.rows;
  expect(row?.steps).toHaveLength(2);
  expect(row?.steps[1]).toMatchObject({
    status: "diverged",
    divergence: {
      ...{ code: "not_found", expected: 'click button "Save"', url: `${flows.base}/`, title: "page" },
      candidates: ['button "Save as"', 'button "Cancel"'],
      has_picture: true,
    },
  });
  const path = `/flows/${run.flow_id}/runs/${run.id}/picture`;
  const { baseUrl, key } = flows.server;
  for (const query of ["", "?row=0&step=0"]) {
    const picture = await fetch(baseUrl + path + query, { headers: { authorization: `Bearer ${key}` } });
    expect(picture.headers.get("content-type")).toBe("image/jpeg");
    expect(Buffer.from(await picture.arrayBuffer()).subarray(0, 3)).toEqual(Buffer.from([0xff, 0xd8, 0xff]));
  }
  for (const query of ["?step=1", "?row=1", "?step=-1"])
    expect(await flows.server.request("GET", path + query)).toMatchObject({
      status: 404,
      body: { code: "not_found", hint: expect.stringContaining("has_picture") as string },
    });
  const types = () => receiver.received.map(({ body }) => WebhookEvent.parse(JSON.parse(body)).type);
  await expect.poll(types).toEqual(expect.arrayContaining(["flow_run.diverged", "flow_run.finished"]));
});

it.each([
  ["several", `<button>Save</button><button>Save</button>`, "ambiguous"],
  ["one with only one matching attribute", `<button id="save">Delete everything</button>`, "unsure"],
  ["one in another row", `<table><tr><td>Tea</td><td>${saveButton}Save</button></td></tr></table>`, "not_found"],
])("clicks no button if the page has %s", async (_, page, code) => {
  html = page;
  const fallbacks = [{ by: "css", value: "#save" }];
  const within = code === "not_found" ? { within: { role: "row", name: "Coffee" } } : {};
  const step = { ...saveStep, timeout_ms, target: { ...save, ...within, fallbacks } };
  const run = await ended(await start(await flowOf([step])));
  expect(run.rows[0]?.steps[1]?.divergence?.code).toBe(code);
  expect(submitted).toEqual([]);
});

it("goes on after a difference if the step says so", async () => {
  html = `${saveButton}Save</button>`;
  const target = { role: "button", name: "Accept cookies" };
  const missing = { ...saveStep, target, timeout_ms: 500, on_divergence: "continue" };
  const run = await ended(await start(await flowOf([missing, { ...saveStep, expect: [{ text: "Save" }] }])));
  expect(run.rows[0]).toMatchObject({ status: "diverged", steps: [{}, { status: "diverged" }, { status: "done" }] });
  await expect.poll(() => submitted).toEqual(["/saved"]);
});

it("waits for a person, and goes on with the next step", async () => {
  html = `<label>Code <input></label>${saveButton}Save</button>`;
  const code = {
    action: "fill",
    target: { role: "textbox", name: "Number" },
    text: "1",
    timeout_ms: 500,
    on_divergence: "wait",
  };
  const run = await start(await flowOf([code, saveStep]));
  const now = async () => FlowRun.parse(await call("GET", `/flows/${run.flow_id}/runs/${run.id}`)).rows[0];
  await expect.poll(async () => (await now())?.status).toBe("waiting");
  const sessionId = (await now())?.session_id ?? "";
  const handoff = async () => Handoff.parse(await call("GET", `/browsers/${sessionId}/handoff`));
  await expect
    .poll(() =>
      handoff().then(
        ({ message }) => message,
        () => "",
      ),
    )
    .toContain('fill textbox "Number"');
  await call("POST", `/browsers/${sessionId}/handoff/release`, {});
  const { rows, status } = await ended(run);
  expect([status, rows[0]?.steps.map((step) => step.status)]).toEqual(["succeeded", ["done", "by_person", "done"]]);
  await expect.poll(() => submitted).toEqual(["/saved"]);
});

it("runs in browsers of another time zone, and refuses unknown ones", async () => {
  html = `<p></p><script>document.querySelector("p").textContent = Intl.DateTimeFormat().resolvedOptions().timeZone</script>`;
  const id = await flowOf([{ action: "expect", expect: [{ text: "Asia/Tokyo" }] }]);
  const run = await ended(await start(id, { browser: { location: { timezone: "asia/tokyo" } } }));
  expect(run.status).toBe("succeeded");
  const body = { browser: { location: { timezone: "Mars/Base" } } };
  expect(await flows.server.request("POST", `/flows/${id}/runs`, { body })).toMatchObject({
    status: 400,
    body: { code: "invalid_browser_location", field: "body.browser.location.timezone" },
  });
});

it("calls a page that a script keeps busy a divergence", async () => {
  html = `<button onclick="setTimeout(() => { for (;;); })">Work</button>${saveButton}Save</button>`;
  // Its end waits for the page for so long.
  const work = { ...saveStep, target: { role: "button", name: "Work" }, timeout_ms: 5_000 };
  const run = await ended(await start(await flowOf([work, { ...saveStep, timeout_ms: 1000 }])));
  expect(run.rows[0]).toMatchObject({
    status: "diverged",
    steps: [{}, { status: "done" }, { divergence: { code: "page_not_responding", expected: 'click button "Save"' } }],
  });
});

it.each([
  ["stop", "diverged", ["done", "diverged"]],
  ["continue", "diverged", ["done", "diverged", "done"]],
  ["wait", "succeeded", ["done", "by_person", "done"]],
])("leaves the browser to a person who takes it over, then does as the step says: %s", async (how, status, steps) => {
  html = `${saveButton}Save</button>`;
  const missing = { ...saveStep, target: { role: "button", name: "No" }, timeout_ms: 60_000, on_divergence: how };
  const run = await start(await flowOf([missing, saveStep]));
  const now = async () => FlowRun.parse(await call("GET", `/flows/${run.flow_id}/runs/${run.id}`)).rows[0];
  await expect.poll(async () => (await now())?.steps.at(-1)?.step).toBe(0);
  const session = `/browsers/${(await now())?.session_id ?? ""}`;
  await call("POST", `${session}/handoff`, { message: "I do it" });
  await expect.poll(async () => (await now())?.status).toBe("waiting");
  expect((await now())?.steps[1]?.divergence).toMatchObject({ code: "handoff_active", expected: 'click button "No"' });
  await call("GET", session);
  await call("POST", `${session}/handoff/release`, {});
  const after = await ended(run);
  expect([after.status, after.rows[0]?.steps.map((step) => step.status)]).toEqual([status, steps]);
  expect(await flows.server.request("GET", session)).toMatchObject({ status: 404 });
});

it("cancels a run and ends its browser", async () => {
  html = `<p>nothing</p>`;
  const run = await start(await flowOf([{ ...saveStep, timeout_ms: 60_000 }]));
  const now = async () => FlowRun.parse(await call("GET", `/flows/${run.flow_id}/runs/${run.id}`)).rows[0];
  await expect.poll(async () => (await now())?.session_id).not.toBeNull();
  const canceled = FlowRun.parse(await call("POST", `/flows/${run.flow_id}/runs/${run.id}/cancel`));
  expect(canceled).toMatchObject({ status: "canceled", rows: [{ status: "canceled" }] });
  expect(await flows.server.request("GET", `/browsers/${canceled.rows[0]?.session_id ?? ""}`)).toMatchObject({
    status: 404,
  });
});

const shop = { name: "shop", domain: "shop.example", values: { password: "correct-horse" } };
const typed = {
  ...{
    action: "fill",
    target: { role: "textbox", name: "Password" },
    secret: { credential: "shop", field: "password" },
  },
  timeout_ms: 60_000,
};
const passwordField = `<label>Password <input></label>`;
async function usesIn(sessionId: string | null | undefined): Promise<unknown> {
  const [start, end] = [-600_000, 60_000].map((ms) => new Date(Date.now() + ms).toISOString());
  const answer = await call("GET", `/audit-logs?start=${start ?? ""}&end=${end ?? ""}&limit=100`);
  return JSON.stringify(answer).includes(`/browsers/${sessionId ?? ""}/act`) ? answer : undefined;
}

it("writes each use of a stored value to the audit log, and refuses it after the end of the key", async () => {
  html = passwordField;
  await call("POST", "/credentials", shop);
  const { rows } = await ended(await start(await flowOf([typed])));
  const uses = () => usesIn(rows[0]?.session_id).then((answer) => JSON.stringify(answer));
  await expect.poll(uses).toContain("credentials.use");

  const key = CreatedApiKey.parse(await call("POST", "/org/api_keys", { name: "short" }));
  html = buttonOnRequest;
  const id = await flowOf([saveStep, typed]);
  const answer = await flows.server.request("POST", `/flows/${id}/runs`, { body: { table: [{}, {}] }, key: key.key });
  const run = FlowRun.parse(answer.body);
  const first = async () => FlowRun.parse(await call("GET", `/flows/${id}/runs/${run.id}`)).rows[0];
  await expect.poll(async () => (await first())?.steps.at(-1)?.step).toBe(0);
  await call("DELETE", `/org/api_keys/${key.id}`);
  isSaveShown = true;
  const after = await ended(run);
  const lost = { status: "failed", error: expect.stringContaining("The API key of the caller is invalid") as string };
  expect(after.rows).toMatchObject([lost, { ...lost, session_id: null }]);
  expect(await usesIn(after.rows[0]?.session_id)).toBeUndefined();
});

it("types a stored value, for callers with the right to it alone", async () => {
  html = `<label>Password <input type="password"></label>${saveButton}Save</button>
    <script>document.querySelector("#save").onclick = () => fetch("/saved?" + document.querySelector("input").value);</script>`;
  await call("POST", "/credentials", { ...shop, name: "local", domain: new URL(flows.base).host });
  const id = await flowOf([{ ...typed, secret: { credential: "local", field: "password" } }, saveStep]);
  const { key } = CreatedApiKey.parse(await call("POST", "/org/api_keys", { name: "operator", role: "operator" }));
  expect(await flows.server.request("POST", `/flows/${id}/runs`, { body: {}, key })).toMatchObject({
    status: 403,
    body: { code: "forbidden", message: expect.stringContaining("operation:credentials.use") as unknown },
  });
  const run = await ended(await start(id));
  expect(run).toMatchObject({ status: "succeeded", rows: [{ steps: [{}, { status: "done" }, { status: "done" }] }] });
  await expect.poll(() => submitted).toEqual(["/saved?correct-horse"]);
  expect(JSON.stringify(run)).not.toContain("correct-horse");

  const other = { ...saveStep, target: { role: "button", name: "Other" }, timeout_ms };
  const withValue = { ...typed, secret: { credential: "local", field: "password" } };
  const { rows } = await ended(await start(await flowOf([{ ...other, on_divergence: "continue" }, withValue, other])));
  expect(rows[0]?.steps.map(({ divergence }) => divergence?.has_picture)).toEqual([undefined, true, undefined, false]);

  // Its files stay closed after its end.
  const sessions = flows.server.database.query.selectFrom("sessions").select("options");
  expect(await sessions.where("id", "=", run.rows[0]?.session_id ?? "").execute()).toMatchObject([
    { options: { typed_stored: true } },
  ]);
});

it("starts no run and no row while the server drains", async () => {
  html = buttonOnRequest;
  const drained = await startTestServer({ allow_private_hosts: ["127.0.0.1"] });
  onTestFinished(() => drained.close());
  const body = { name: "drained", start_url: `${flows.base}/`, steps: [saveStep] };
  const { id } = Flow.parse((await drained.request("POST", "/flows", { body })).body);
  const run = async (more: object) => drained.request("POST", `/flows/${id}/runs`, { body: more });
  const started = FlowRun.parse((await run({ table: [{}, {}] })).body);
  const now = async (query = "") =>
    FlowRun.parse((await drained.request("GET", `/flows/${id}/runs/${started.id}${query}`)).body);
  await expect.poll(async () => (await now()).rows[0]?.status).toBe("running");
  drained.running.drain();
  expect(await run({})).toMatchObject({ status: 503, body: { code: "shutting_down" } });
  isSaveShown = true;
  await expect.poll(async () => (await now("?wait_seconds=50")).status).toBe("canceled");
  expect((await now()).rows).toMatchObject([
    { status: "succeeded" },
    { status: "canceled", session_id: null, error: expect.stringContaining("is stopping") as string },
  ]);
});

it("counts rows that wait for the concurrency of their run", async () => {
  html = `<p>nothing</p>`;
  const id = await flowOf([{ ...saveStep, timeout_ms: 60_000 }]);
  const body = { table: Array.from({ length: 100 }, () => ({})) };
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => flows.server.request("POST", `/flows/${id}/runs`, { body })),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 201, 201, 409, 409]);
  const runs = answers.filter(({ status }) => status === 201).map((answer) => FlowRun.parse(answer.body));
  await Promise.all(runs.map((run) => call("POST", `/flows/${id}/runs/${run.id}/cancel`)));
  const next = await start(id);
  await call("POST", `/flows/${id}/runs/${next.id}/cancel`);
});

it("keeps ten pictures of a run, and those of the latest twenty runs of a flow", async () => {
  const flowId = await flowOf([saveStep]);
  const { database } = flows.server;
  const flow = database.query.selectFrom("flows").select("project_id").where("id", "=", flowId);
  const { project_id: projectId } = await flow.executeTakeFirstOrThrow();
  const store = new FlowRunStore(database, "pictures");
  const begin = () => store.insert({ projectId, flowId, version: 1, rowCount: 1 });
  const id = await begin();
  const keep = (runId: string) => (step: number) =>
    store.pictures.keep(runId, { row: 0, step, jpeg: Buffer.from("x") });
  const kept = await Promise.all(Array.from({ length: 12 }, (_, step) => keep(id)(step)));
  expect(kept.filter(Boolean)).toHaveLength(10);
  expect(await keep("deleted")(0)).toBe(false);
  const later: string[] = [];
  for (let run = 0; run < 19; run++) later.push(await begin());
  expect(await store.pictures.read(id, { row: 0 })).toEqual(Buffer.from("x"));
  await begin();
  await expect(store.pictures.read(id, { row: 0 })).rejects.toMatchObject({ status: 404 });
  await Promise.all(later.map((run) => store.finish(run, "failed")));
});

it("ends runs of a lost server as unknown", async () => {
  const flowId = await flowOf([saveStep]);
  const project = await flows.server.database.query
    .selectFrom("flows")
    .select("project_id")
    .where("id", "=", flowId)
    .executeTakeFirstOrThrow();
  const store = new FlowRunStore(flows.server.database, "lost-server");
  const id = await store.insert({ projectId: project.project_id, flowId, version: 1, rowCount: 2 });
  await store.change(id, 0, {
    status: "running",
    steps: [{ step: 0, status: "started", found_by: null, duration_ms: 0 }],
  });
  await call("POST", "/webhooks", { url: receiver.url, event_types: ["flow_run.finished"] });
  await store.loseOwn();
  const finished = () =>
    receiver.received
      .map(({ body }) => WebhookEvent.parse(JSON.parse(body)))
      .find(({ data }) => "run_id" in data && data.run_id === id);
  await expect.poll(finished).toMatchObject({ type: "flow_run.finished", data: { status: "unknown", row_count: 2 } });
  expect(FlowRun.parse(await call("GET", `/flows/${flowId}/runs/${id}`))).toMatchObject({
    status: "unknown",
    rows: [{ status: "unknown", steps: [{ status: "started" }] }, { status: "canceled" }],
  });
});

it.each([
  ["body.parameters.other", { parameters: { name: "x", pin: { credential: "c", field: "f" }, other: "y" } }],
  ["body.parameters.name", { parameters: { pin: { credential: "c", field: "f" } } }],
  ["body.parameters.pin", { parameters: { name: "x", pin: "1234" } }],
  ["body.table[1].name", { table: [{ name: "x", pin: { credential: "c", field: "f" } }, {}] }],
])("refuses %s", async (field, body) => {
  const id = await flowOf([saveStep], [{ name: "name" }, { name: "pin", secret: true }]);
  expect(await flows.server.request("POST", `/flows/${id}/runs`, { body })).toMatchObject({
    status: 400,
    body: { field },
  });
});
