import type { Shoal } from "@shoal/client";
import type { FlowRun } from "@shoal/schemas";
import { eventually } from "@shoal/testkit";
import { expect, it, onTestFinished } from "vitest";
import { launchPerson } from "../testing/person.ts";
import { useService } from "../testing/service.ts";
import { serveSite } from "../testing/site.ts";

const test = useService(() => ["--allow-private-hosts", "127.0.0.1"]);

async function ended(
  { flows }: Shoal,
  flowId: string,
  body: Parameters<Shoal["flows"]["runs"]["create"]>[1],
): Promise<FlowRun> {
  let run = await flows.runs.create(flowId, body);
  while (run.status === "running") run = await flows.runs.get(flowId, run.id, { wait_seconds: 50 });
  return run;
}

it("replays a flow on a network recording, after the end of the site", async () => {
  const { browsers, flows, networkRecordings } = test.shoal;
  let visits = 0;
  const site = await serveSite((request, response) => {
    visits += 1;
    response.setHeader("content-type", "text/html");
    response.end(
      request.url === "/"
        ? `<title>shop</title><form action="/order"><label>Product <input name="product"></label><button>Order</button></form>`
        : `<title>order</title><h1>Order ${String(visits)}</h1>`,
    );
  });
  onTestFinished(() => site.close());
  const recorded = await browsers.create({ recording: { network: true } });
  const id = recorded.session_id;
  await browsers.act(id, { type: "navigate", url: site.url });
  await browsers.act(id, { type: "fill", role: "textbox", name: "Product", text: "tea" });
  await browsers.act(id, { type: "click", role: "button", name: "Order" });
  await browsers.act(id, { type: "wait_for", role: "heading", name: `Order ${String(visits)}` });
  const { flow, skipped } = await flows.record(id, { name: "order", values: "literals" });
  expect(skipped).toEqual([]);
  await browsers.delete(id);
  const recording = recorded.network_recording_id ?? "";
  await eventually("it is stored", async () => (await networkRecordings.get(recording)).status === "complete");
  await site.close();
  const before = visits;
  const run = await ended(test.shoal, flow.id, { browser: { replay: { recording } }, table: [{}, {}], concurrency: 2 });
  expect(run).toMatchObject({ status: "succeeded", row_count: 2 });
  expect(visits).toBe(before);
  const without = await ended(test.shoal, flow.id, {});
  expect(without.status).toBe("diverged");
});

it("runs in a session on any server", async () => {
  const { browsers, flows } = test.shoal;
  const site = await serveSite((_request, response) => {
    response.setHeader("content-type", "text/html").end("<button onclick='document.title += 1'>Save</button>");
  });
  onTestFinished(() => site.close());
  const { id } = await flows.create({
    name: "save",
    start_url: site.url,
    steps: [{ action: "click", target: { role: "button", name: "Save" } }],
  });
  for (const name of ["first", "second", "third"]) {
    await using browser = await browsers.create({ name, timeout_seconds: 600 });
    const { session_id: sessionId } = browser;
    expect(await ended(test.shoal, id, { session: name })).toMatchObject({
      status: "succeeded",
      rows: [{ session_id: sessionId }],
    });
    expect((await browsers.observe(sessionId)).tabs).toMatchObject([{ title: "1" }]);
  }
});

it("repeats without a model what a person did in a handoff", async () => {
  const { browsers, flows } = test.shoal;
  const orders: (string | undefined)[] = [];
  const site = await serveSite((request, response) => {
    response.setHeader("content-type", "text/html");
    if (request.url?.startsWith("/order") === true) orders.push(request.url);
    response.end(
      request.url === "/"
        ? `<title>shop</title><body style="margin:0"><form action="/order">
           <input name=product aria-label=Product style="position:absolute; left:0; top:0; width:400px; height:200px"
             oninput="document.title = this.value">
           <button style="position:absolute; left:0; top:300px; width:400px; height:200px">Order</button></form>`
        : "<title>order</title><h1>Thank you</h1>",
    );
  });
  onTestFinished(() => site.close());
  await using browser = await browsers.create({ viewport: { width: 800, height: 600 }, start_url: site.url });
  const handoff = await browser.handoff.request({ message: "Order tea", label: "Ana" });
  const person = await launchPerson();
  onTestFinished(() => person.close());
  const view = await person.newPage();
  await view.goto(handoff.url ?? "");
  await view.click("#handoff-take");
  await view.waitForSelector("body.showing:not(.read-only)");
  const box = await view.locator("#screen").boundingBox();
  const click = (x: number, y: number) =>
    view.mouse.click((box?.x ?? 0) + ((box?.width ?? 0) * x) / 800, (box?.y ?? 0) + ((box?.height ?? 0) * y) / 600);
  const becomes = (title: string) =>
    eventually(`the title ${title}`, async () => (await browser.observe()).tabs.some((tab) => tab.title === title));
  await click(200, 100);
  await view.keyboard.type("green tea");
  await becomes("green tea");
  await click(200, 400);
  await becomes("order");
  await view.click("#handoff-done");
  await handoff.done();

  const { flow, skipped } = await flows.record(browser.session_id, { name: "by hand" });
  expect(skipped).toEqual([]);
  expect(flow.steps).toMatchObject([
    { action: "fill", target: { role: "textbox", name: "Product" } },
    { action: "click", target: { role: "button", name: "Order" } },
  ]);
  const [parameter] = flow.parameters;
  const table = [{ [parameter?.name ?? ""]: "black tea" }];
  expect(await ended(test.shoal, flow.id, { table })).toMatchObject({ status: "succeeded" });
  expect(orders).toEqual(["/order?product=green+tea", "/order?product=black+tea"]);
});
