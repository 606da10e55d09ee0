import { expect, it, onTestFinished } from "vitest";
import { useService } from "../testing/service.ts";
import { serveSite } from "../testing/site.ts";
import { McpConnection } from "./mcp-clients.ts";

const test = useService(() => ["--allow-private-hosts", "127.0.0.1"]);

it("records a flow of its actions, and repeats it in the session", async () => {
  let button = "Order";
  const orders: string[] = [];
  const site = await serveSite((request, response) => {
    const product = new URL(request.url ?? "", "http://site").searchParams.get("product");
    if (product !== null) orders.push(product);
    response.setHeader("content-type", "text/html");
    response.end(
      `<title>shop</title><form><label>Product <input name="product"></label><button>${button}</button></form>`,
    );
  });
  onTestFinished(() => site.close());
  await using mcp = await McpConnection.overHttp(test, "tools=act,observe,flows");
  await mcp.call("navigate", { url: site.url });
  await mcp.call("fill", { role: "textbox", name: "Product", text: "tea" });
  await mcp.call("click", { role: "button", name: "Order" });
  const recorded = await mcp.call("record_flow", { name: "order" });
  expect(recorded.text).toMatch(/^Flow \w+ has 2 steps\.\nParameters: product = "tea"$/);
  const [, flow = ""] = /^Flow (\w+)/.exec(recorded.text) ?? [];
  expect((await mcp.call("list_flows")).structured).toEqual({
    flows: [{ id: flow, name: "order", start_url: site.url }],
  });
  expect((await mcp.call("run_flow", { flow, parameters: { product: "milk" } })).text).toMatch(/^succeeded: 3 of 3/);
  expect(orders).toEqual(["tea", "milk"]);
  const secret = { credential: "shop", field: "password" };
  expect(await mcp.call("run_flow", { flow, parameters: { product: secret } })).toMatchObject({ isError: true });
  const [parameter] = (await test.shoal.flows.get(flow)).parameters;
  const stored = await test.shoal.flows.create({
    ...{ name: "stored", start_url: site.url, parameters: [{ name: parameter?.name ?? "", secret: true }] },
    steps: [{ action: "fill", target: { role: "textbox", name: "Product" }, text: "{{product}}" }],
  });
  const refused = await mcp.call("run_flow", { flow: stored.id });
  expect(refused).toMatchObject({ isError: true });
  expect(refused.text).toContain("no group secrets");
  expect(orders).toEqual(["tea", "milk"]);
  button = "Buy";
  const { steps } = await test.shoal.flows.get(flow);
  await test.shoal.flows.update(flow, { steps: steps.map((step) => ({ ...step, timeout_ms: 0 })) });
  const diverged = await mcp.call("run_flow", { flow });
  expect(diverged).toMatchObject({ isError: false });
  expect(diverged.text).toContain('Step 1 expected click button "Order". Seen: No element matches.');
  expect(diverged.text).toContain('could be button "Buy"');
  // The picture of the page that differs.
  expect(diverged.text).toMatch(/\nimage$/);
  expect(orders).toEqual(["tea", "milk"]);
  const { rows } = await test.shoal.flows.runs.get(flow, (await test.shoal.flows.runs.list(flow)).items[0]?.id ?? "");
  expect((await test.shoal.browsers.list()).items).toMatchObject([{ session_id: rows[0]?.session_id }]);
});
