import { FlowRun, Handoff, WebhookEvent } from "@shoal/schemas";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startWebhookReceiver, type WebhookReceiver } from "../../../testing/webhook-receiver.ts";
import { PageRuns, saveButton, saveStep, shortTimeoutMs } from "../testing/page-runs.ts";
import { FlowRunStore } from "./run-store.ts";

let receiver: WebhookReceiver;
const page = new PageRuns();
const { flows } = page;
const { call } = flows;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
});
afterAll(() => receiver.close());

it("runs the rows of a table, and checks expectations", async () => {
  page.html = `<label>Name <input oninput="document.title = this.value"></label>`;
  const target = { role: "textbox", name: "Name" };
  const id = await page.flowOf(
    [
      { action: "fill", target, text: "Ms {{name}}" },
      { action: "expect", expect: [{ element: target }, { text: "Name" }, { url: `${flows.base}/*` }] },
    ],
    [{ name: "name" }],
  );
  const run = await page.ended(await page.start(id, { table: [{ name: "Ada" }, { name: "Bea" }], concurrency: 2 }));
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
  page.html = `<button>Save as</button><button>Cancel</button>`;
  const steps = [
    { ...saveStep, timeout_ms: shortTimeoutMs },
    { action: "click", target: { role: "button", name: "Cancel" } },
  ];
  const run = await page.ended(await page.start(await page.flowOf(steps)));
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

it("waits for a person, and goes on with the next step", async () => {
  page.html = `<label>Code <input></label>${saveButton}Save</button>`;
  const code = {
    action: "fill",
    target: { role: "textbox", name: "Number" },
    text: "1",
    timeout_ms: 500,
    on_divergence: "wait",
  };
  const run = await page.start(await page.flowOf([code, saveStep]));
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
  const { rows, status } = await page.ended(run);
  expect([status, rows[0]?.steps.map((step) => step.status)]).toEqual(["succeeded", ["done", "by_person", "done"]]);
  await expect.poll(() => page.submitted).toEqual(["/saved"]);
});

it("cancels a run and ends its browser", async () => {
  page.html = `<p>nothing</p>`;
  const run = await page.start(await page.flowOf([{ ...saveStep, timeout_ms: 60_000 }]));
  const now = async () => FlowRun.parse(await call("GET", `/flows/${run.flow_id}/runs/${run.id}`)).rows[0];
  await expect.poll(async () => (await now())?.session_id).not.toBeNull();
  const canceled = FlowRun.parse(await call("POST", `/flows/${run.flow_id}/runs/${run.id}/cancel`));
  expect(canceled).toMatchObject({ status: "canceled", rows: [{ status: "canceled" }] });
  expect(await flows.server.request("GET", `/browsers/${canceled.rows[0]?.session_id ?? ""}`)).toMatchObject({
    status: 404,
  });
});

it("counts rows that wait for the concurrency of their run", async () => {
  page.html = `<p>nothing</p>`;
  const id = await page.flowOf([{ ...saveStep, timeout_ms: 60_000 }]);
  const body = { table: Array.from({ length: 100 }, () => ({})) };
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => flows.server.request("POST", `/flows/${id}/runs`, { body })),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 201, 201, 409, 409]);
  const runs = answers.filter(({ status }) => status === 201).map((answer) => FlowRun.parse(answer.body));
  await Promise.all(runs.map((run) => call("POST", `/flows/${id}/runs/${run.id}/cancel`)));
  const next = await page.start(id);
  await call("POST", `/flows/${id}/runs/${next.id}/cancel`);
});

it("keeps ten pictures of a run, and those of the latest twenty runs of a flow", async () => {
  const flowId = await page.flowOf([saveStep]);
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
  const flowId = await page.flowOf([saveStep]);
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
  const id = await page.flowOf([saveStep], [{ name: "name" }, { name: "pin", secret: true }]);
  expect(await flows.server.request("POST", `/flows/${id}/runs`, { body })).toMatchObject({
    status: 400,
    body: { field },
  });
});
