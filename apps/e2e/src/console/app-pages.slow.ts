import { beforeAll, describe, expect, it } from "vitest";
import { placements } from "../testing/components.ts";
import { useService } from "../testing/service.ts";
import { zipOf } from "../testing/zip.ts";
import { metricsFlags, openConnections } from "./open-connections.ts";
import { phone, usePerson, violationsOf, widthOf } from "./open-console.ts";

/** Registers as the framework of `@shoal/client/app` does, without a dependency. */
const source = `
const actions = new Map();
(globalThis[Symbol.for("shoal.apps.v1")] ??= new Map()).set("shop", { name: "shop", actions });
const action = (name, handler, payload) => actions.set(name, { handler, payload, output: undefined });
action("price", async (_context, { sku }) => (console.log("<b>price of</b> " + sku), { sku, cents: 4200 }));
action("wait", () => new Promise(() => undefined));
const order = {
  type: "object",
  required: ["article"],
  properties: {
    article: { type: "integer", title: "Article", description: "Its number" },
    size: { enum: ["S", "M"] },
    express: { type: "boolean" },
    price: { type: "number" },
  },
};
const validate = (value) => ({ value });
const schema = { "~standard": { version: 1, vendor: "test", validate, jsonSchema: { input: () => order } } };
action("order", async (_context, payload) => payload, schema);
`;

const [{ placement, skip, title } = { placement: "sandbox", skip: true, title: "" }] = placements;

describe.skipIf(skip)(`apps in the console, in the placement ${title}`, () => {
  const test = useService(() => ["--placement", placement, ...metricsFlags]);
  const person = usePerson(test);
  let deploymentId = "";
  beforeAll(async () => {
    const { deployments } = test.shoal;
    const archive = await zipOf([
      { name: "package.json", content: '{"type":"module"}' },
      { name: "index.js", content: source },
    ]);
    const { id } = await deployments.create({ file: new Blob([archive]), entrypoint_rel_path: "index.js" });
    deploymentId = id;
    const { status, status_reason } = await deployments.wait(id, { totalTimeoutMs: 120_000 });
    expect(status, status_reason).toBe("running");
  });

  it("invokes an action with a payload, and shows its output and its log as text", async () => {
    const { page, problems } = await person.openSignedIn("apps");
    await page.getByRole("button", { name: /^Invoke an action of shop/ }).click();
    await page.getByLabel("Action", { exact: true }).selectOption("price");
    await page.getByLabel("Payload (optional)").fill('{ "sku": 7 ');
    await page.getByRole("button", { name: "Invoke", exact: true }).last().click();
    await page.getByLabel("Payload (optional)").and(page.locator("[aria-invalid=true]")).waitFor();
    await expect.poll(() => violationsOf(page)).toEqual([]);
    await page.getByLabel("Payload (optional)").fill('{ "sku": 7 }');
    await page.getByRole("button", { name: "Invoke", exact: true }).last().click();
    await page.getByRole("heading", { name: "shop / price" }).waitFor();
    await page.getByLabel("Output of the invocation").getByText("4200").waitFor();
    await page.getByRole("log").getByText("<b>price of</b> 7").waitFor();
    await expect.poll(() => violationsOf(page)).toEqual([]);
    await page.getByRole("main").getByRole("link", { name: "Invocations" }).click();
    await page.getByRole("link", { name: "shop / price" }).waitFor();
    await page.getByLabel("Status").selectOption("failed");
    await page.getByText("Nothing matches").waitFor();
    expect(page.url()).toContain("status=failed");
    // Chromium logs the refusal.
    expect(problems).toEqual([expect.stringContaining("status of 400")]);
    await page.close();
  });

  it("has a field for each property of an action, and shows when a schedule is due", async () => {
    const { page, problems } = await person.openSignedIn("apps");
    await page.getByRole("button", { name: /^Invoke an action of shop/ }).click();
    await page.getByLabel("Action", { exact: true }).selectOption("order");
    const payload = page.getByRole("group", { name: "Payload" });
    await payload.getByLabel("Article").fill("7");
    await payload.getByLabel("size").selectOption("M");
    await payload.getByLabel("express").selectOption("false");
    await payload.getByLabel("price").pressSequentially("0.05");
    await expect.poll(() => violationsOf(page)).toEqual([]);
    await payload.getByLabel("Payload as JSON").check();
    const json = payload.getByLabel("Payload (optional)");
    expect(JSON.parse(await json.inputValue())).toEqual({ article: 7, size: "M", express: false, price: 0.05 });
    await json.fill('{ "article": 8, "size": "M", "gift": {} }');
    await payload.getByLabel("Payload as JSON").uncheck();
    await payload.getByText("Also sent: gift").waitFor();
    await payload.getByLabel("size").selectOption("");
    await page.getByRole("button", { name: "Invoke", exact: true }).last().click();
    await page.getByRole("heading", { name: "shop / order" }).waitFor();
    await page.getByLabel("Output of the invocation").getByText("gift").waitFor();
    const [{ output = "" } = {}] = (await test.shoal.invocations.list({ limit: 1 })).items;
    expect(JSON.parse(output)).toEqual({ article: 8, gift: {} });

    await page.getByRole("link", { name: "Schedules" }).click();
    await page.getByRole("button", { name: "New schedule" }).click();
    await page.getByLabel("Time zone").fill("Europe/Berlin");
    await page.getByLabel("Times").fill("0 9 29 2 *");
    await page.getByText(/^Next: .*(?:29 Feb|Feb 29)/).waitFor();
    await page.getByLabel("Times").fill("0 9 31 2 *");
    await page.getByText("This schedule never runs.").waitFor();
    await page.getByLabel("Times").fill("0 9");
    await page.getByText("Invalid times or time zone.").waitFor();
    expect(problems).toEqual([]);
    await page.close();
  });

  it("ends the streams of a running invocation and of a deployment with their pages", async () => {
    const streams = async () => (await openConnections(test)).event_streams;
    const call = { app_name: "shop", action_name: "wait", async: true } as const;
    const { id } = await test.shoal.invocations.create(call);
    await expect.poll(streams).toBe(0);
    const { page, problems } = await person.openSignedIn(`invocations/${id}`, { viewport: phone, colorScheme: "dark" });
    await page.getByText("It appears at the end.").waitFor();
    await expect.poll(streams).toBeGreaterThan(0);
    await expect.poll(() => widthOf(page)).toBe(phone.width);
    await expect.poll(() => violationsOf(page)).toEqual([]);
    await page.getByRole("main").getByRole("link", { name: "Invocations" }).click();
    await page.getByRole("link", { name: "shop / wait" }).first().waitFor();
    await expect.poll(streams).toBe(0);
    await page.goto(`${test.service.baseUrl}/console/deployments/${deploymentId}`);
    await page.getByRole("heading", { name: "Build and output" }).waitFor();
    await expect.poll(streams).toBeGreaterThan(0);
    await page.close();
    await expect.poll(streams).toBe(0);
    await test.shoal.invocations.update(id, { status: "failed" });
    expect(problems).toEqual([]);
  });

  it("cancels a running invocation", async () => {
    const call = { app_name: "shop", action_name: "wait", async: true } as const;
    const { id } = await test.shoal.invocations.create(call);
    const { page, problems } = await person.openSignedIn(`invocations/${id}`);
    await page.getByText("It appears at the end.").waitFor();
    await page.getByRole("button", { name: "Cancel", exact: true }).click();
    await page.getByRole("button", { name: "Cancel the invocation" }).click();
    await page.getByText("The invocation failed").waitFor();
    expect((await test.shoal.invocations.get(id)).status).toBe("failed");
    expect(problems).toEqual([]);
    await page.close();
  });

  it("creates, pauses and deletes a schedule", async () => {
    const { page, problems } = await person.openSignedIn("schedules");
    await page.getByText("No schedules").waitFor();
    await page.getByRole("button", { name: "New schedule" }).click();
    await page
      .getByLabel("App", { exact: true })
      .or(page.getByLabel(/^App \*/))
      .selectOption({ label: "shop, version latest" });
    await page
      .getByLabel(/^Action/)
      .last()
      .selectOption("price");
    await expect.poll(() => violationsOf(page)).toEqual([]);
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByRole("row", { name: /shop \/ price/ }).waitFor();
    await page.getByRole("button", { name: "Actions for the schedule of shop / price" }).click();
    await page.getByRole("menuitem", { name: "Pause" }).click();
    await page.getByText("Paused", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Actions for the schedule of shop / price" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete the schedule" }).click();
    await page.getByText("No schedules").waitFor();
    expect(problems).toEqual([]);
    await page.close();
  });

  it("shows the log of a deployment on a phone, and deletes the deployment", async () => {
    const { page, problems } = await person.openSignedIn(`deployments/${deploymentId}`, {
      viewport: phone,
      colorScheme: "dark",
    });
    await page.getByText("index.js", { exact: true }).waitFor();
    await page.getByRole("heading", { name: "Build and output" }).waitFor();
    await expect.poll(() => widthOf(page)).toBe(phone.width);
    await expect.poll(() => violationsOf(page)).toEqual([]);
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete the deployment" }).click();
    await page.getByText("No deployments").waitFor();
    expect(problems.filter((problem) => !problem.includes("status of 404"))).toEqual([]);
    await page.close();
  });
});
