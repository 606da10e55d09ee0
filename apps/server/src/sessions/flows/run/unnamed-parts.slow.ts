import { Browser, FlowRun, RecordedFlow } from "@shoal/schemas";
import { expect, it } from "vitest";
import { useFlowServer } from "../testing/flow-server.ts";

let page = "";
const submitted: string[] = [];
const flows = useFlowServer((request, response) => {
  let body = "";
  request.on("data", (chunk: Buffer) => (body += chunk.toString()));
  request.on("end", () => {
    if (request.method === "POST") submitted.push(body);
    const shown = request.method === "POST" ? "<h1>Done</h1>" : page;
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(`<!doctype html><body>${shown}`);
  });
});
const { call } = flows;

/** Records actions on a page, and returns what they submitted. */
async function record(name: string, html: string, acts: readonly object[]) {
  page = html;
  submitted.length = 0;
  const { session_id: id } = Browser.parse(await call("POST", "/browsers", { timeout_seconds: 600 }));
  await call("POST", `/browsers/${id}/act`, { type: "navigate", url: `${flows.base}/` });
  for (const act of acts) await call("POST", `/browsers/${id}/act`, act);
  const recorded = RecordedFlow.parse(await call("POST", `/browsers/${id}/flows`, { name, values: "literals" }));
  await call("DELETE", `/browsers/${id}`);
  expect(recorded.skipped).toEqual([]);
  return { flow: recorded.flow, bodies: [...submitted] };
}

async function replay(flowId: string, html: string) {
  page = html;
  submitted.length = 0;
  let run = FlowRun.parse(await call("POST", `/flows/${flowId}/runs`, {}));
  while (run.status === "running")
    run = FlowRun.parse(await call("GET", `/flows/${flowId}/runs/${run.id}?wait_seconds=50`));
  return { status: run.status, code: run.rows[0]?.steps.at(-1)?.divergence?.code, bodies: [...submitted] };
}

const card = (color: string, content: string) =>
  `<div class="card ${color.toLowerCase()}"><b>${color} shirt</b> <span>19.90</span> ${content}</div>`;
const order = (color: string) =>
  `<form method=post><input type=hidden name=shirt value=${color}><div class=row><label>Pieces <input name=pieces></label></div><div class=row><button>Buy</button></div></form>`;
const shop = (...cards: readonly string[]) =>
  `<h1>Shirts</h1><div class=grid>${cards.join("\n")}</div><p>Blue shirts are new</p>`;
const whole = (color: string) => card(color, order(color));

it("finds one of several equal cards without roles again, and nothing in another card", async () => {
  const html = shop(whole("Red"), whole("Blue"), whole("Green"));
  const blue = ".card:nth-of-type(2)";
  const { bodies, flow } = await record("cards", html, [
    { type: "fill", selector: `${blue} [name=pieces]`, text: "2" },
    { type: "click", selector: `${blue} button` },
  ]);
  expect(bodies).toEqual(["shirt=Blue&pieces=2"]);
  expect(flow.steps.map(({ target }) => target?.within)).toEqual([
    { role: "generic", name: "Blue shirt" },
    { role: "generic", name: "Blue shirt" },
  ]);
  const reordered = shop(whole("Green"), whole("White"), whole("Blue"));
  expect(await replay(flow.id, reordered)).toMatchObject({ status: "succeeded", bodies });
  await call("PATCH", `/flows/${flow.id}`, { steps: flow.steps.map((step) => ({ ...step, timeout_ms: 1_500 })) });
  const changed = [
    shop(whole("Red"), card("Blue", "Sold out")),
    shop(whole("Red")),
    shop(whole("Red"), whole("Green")),
  ];
  for (const other of changed)
    expect(await replay(flow.id, other)).toEqual({ status: "diverged", code: "not_found", bodies: [] });
  expect(await replay(flow.id, shop(whole("Blue"), whole("Blue")))).toEqual({
    ...{ status: "diverged", code: "ambiguous", bodies: [] },
  });
});

it("opens a menu whose title has no role", async () => {
  const menu = (title: string) =>
    `<style>nav div { display: none } nav:hover div { display: block }</style><nav><span>${title}</span><div><form method=post><input type=hidden name=menu value=1><button>Shirts</button></form></div></nav>`;
  const { bodies, flow } = await record("menu", menu("Products"), [
    { type: "hover", selector: "nav span" },
    { type: "click", role: "button", name: "Shirts" },
  ]);
  expect(bodies).toEqual(["menu=1"]);
  expect(await replay(flow.id, menu("Products"))).toMatchObject({ status: "succeeded", bodies });
  await call("PATCH", `/flows/${flow.id}`, { steps: flow.steps.map((step) => ({ ...step, timeout_ms: 1_500 })) });
  expect(await replay(flow.id, menu("Imprint"))).toEqual({ status: "diverged", code: "not_found", bodies: [] });
});
