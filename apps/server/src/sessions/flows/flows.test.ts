import { Browser, Flow, RecordedFlow } from "@shoal/schemas";
import { expect, it } from "vitest";
import { useFlowServer } from "./testing/flow-server.ts";

const pages: Record<string, string> = {
  "/": `<title>shop</title><form action="/search"><label>Search <input type="search" name="q" id="query"></label></form>
    <nav aria-label="Account"><a href="/login">Sign in</a></nav>`,
  "/search": `<title>results</title><ul><li>Green tea <button data-testid="add-green">Add</button></li>
    <li>Black tea <button data-testid="add-black">Add</button></li></ul>`,
  "/login": `<title>sign in</title><form action="/account/4711"><label>E-mail <input name="email" autocomplete="email"></label>
    <label>Password <input type="password" name="pw"></label><button>Sign in</button></form>`,
  "/odd": `<title>odd</title><button>{{user}}</button><label>Long <textarea></textarea></label><button id="nul">Nul</button>
    <label>List <select multiple>${Array.from({ length: 25 }, (_, value) => `<option>${String(value)}</option>`).join("")}</select></label>
    <script>nul.dataset.testid = "a\\0b";</script>`,
  "/codes": `<title>codes</title><form id="codes" onsubmit="return false">
    <label>Check <input name="cvv"></label><label>Digits <input id="otp"></label><label>Number <input name="userPin"></label>
    <label>Phrase <input type="password" id="shown"></label>
    <button type="button" id="show" onclick="shown.type = 'text'">Show</button>
    <label>One-time code <input id="f1"></label><label>Late <input id="late" onfocus="this.type = 'password'"></label>
    <label>Word <input id="again" type="password"></label>
    <button type="button" id="replace" onclick="again.outerHTML = '<input id=again aria-label=Word>'">Replace</button>
    <label>User <input id="user"></label><label>Other <input id="next" type="password"></label></form>
    <p id="host"></p><button onclick="setTimeout(() => prompt('Password'))">Ask</button>
    <script>host.attachShadow({ mode: "open", delegatesFocus: true }).innerHTML = "<input type=password>";</script>`,
};
const flows = useFlowServer((request, response) => {
  const path = (request.url ?? "").replace(/[?].*/, "");
  if (path === "/moved") return response.writeHead(302, { location: "/odd?state=once" }).end();
  return response
    .writeHead(200, { "content-type": "text/html" })
    .end(`<!doctype html>${pages[path] ?? "<h1>Account</h1>"}`);
});
const { call } = flows;

it("records the actions of a session as a flow, without typed secrets", async () => {
  const { session_id: id } = Browser.parse(await call("POST", "/browsers", { timeout_seconds: 3600 }));
  const act = (body: object) => call("POST", `/browsers/${id}/act`, body);
  await act({ type: "navigate", url: `${flows.base}/` });
  await act({ type: "fill", selector: "#query", text: "tea", submit: true });
  await act({ type: "wait_for", text: "black tea" });
  const outline = (await call("POST", `/browsers/${id}/observe`, {})) as { outline: string };
  const [, ref] = /Black tea button "Add" \[(e\d+)\]/.exec(outline.outline) ?? [];
  await act({ type: "click", ref });
  await act({ type: "navigate", url: `${flows.base}/login` });
  await act({ type: "fill", role: "textbox", name: "e-mail", text: "ann@shop.example" });
  await act({ type: "fill", role: "textbox", name: "Password", text: "correct horse" });
  await act({ type: "press", keys: ["Tab", "x"] });
  await act({ type: "click", role: "button", name: "Sign in" });
  const recorded = RecordedFlow.parse(await call("POST", `/browsers/${id}/flows`, { name: "order" }));
  await call("DELETE", `/browsers/${id}`);
  const { flow, forgotten, skipped } = recorded;
  expect(forgotten).toBe(0);
  expect(JSON.stringify(recorded)).not.toContain("correct horse");
  expect(skipped).toEqual([{ action: "press", reason: expect.stringContaining("Use fill") as unknown }]);
  expect(flow).toMatchObject({ name: "order", version: 1, start_url: `${flows.base}/` });
  expect(flow.parameters).toEqual([
    { name: "search", default: "tea", secret: false },
    { name: "e_mail", default: "ann@shop.example", secret: false },
    { name: "password", secret: true },
  ]);
  expect(flow.steps.map(({ action, expect: expected, text }) => ({ action, text, expected }))).toEqual([
    { action: "fill", text: "{{search}}", expected: [{ url: `${flows.base}/search?*` }, { text: "black tea" }] },
    { action: "click", text: undefined, expected: [] },
    { action: "navigate", text: undefined, expected: [{ url: `${flows.base}/login` }] },
    { action: "fill", text: "{{e_mail}}", expected: [] },
    { action: "fill", text: "{{password}}", expected: [] },
    { action: "click", text: undefined, expected: [{ url: `${flows.base}/account/*?*` }] },
  ]);
  expect(flow.steps[0]).toMatchObject({ submit: true, target: { role: "searchbox", name: "Search" } });
  expect(flow.steps[0]?.target?.fallbacks).toEqual([
    { by: "label", value: "Search" },
    { by: "css", value: 'input[name="q"]' },
    { by: "css", value: "#query" },
  ]);
  expect(flow.steps[1]?.target).toEqual({
    ...{ role: "button", name: "Add", within: { role: "listitem", name: "Black tea" } },
    fallbacks: [{ by: "test_id", value: "add-black" }],
  });
  expect(await flows.server.request("POST", `/browsers/${id}/flows`, { body: { name: "again" } })).toMatchObject({
    status: 404,
  });
});

it("keeps nothing that was typed in a field for secrets, however it is found", async () => {
  const { session_id: id } = Browser.parse(await call("POST", "/browsers", { timeout_seconds: 3600 }));
  const act = (body: object) => call("POST", `/browsers/${id}/act`, body);
  await act({ type: "navigate", url: `${flows.base}/codes` });
  await act({ type: "click", selector: "#show" });
  await act({ type: "click", selector: "#replace" });
  const fields = ["[name=cvv]", "#otp", "[name=userPin]", "#shown", "#f1", "#late", "#again"];
  for (const [index, selector] of fields.entries())
    await act({ type: "fill", selector, text: `canary-${String(index)}` });
  const presses = [
    ["#next", ["Shift+Q", "KP_7", "x+y"]],
    ["#codes", ["q", "w"]],
    ["#host", ["q", "w"]],
    ["#user", ["Tab", "q"]],
    ["#user", ["Tab", "q", "Shift+Tab"]],
    ["#user", ["a", "Enter"]],
    ["#user", ["Ctrl+a", "Tab"]],
  ] as const;
  for (const [selector, keys] of presses) {
    if (selector === "#codes") await act({ type: "click", selector: "#next" });
    await act({ type: "press", selector, keys });
  }
  await act({ type: "click", role: "button", name: "Ask" });
  await act({ type: "answer_dialog", text: "canary-dialog" });
  for (const values of ["parameters", "literals"]) {
    const body = { name: `codes-${values}`, values };
    const { flow: made } = RecordedFlow.parse(await call("POST", `/browsers/${id}/flows`, body));
    expect(JSON.stringify(made).match(/canary-\w+/g)).toBeNull();
    expect(made.steps.flatMap(({ keys }) => (keys === undefined ? [] : [keys]))).toEqual([
      ["a", "Enter"],
      ["Ctrl+a", "Tab"],
    ]);
    expect(made.parameters).toHaveLength(fields.length + 1);
    expect(made.parameters.at(-1)).toEqual({ name: "answer", secret: false });
    expect(made.steps.at(-1)).toMatchObject({ action: "answer_dialog", text: "{{answer}}" });
  }
  await call("DELETE", `/browsers/${id}`);
});

it("records the other actions if a flow cannot have one, and starts before redirects", async () => {
  const { session_id: id } = Browser.parse(await call("POST", "/browsers", { timeout_seconds: 3600 }));
  const act = (body: object) => call("POST", `/browsers/${id}/act`, body);
  const long = { type: "fill", role: "textbox", name: "Long" };
  const list = { type: "select", role: "listbox", name: "List" };
  await act({ type: "navigate", url: `${flows.base}/moved` });
  await act({ type: "click", role: "button", name: "{{user}}" });
  await act({ type: "wait_for", text: "{{user}}" });
  await act({ type: "press", keys: Array.from({ length: 25 }, () => "Escape") });
  await act({ ...list, values: Array.from({ length: 25 }, (_, value) => String(value)) });
  await act({ ...long, text: "x".repeat(10_001) });
  await act({ type: "click", selector: "#nul" });
  await act({ ...long, text: "fits {{user}}" });
  for (let count = 0; count < 9; count++) await act({ ...long, text: String(count) + "€".repeat(9_990) });
  const body = { name: "odd" };
  const { flow: made, skipped } = RecordedFlow.parse(await call("POST", `/browsers/${id}/flows`, body));
  await call("DELETE", `/browsers/${id}`);
  expect(made.start_url).toBe(`${flows.base}/moved`);
  expect(made.steps[0]).toMatchObject({ action: "expect", expect: [{ url: `${flows.base}/odd?*` }] });
  expect(made.parameters[0]).toEqual({ name: "long", default: "fits {{user}}", secret: false });
  expect(made.parameters.length).toBeGreaterThan(5);
  expect(
    skipped.map(({ action, reason }) => [
      action,
      /parameter of|smaller limits|at most|role and name/.exec(reason)?.[0],
    ]),
  ).toEqual([
    ["click", "parameter of"],
    ["wait_for", "parameter of"],
    ["press", "smaller limits"],
    ["select", "smaller limits"],
    ["fill", "smaller limits"],
    ...skipped.slice(5).map(() => ["fill", "at most"]),
  ]);
  expect(skipped.length).toBeGreaterThan(5);
});

const flow = {
  name: "search",
  start_url: "https://shop.example/",
  parameters: [{ name: "product" }, { name: "password", secret: true }],
  steps: [
    { action: "fill", target: { role: "textbox", name: "Search" }, text: "{{product}}", submit: true },
    { action: "fill", target: { fallbacks: [{ by: "css", value: "#pw" }] }, text: "{{password}}" },
    { action: "expect", expect: [{ text: "Results for {{product}}" }] },
  ],
};

it("keeps versions, and changes only steps into a new one", async () => {
  const { id } = Flow.parse(await call("POST", "/flows", flow));
  expect(Flow.parse(await call("PATCH", `/flows/${id}`, { name: "find" }))).toMatchObject({ version: 1, name: "find" });
  const steps = [{ action: "navigate", url: "https://shop.example/{{product}}" }];
  const changed = Flow.parse(await call("PATCH", `/flows/${id}`, { steps }));
  expect(changed).toMatchObject({ version: 2, steps: [{ action: "navigate" }], parameters: [{ name: "product" }, {}] });
  expect(Flow.parse(await call("GET", `/flows/${id}`))).toEqual(changed);
  expect(Flow.parse(await call("GET", `/flows/${id}?version=1`)).steps).toHaveLength(3);
  expect(await flows.server.request("GET", `/flows/${id}?version=3`)).toMatchObject({ status: 404 });
  expect(await flows.server.request("POST", "/flows", { body: { ...flow, name: "find" } })).toMatchObject({
    status: 409,
    body: { code: "name_taken" },
  });
  await call("DELETE", `/flows/${id}`);
  expect(await flows.server.request("GET", `/flows/${id}`)).toMatchObject({ status: 404 });
});

it("imports what it exported, in each format", async () => {
  const created = Flow.parse(await call("POST", "/flows", { ...flow, name: 'Straße 😀 \u2028 "q" */' }));
  for (const format of ["json", "playwright_ts", "playwright_python"]) {
    const answer = await fetch(`${flows.server.baseUrl}/flows/${created.id}/export?format=${format}`, {
      headers: { authorization: `Bearer ${flows.server.key}` },
    });
    expect(answer.headers.get("content-type")).toContain("text/plain");
    const text = await answer.text();
    const imported = Flow.parse(await call("POST", "/flows/import", { text, name: format }));
    expect({ ...imported, name: created.name }).toMatchObject({
      ...{ name: created.name, start_url: created.start_url, parameters: created.parameters, steps: created.steps },
    });
  }
  expect(await flows.server.request("POST", "/flows/import", { body: { text: 'test("x", () => {});' } })).toMatchObject(
    {
      status: 400,
      body: { field: "body.text" },
    },
  );
});

it.each([
  ["body.steps[0].text", { steps: [{ ...flow.steps[0], text: "{{other}}" }] }],
  ["body.steps[0].text", { steps: [{ ...flow.steps[0], text: "x{{password}}" }] }],
  ["body.steps[0].target.name", { steps: [{ ...flow.steps[0], target: { role: "textbox", name: "{{password}}" } }] }],
  ["body.steps[0].target", { steps: [{ action: "click" }] }],
  ["body.steps[0].keys", { steps: [{ action: "press" }] }],
  ["body.steps[0].url", { steps: [{ action: "navigate" }] }],
  ["body.steps[0].text", { steps: [{ action: "fill", target: flow.steps[0]?.target }] }],
  ["body.steps[0].submit", { steps: [{ action: "click", target: flow.steps[0]?.target, submit: true }] }],
  ["body.steps[0].expect", { steps: [{ action: "expect" }] }],
  ["body.parameters[1].name", { parameters: [{ name: "product" }, { name: "product" }] }],
  ["body.start_url", { start_url: "javascript:alert(1)" }],
  ["body.start_url", { start_url: "view-source:https://shop.example/{{product}}" }],
  ["body.start_url", { start_url: "https://" }],
  ["body.steps[0].url", { steps: [{ action: "open_tab", url: "javascript:{{product}}" }] }],
  ["body.steps[0].target.role", { steps: [{ action: "click", target: { name: "Save" } }] }],
])("refuses %s", async (field, change) => {
  const answer = await flows.server.request("POST", "/flows", { body: { ...flow, ...change } });
  expect(answer).toMatchObject({ status: 400, body: { field } });
});

it.each([
  "{{product}}",
  "http://{{product}}/",
  "http://shop.example:{{product}}/a?b={{product}}",
  "localhost:{{product}}",
])("accepts the address %s", async (start_url) => {
  const answer = await flows.server.request("POST", "/flows", {
    body: { ...flow, name: `at-${String(start_url.length)}`, start_url },
  });
  expect(answer).toMatchObject({ status: 201, body: { start_url } });
});

it("shows flows to their project alone", async () => {
  const { id } = Flow.parse(await call("POST", "/flows", { ...flow, name: "own" }));
  const { key } = await flows.server.addProject("flows-stranger");
  for (const [method, path] of [
    ["GET", ""],
    ["GET", "/export"],
    ["DELETE", ""],
  ] as const)
    expect((await flows.server.request(method, `/flows/${id}${path}`, { key })).status).toBe(404);
  expect(await flows.server.request("PATCH", `/flows/${id}`, { key, body: { name: "mine" } })).toMatchObject({
    status: 404,
  });
});
