import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { examineHost } from "@shoal/placement";
import { afterAll, beforeAll, expect, it } from "vitest";
import { missingInPython, python } from "../testing/python.ts";
import { useService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";

const run = promisify(execFile);
const require = createRequire(import.meta.url);
const orders: string[] = [];
let site: Site;
let folder: string;

const card = (color: string) =>
  `<div class=card><b>${color} shirt</b> <button type=button onclick="color.value = '${color}'">Choose</button></div>`;
const shop = `<title>shop</title><form method=post action=/order><input type=hidden name=color id=color>
  <label>Name <input name=person></label><label>Key <input name=key type=password></label>
  <label>Size <select name=size><option value=s>Small<option value=l>Large</select></label>
  <label><input type=checkbox name=gift> Gift</label><label>Day <input type=date name=day></label>
  ${card("Red")}${card("Blue")}
  <button onclick="return confirm('Sure?')">Order</button></form>`;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "shoal-exported-"));
  symlinkSync(join(import.meta.dirname, "../../node_modules"), join(folder, "node_modules"));
  site = await serveSite((request, response) => {
    response.setHeader("content-type", "text/html");
    if (request.method !== "POST") response.end(shop);
    else
      void text(request).then((body) => {
        orders.push(body);
        response.end("<title>order</title><h1>Thank you</h1>");
      });
  });
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await site.close();
});
const test = useService(() => ["--allow-private-hosts", site.host]);

/** @returns the id of a flow that an agent recorded, and the order that it sent. */
async function record() {
  const { browsers, credentials, flows } = test.shoal;
  await credentials.create({ name: "shop", domain: site.host, values: { key: "open-sesame" } });
  await using browser = await browsers.create({ start_url: site.url, timeout_seconds: 600 });
  const id = browser.session_id;
  await browsers.act(id, { type: "fill", role: "textbox", name: "Name", text: "Ada" });
  await browsers.act(id, { type: "fill", selector: "[name=key]", secret: { credential: "shop", field: "key" } });
  await browsers.act(id, { type: "select", role: "combobox", name: "Size", values: ["Large"] });
  await browsers.act(id, { type: "check", role: "checkbox", name: "Gift" });
  await browsers.act(id, { type: "fill", selector: "[name=day]", text: "2026-12-24" });
  await browsers.act(id, { type: "click", selector: ".card:nth-of-type(2) button" });
  await browsers.act(id, { type: "click", role: "button", name: "Order" });
  await browsers.act(id, { type: "answer_dialog", accept: true });
  await browsers.act(id, { type: "wait_for", role: "heading", name: "Thank you" });
  const { flow, skipped } = await flows.record(id, { name: "order" });
  expect([flow.start_url, skipped]).toEqual([site.url, []]);
  return { id: flow.id, order: orders.splice(0)[0] };
}

it("writes tests that Playwright runs in TypeScript and Python, with the same effect", async ({ annotate }) => {
  const { flows } = test.shoal;
  const { id, order } = await record();
  expect(order).toBe("color=Blue&person=Ada&key=open-sesame&size=l&gift=on&day=2026-12-24");
  const exported = async (format: "playwright_ts" | "playwright_python") =>
    text((await flows.export(id, { format })).stream);
  const executablePath = (await examineHost()).chromium?.executable ?? "";
  const program = await exported("playwright_ts");
  expect(program).not.toContain("open-sesame");
  writeFileSync(join(folder, "order.spec.ts"), program);
  writeFileSync(
    join(folder, "playwright.config.mjs"),
    `export default { reporter: "line", use: { launchOptions: ${JSON.stringify({ executablePath, args: ["--no-sandbox"] })} } };`,
  );
  const env = { ...process.env, FLOW_SHOP_KEY: "open-sesame" };
  const cli = require.resolve("@playwright/test/cli");
  const { stdout } = await run(process.execPath, [cli, "test"], { cwd: folder, env });

  expect(stdout).toContain("1 passed");
  expect(orders.splice(0)).toEqual([order]);

  const missing = missingInPython("playwright");
  if (missing !== undefined) return void (await annotate(missing));
  writeFileSync(join(folder, "flow_order.py"), await exported("playwright_python"));
  writeFileSync(
    join(folder, "run.py"),
    `from playwright.sync_api import sync_playwright
from flow_order import test_flow
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=${JSON.stringify(executablePath)}, args=["--no-sandbox"])
    test_flow(browser.new_context())
`,
  );
  await run(python, ["run.py"], { cwd: folder, env });
  expect(orders.splice(0)).toEqual([order]);
});
