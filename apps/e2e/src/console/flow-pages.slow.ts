import { expect, it } from "vitest";
import { useService } from "../testing/service.ts";
import { phone, showIn, usePerson, violationsOf, widthOf } from "./open-console.ts";

const test = useService(() => ["--min-schedule-seconds", "1"]);
const person = usePerson(test);

const page =
  "data:text/html,<title>shop</title><label>Product <input></label><button onclick='title = document.title = `ordered`'>Buy</button>";

it("shows a flow in words, runs it by a form, shows how the page differed, and exports it", async () => {
  const { flows } = test.shoal;
  const { id } = await flows.create({
    name: "order",
    start_url: page,
    parameters: [{ name: "product", default: "tea" }],
    steps: [
      { action: "fill", target: { role: "textbox", name: "Product" }, text: "{{product}}" },
      { action: "click", target: { role: "button", name: "Order" }, timeout_ms: 0, expect: [{ text: "Thank you" }] },
    ],
  });
  const { page: tab, problems } = await person.openSignedIn("flows");
  await tab.getByRole("link", { name: "order" }).click();
  await tab.getByText("Fill textbox “Product” with {{product}}").waitFor();
  await tab.getByText("“Thank you” is visible").waitFor();
  await tab.getByText("No runs").waitFor();
  await tab.getByRole("button", { name: "Export" }).click();
  await tab.getByRole("dialog").getByText("@playwright/test").waitFor();
  await tab.getByLabel("Format").selectOption("json");
  await tab.getByRole("dialog").getByText("start_url").first().waitFor();
  await expect.poll(() => violationsOf(tab)).toEqual([]);
  await tab.keyboard.press("Escape");

  await tab.getByRole("button", { name: "Run" }).press("Enter");
  await tab.getByRole("dialog").getByLabel("product").fill("milk");
  await tab.getByRole("dialog").getByLabel("Session").fill("none");
  await tab.keyboard.press("Enter");
  await tab
    .getByRole("dialog")
    .getByText(/Browser none was not found/)
    .waitFor();
  await tab.getByRole("dialog").getByLabel("Session").fill("");
  await tab.keyboard.press("Enter");
  await tab.getByRole("heading", { name: "Run of order" }).waitFor();
  await tab.getByText("Page differed").first().waitFor();
  await tab.getByText('Expected: click button "Order"').waitFor();
  await tab.getByText('Elements that could be meant: button "Buy"').waitFor();
  await tab.getByRole("button", { name: "Show the page" }).click();
  const picture = tab.getByRole("dialog").getByRole("img", { name: "The page that differed" });
  const width = () => picture.evaluate((image) => (image as HTMLImageElement).naturalWidth);
  await expect.poll(width).toBeGreaterThan(100);
  await tab.keyboard.press("Escape");
  await picture.waitFor({ state: "detached" });
  for (const colors of ["light", "dark"] as const) {
    await showIn(tab, colors);
    await expect.poll(() => violationsOf(tab)).toEqual([]);
  }
  await tab.setViewportSize(phone);
  await expect.poll(() => widthOf(tab)).toBeLessThanOrEqual(phone.width);
  await tab.goto(`${test.service.baseUrl}/console/flows/${id}`);
  await tab.getByRole("table", { name: "Runs" }).getByText("Page differed").waitFor();
  await expect.poll(() => widthOf(tab)).toBeLessThanOrEqual(phone.width);
  await tab.getByRole("button", { name: "Actions for the flow order" }).click();
  await tab.getByRole("menuitem", { name: "Delete" }).click();
  await tab.getByRole("button", { name: "Delete the flow" }).click();
  await tab.getByText("No flows").waitFor();
  // Chromium logs the refusal.
  expect(problems).toEqual([expect.stringContaining("status of 404")]);
  await tab.close();
});

it("changes the steps of a flow as a new version", async () => {
  const { flows } = test.shoal;
  const target = { role: "textbox", name: "Product" };
  const { id } = await flows.create({
    name: "draft",
    start_url: page,
    steps: [
      { action: "press", keys: ["Tab"] },
      { action: "reload" },
      { action: "fill", target, text: "tea", expect: [{ url: "data:*" }] },
    ],
  });
  const { page: tab, problems } = await person.openSignedIn(`flows/${id}`);
  await tab.getByRole("button", { name: "Change steps" }).click();
  const act = async (step: number, action: string) => {
    await tab.getByRole("button", { name: `Actions for step ${String(step)}` }).click();
    await tab.getByRole("menuitem", { name: action }).click();
  };
  await act(3, "Move up");
  await act(3, "Delete");
  await act(2, "Change");
  const dialog = tab.getByRole("dialog");
  await dialog.getByLabel("Text").fill("{{product}}");
  await dialog.getByLabel("Kind of expectation 2").selectOption("element");
  await dialog.getByLabel("Role of expectation 2").fill("button");
  await dialog.getByLabel("Expectation 2", { exact: true }).fill("Buy");
  await dialog.getByLabel("State of expectation 2").selectOption("enabled");
  await dialog.getByLabel("If the page differs").selectOption("wait");
  await expect.poll(() => violationsOf(tab)).toEqual([]);
  await dialog.getByRole("button", { name: "Apply" }).click();
  await tab.getByText("button “Buy” is enabled").waitFor();
  await expect.poll(() => violationsOf(tab)).toEqual([]);
  expect((await flows.get(id)).version).toBe(1);
  await tab.getByRole("button", { name: "Save as version 2" }).click();
  await tab.getByText("Version 2", { exact: true }).waitFor();
  expect(await flows.get(id)).toMatchObject({
    version: 2,
    parameters: [{ name: "product", secret: false }],
    steps: [
      { action: "press", keys: ["Tab"] },
      {
        ...{ action: "fill", target, text: "{{product}}", on_divergence: "wait" },
        expect: [{ url: "data:*" }, { element: { role: "button", name: "Buy" }, state: "enabled" }],
      },
    ],
  });

  await tab.getByRole("button", { name: "Change steps" }).click();
  await act(1, "Delete");
  await flows.update(id, { steps: [{ action: "reload" }] });
  await tab.getByRole("button", { name: "Save as version 3" }).click();
  await tab.getByText("Version 3 was saved meanwhile").waitFor();
  expect((await flows.get(id)).steps).toMatchObject([{ action: "reload" }]);
  expect(problems).toEqual([]);
  await tab.close();
});

it("links a schedule to its flow and to the last run", async () => {
  const { flows, schedules } = test.shoal;
  const { id } = await flows.create({ name: "regular", start_url: page, steps: [{ action: "press", keys: ["Tab"] }] });
  const schedule = await schedules.create({ flow: id, cron: "* * * * * *" });
  const lastRun = async () => (await schedules.list({ flow: id })).items[0]?.last_flow_run_id;
  await expect.poll(lastRun).toBeDefined();
  await schedules.pause(schedule.id);
  const { page: tab, problems } = await person.openSignedIn("schedules");
  const row = tab.getByRole("row").filter({ hasText: id });
  await expect.poll(() => row.getByRole("link").count()).toBe(2);
  expect(await row.getByRole("link").evaluateAll((links) => links.map((link) => link.getAttribute("href")))).toEqual([
    `/console/flows/${id}`,
    // A later run may have begun before the pause.
    expect.stringMatching(RegExp(`^/console/flows/${id}/runs/[^/]+$`)) as unknown,
  ]);
  await row.getByRole("link").last().click();
  await tab.getByRole("heading", { name: "Run of regular" }).waitFor();
  expect(problems).toEqual([]);
  await tab.close();
});
