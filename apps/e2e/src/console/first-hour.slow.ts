import { eventually } from "@shoal/testkit";
import { readFile } from "node:fs/promises";
import { chromium, type Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { useService } from "../testing/service.ts";
import { usePerson, violationsOf } from "./open-console.ts";
import { writeUsageHistory } from "./pictures/history.ts";

const test = useService();
const person = usePerson(test);

/** The title of the page is the text of its field. */
const noteUrl = `data:text/html,${encodeURIComponent(
  `<title>No note</title><textarea oninput="document.title = value" style="position: fixed; inset: 0"></textarea>`,
)}`;
const checkoutUrl = `data:text/html,${encodeURIComponent(
  `<title>Checkout</title><script>console.error("payment failed: the server answered 503")</script>`,
)}`;

/** The browser of the session crashes, and crashes again after its restart. */
async function failSession(name: string): Promise<void> {
  const { browsers } = test.shoal;
  const telemetry = { browser: { console: { enabled: true } } };
  const { session_id: id, cdp_ws_url } = await browsers.create({ name, start_url: checkoutUrl, telemetry });
  const crash = async () => {
    const client = await eventually("the browser accepts clients", () =>
      chromium.connectOverCDP(cdp_ws_url).catch(() => undefined),
    );
    // The crash leaves the call without an answer.
    (await client.newBrowserCDPSession()).send("Browser.crash").catch(() => undefined);
    await new Promise((resolve) => client.once("disconnected", resolve));
  };
  await eventually("the page reported its error", async () => {
    const { items } = await browsers.telemetry.events(id);
    return items.some(({ event }) => event.type === "console_error");
  });
  await crash();
  await eventually("it started again", async () => (await browsers.get(id)).browser_restarts === 1);
  await crash();
  await eventually(
    "the session ended",
    async () => (await browsers.get(id, { include_deleted: true })).deleted_at !== undefined,
  );
}

beforeAll(async () => {
  const [project] = (await test.shoal.projects.list()).items;
  const [key] = (await test.shoal.apiKeys.list()).items;
  await writeUsageHistory(test.folder, project?.id ?? "", key?.id ?? "");
  await failSession("checkout-agent");
});

/** For a person who reviews the pages: `SHOAL_PICTURES=folder`. */
async function show(page: Page, name: string): Promise<void> {
  const folder = process.env.SHOAL_PICTURES;
  if (folder !== undefined) await page.screenshot({ path: `${folder}/first-hour-${name}.png` });
}

async function signInByKeyboard(page: Page): Promise<void> {
  await page.getByLabel("API key").waitFor();
  await page.keyboard.type(test.service.apiKey);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Home" }).waitFor();
}

async function startAndControl(page: Page): Promise<void> {
  await page.getByLabel("Start page").fill(noteUrl);
  await page.keyboard.press("Tab");
  await page.keyboard.type("my-first");
  await page.keyboard.press("Enter");
  await page.frameLocator("iframe").getByRole("button", { name: "No note", exact: true }).waitFor();
  await show(page, "1-started");
  await page.getByRole("link", { name: "Open the session" }).click();
  await page.getByText("You are watching. Programs stay in control.").waitFor();
  await page.getByRole("button", { name: "Take control" }).click();
  await page.getByText("Your mouse and keyboard act in the session.").waitFor();
  const view = page.frameLocator("iframe[title='Live view with control']");
  await view.getByText("live", { exact: true }).waitFor();
  await view.getByRole("button", { name: "No note", exact: true }).waitFor();
  await view.getByRole("img", { name: "The session's page" }).click();
  await page.keyboard.type("Hello from a person");
  await view.getByRole("button", { name: "Hello from a person", exact: true }).waitFor();
  await show(page, "2-controlled");
  await page.getByRole("button", { name: "Return control" }).click();
  await page.getByText("You are watching. Programs stay in control.").waitFor();
}

async function findReason(page: Page): Promise<void> {
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Sessions" }).click();
  await page.getByText("Ended", { exact: true }).first().click();
  const row = page.getByRole("row", { name: /checkout-agent/ });
  await row.getByText("Crashed").waitFor();
  await show(page, "3-failed-in-list");
  await row.getByRole("link", { name: "checkout-agent" }).click();
  await page.getByRole("heading", { name: "The session failed" }).waitFor();
  await page.getByText(/^Ended: its browser crashed twice\. It ran for/).waitFor();
  await show(page, "4-reason");
  await page.getByRole("link", { name: "Console", exact: true }).click();
  await page.getByText("payment failed: the server answered 503").waitFor();
  await page.getByRole("tab", { name: "Details" }).click();
  const life = page.getByLabel("Life of the session");
  await life.getByText("Its browser crashed, and started again").waitFor();
  await life.getByText("Ended: its browser crashed twice").waitFor();
  await show(page, "5-life");
}

async function exportLastWeek(page: Page): Promise<void> {
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Usage" }).click();
  await page.getByRole("img", { name: /^Session minutes per day: at most/ }).waitFor();
  await show(page, "6-usage");
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "CSV" }).click();
  const [head = "", ...lines] = (await readFile(await (await downloading).path(), "utf8")).trim().split(/\r?\n/);
  const column = head.split(",").indexOf("session_minutes");
  const rows = lines.map((line) => ({ date: line.slice(0, 10), minutes: Number(line.split(",")[column]) }));
  // Five of the written six, because midnight may have passed since.
  const days = Array.from({ length: 5 }, (_, ago) =>
    new Date(Date.now() - (ago + 1) * 24 * 60 * 60_000).toISOString().slice(0, 10),
  );
  const shown = page.getByRole("table", { name: "Usage by day" });
  for (const day of days) {
    const minutes = rows.find(({ date }) => date === day)?.minutes ?? 0;
    expect(minutes, day).toBeGreaterThan(100);
    const name = new Date(day).toLocaleDateString("en-US", { day: "numeric", month: "short", timeZone: "UTC" });
    const amount = minutes.toLocaleString("en-US", { maximumFractionDigits: 1 });
    await shown
      .getByRole("row", { name: new RegExp(`^${name} `) })
      .getByText(amount, { exact: true })
      .waitFor();
  }
}

it("lets a person with a key alone start and control a session, find out why another failed, and export last week", async () => {
  const { page, problems } = await person.open("", { locale: "en-US" });
  await signInByKeyboard(page);
  await startAndControl(page);
  await findReason(page);
  await exportLastWeek(page);
  await expect.poll(() => violationsOf(page)).toEqual([]);
  // Live views end when their tab is left, and the service answers 404 for downloads that it does not keep.
  const expected = /^WebSocket connection to|status of 404/;
  expect(problems.filter((problem) => !expected.test(problem))).toEqual([]);
  await page.close();
});

it("loads few scripts for its first page", async () => {
  const { page, problems } = await person.openSignedIn();
  await page.getByLabel("Start page").waitFor();
  const scripts = await page.evaluate(() =>
    performance.getEntriesByType("resource").filter(({ name }) => new URL(name).pathname.endsWith(".js")),
  );
  // 15 when this was written. Without groups of modules there were 106.
  expect(scripts.length).toBeGreaterThan(5);
  expect(scripts.length).toBeLessThanOrEqual(25);
  expect(problems).toEqual([]);
  await page.close();
});
