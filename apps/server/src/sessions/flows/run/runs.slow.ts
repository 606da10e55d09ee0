import { CreatedApiKey, Flow, FlowRun } from "@shoal/schemas";
import { expect, it, onTestFinished } from "vitest";
import { startTestServer } from "../../../testing/test-server.ts";
import { buttonOnRequest, PageRuns, save, saveButton, saveStep, shortTimeoutMs } from "../testing/page-runs.ts";

const page = new PageRuns();
const { flows } = page;
const { call } = flows;

it.each([
  ["several", `<button>Save</button><button>Save</button>`, "ambiguous"],
  ["one with only one matching attribute", `<button id="save">Delete everything</button>`, "unsure"],
  ["one in another row", `<table><tr><td>Tea</td><td>${saveButton}Save</button></td></tr></table>`, "not_found"],
])("clicks no button if the page has %s", async (_, html, code) => {
  page.html = html;
  const fallbacks = [{ by: "css", value: "#save" }];
  const within = code === "not_found" ? { within: { role: "row", name: "Coffee" } } : {};
  const step = { ...saveStep, timeout_ms: shortTimeoutMs, target: { ...save, ...within, fallbacks } };
  const run = await page.ended(await page.start(await page.flowOf([step])));
  expect(run.rows[0]?.steps[1]?.divergence?.code).toBe(code);
  expect(page.submitted).toEqual([]);
});

it("goes on after a difference if the step says so", async () => {
  page.html = `${saveButton}Save</button>`;
  const target = { role: "button", name: "Accept cookies" };
  const missing = { ...saveStep, target, timeout_ms: 500, on_divergence: "continue" };
  const run = await page.ended(
    await page.start(await page.flowOf([missing, { ...saveStep, expect: [{ text: "Save" }] }])),
  );
  expect(run.rows[0]).toMatchObject({ status: "diverged", steps: [{}, { status: "diverged" }, { status: "done" }] });
  await expect.poll(() => page.submitted).toEqual(["/saved"]);
});

it("runs in browsers of another time zone, and refuses unknown ones", async () => {
  page.html = `<p></p><script>document.querySelector("p").textContent = Intl.DateTimeFormat().resolvedOptions().timeZone</script>`;
  const id = await page.flowOf([{ action: "expect", expect: [{ text: "Asia/Tokyo" }] }]);
  const run = await page.ended(await page.start(id, { browser: { location: { timezone: "asia/tokyo" } } }));
  expect(run.status).toBe("succeeded");
  const body = { browser: { location: { timezone: "Mars/Base" } } };
  expect(await flows.server.request("POST", `/flows/${id}/runs`, { body })).toMatchObject({
    status: 400,
    body: { code: "invalid_browser_location", field: "body.browser.location.timezone" },
  });
});

it("calls a page that a script keeps busy a divergence", async () => {
  page.html = `<button onclick="setTimeout(() => { for (;;); })">Work</button>${saveButton}Save</button>`;
  // Its end waits for the page for so long.
  const work = { ...saveStep, target: { role: "button", name: "Work" }, timeout_ms: 5_000 };
  const run = await page.ended(await page.start(await page.flowOf([work, { ...saveStep, timeout_ms: 1000 }])));
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
  page.html = `${saveButton}Save</button>`;
  const missing = { ...saveStep, target: { role: "button", name: "No" }, timeout_ms: 60_000, on_divergence: how };
  const run = await page.start(await page.flowOf([missing, saveStep]));
  const now = async () => FlowRun.parse(await call("GET", `/flows/${run.flow_id}/runs/${run.id}`)).rows[0];
  await expect.poll(async () => (await now())?.steps.at(-1)?.step).toBe(0);
  const session = `/browsers/${(await now())?.session_id ?? ""}`;
  await call("POST", `${session}/handoff`, { message: "I do it" });
  await expect.poll(async () => (await now())?.status).toBe("waiting");
  expect((await now())?.steps[1]?.divergence).toMatchObject({ code: "handoff_active", expected: 'click button "No"' });
  await call("GET", session);
  await call("POST", `${session}/handoff/release`, {});
  const after = await page.ended(run);
  expect([after.status, after.rows[0]?.steps.map((step) => step.status)]).toEqual([status, steps]);
  expect(await flows.server.request("GET", session)).toMatchObject({ status: 404 });
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
  page.html = passwordField;
  await call("POST", "/credentials", shop);
  const { rows } = await page.ended(await page.start(await page.flowOf([typed])));
  const uses = () => usesIn(rows[0]?.session_id).then((answer) => JSON.stringify(answer));
  await expect.poll(uses).toContain("credentials.use");

  const key = CreatedApiKey.parse(await call("POST", "/org/api_keys", { name: "short" }));
  page.html = buttonOnRequest;
  const id = await page.flowOf([saveStep, typed]);
  const answer = await flows.server.request("POST", `/flows/${id}/runs`, { body: { table: [{}, {}] }, key: key.key });
  const run = FlowRun.parse(answer.body);
  const first = async () => FlowRun.parse(await call("GET", `/flows/${id}/runs/${run.id}`)).rows[0];
  await expect.poll(async () => (await first())?.steps.at(-1)?.step).toBe(0);
  await call("DELETE", `/org/api_keys/${key.id}`);
  page.isSaveShown = true;
  const after = await page.ended(run);
  const lost = { status: "failed", error: expect.stringContaining("The API key of the caller is invalid") as string };
  expect(after.rows).toMatchObject([lost, { ...lost, session_id: null }]);
  expect(await usesIn(after.rows[0]?.session_id)).toBeUndefined();
});

it("types a stored value, for callers with the right to it alone", async () => {
  page.html = `<label>Password <input type="password"></label>${saveButton}Save</button>
    <script>document.querySelector("#save").onclick = () => fetch("/saved?" + document.querySelector("input").value);</script>`;
  await call("POST", "/credentials", { ...shop, name: "local", domain: new URL(flows.base).host });
  const id = await page.flowOf([{ ...typed, secret: { credential: "local", field: "password" } }, saveStep]);
  const { key } = CreatedApiKey.parse(await call("POST", "/org/api_keys", { name: "operator", role: "operator" }));
  expect(await flows.server.request("POST", `/flows/${id}/runs`, { body: {}, key })).toMatchObject({
    status: 403,
    body: { code: "forbidden", message: expect.stringContaining("operation:credentials.use") as unknown },
  });
  const run = await page.ended(await page.start(id));
  expect(run).toMatchObject({ status: "succeeded", rows: [{ steps: [{}, { status: "done" }, { status: "done" }] }] });
  await expect.poll(() => page.submitted).toEqual(["/saved?correct-horse"]);
  expect(JSON.stringify(run)).not.toContain("correct-horse");

  const other = { ...saveStep, target: { role: "button", name: "Other" }, timeout_ms: shortTimeoutMs };
  const withValue = { ...typed, secret: { credential: "local", field: "password" } };
  const { rows } = await page.ended(
    await page.start(await page.flowOf([{ ...other, on_divergence: "continue" }, withValue, other])),
  );
  expect(rows[0]?.steps.map(({ divergence }) => divergence?.has_picture)).toEqual([undefined, true, undefined, false]);

  // Its files stay closed after its end.
  const sessions = flows.server.database.query.selectFrom("sessions").select("options");
  expect(await sessions.where("id", "=", run.rows[0]?.session_id ?? "").execute()).toMatchObject([
    { options: { typed_stored: true } },
  ]);
});

it("starts no run and no row while the server drains", async () => {
  page.html = buttonOnRequest;
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
  page.isSaveShown = true;
  await expect.poll(async () => (await now("?wait_seconds=50")).status).toBe("canceled");
  expect((await now()).rows).toMatchObject([
    { status: "succeeded" },
    { status: "canceled", session_id: null, error: expect.stringContaining("is stopping") as string },
  ]);
});
