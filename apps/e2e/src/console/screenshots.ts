// Writes the pictures of the console into docs/images: npm run screenshots
// With a folder as its argument, it also writes pictures of all sections there, for a look at them.
import { join } from "node:path";
import type { Page } from "playwright-core";
import { startService } from "@shoal/cli/service";
import { Shoal } from "@shoal/client";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { launchPerson } from "../testing/person.ts";
import { fillLists, openSection, sectionsOf } from "./every-section.ts";
import { openConsole, phone, signIn } from "./open-console.ts";

const folder = join(import.meta.dirname, "../../../../docs/images");
const everywhere = process.argv[2];
const on = { enabled: true };
const shop = `data:text/html,${encodeURIComponent(`<!doctype html><title>Shop</title>
<style>body{font:18px system-ui;margin:48px;color:#123}h1{color:#0b7285}li{margin:12px 0}button{font:inherit;padding:10px 22px;border:0;border-radius:8px;background:#0b7285;color:#fff}</style>
<h1>Open orders</h1><ul><li>1042, three chairs, paid</li><li>1043, one table, waiting for payment</li><li>1044, two lamps, packed</li></ul><button>Ship the next order</button>`)}`;

const dataDir = mkdtempSync(join(tmpdir(), "shoal-screenshots-"));
const service = await startService(dataDir, [
  ...["--warm", "0", "--log-level", "warn"],
  ...["--credential-provider-hosts", "vault.example.com"],
]);
const person = await launchPerson();
try {
  const shoal = new Shoal({ baseUrl: service.baseUrl, apiKey: service.apiKey });
  const { session_id: id } = await shoal.browsers.create({
    name: "order-agent",
    tags: { team: "sales" },
    start_url: shop,
    timeout_seconds: 600,
    viewport: { width: 1280, height: 800 },
    telemetry: { browser: { console: on, network: on, page: on, control: on, connection: on } },
  });
  await shoal.browsers.create({ name: "price-watch", tags: { team: "research" }, timeout_seconds: 900 });
  await shoal.browsers.create({ name: "invoice-export", tags: { team: "finance" }, timeout_seconds: 300 });
  const code = `await page.reload(); await page.evaluate(() => { console.log("3 open orders"); console.warn("order 1043 is not paid"); console.error("payment service: timeout after 5 s"); });`;
  await shoal.browsers.playwright.execute(id, { code });
  const { page } = await openConsole(person, service.baseUrl, { deviceScaleFactor: 1 });
  await page.getByLabel("API key").waitFor();
  await look(page, "console-sign-in");
  await signIn(page, service.apiKey);
  await page.getByRole("link", { name: "order-agent" }).waitFor();
  await page.getByRole("link", { name: "Sessions", exact: true }).click();
  await page.getByRole("row").nth(3).waitFor();
  await look(page, "console-sessions");
  await page.getByRole("link", { name: "order-agent" }).click();
  await page.frameLocator("iframe").getByText("view only").waitFor();
  await page.frameLocator("iframe").getByText("live", { exact: true }).waitFor();
  await take(page, "console-session");
  await page.getByRole("tab", { name: "Console" }).click();
  await page.getByText("3 open orders").waitFor();
  await page.emulateMedia({ colorScheme: "dark" });
  await look(page, "console-console-dark");
  await page.setViewportSize(phone);
  await page.getByRole("tab", { name: "Files" }).click();
  await page.getByRole("button", { name: "Downloads", exact: true }).waitFor();
  await take(page, "console-phone");
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.emulateMedia({ colorScheme: "light" });
  const { replay_id } = await shoal.browsers.replays.start(id, {});
  await shoal.browsers.playwright.execute(id, {
    code: `await page.reload(); await page.evaluate(() => console.log("3 open orders")); await page.waitForTimeout(2000); await page.getByRole("button").click();`,
  });
  await shoal.browsers.replays.stop(id, replay_id);
  await openSection(page, `sessions/${id}/replays/${replay_id}`);
  await page.setViewportSize({ width: 1280, height: 1000 });
  await page.waitForFunction(() => (document.querySelector("video")?.readyState ?? 0) >= 2);
  await page.keyboard.press("ArrowRight");
  await take(page, "console-recording");
  await page.setViewportSize({ width: 1280, height: 800 });
  await fillLists(shoal);
  await openSection(page, "sessions?view=grid");
  await page.getByRole("listitem").filter({ hasText: "order-agent" }).locator("img").first().waitFor();
  await page.emulateMedia({ colorScheme: "dark" });
  await look(page, "console-pictures-dark");
  await page.emulateMedia({ colorScheme: "light" });
  await openSection(page, "audit");
  await look(page, "console-audit-log");
  if (everywhere !== undefined) await takeSections(page, everywhere);
} finally {
  await person.close();
  await service.stop();
  rmSync(dataDir, { recursive: true, force: true });
}

async function take(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(folder, `${name}.png`), animations: "disabled" });
}

/** For a look only. */
async function look(page: Page, name: string): Promise<void> {
  if (everywhere !== undefined)
    await page.screenshot({ path: join(everywhere, `${name}.png`), animations: "disabled" });
}

/** On a wide screen in light, and on a phone in dark. */
async function takeSections(page: Page, target: string): Promise<void> {
  const sections = await sectionsOf(page);
  for (const { name, path } of sections) {
    const file = (kind: string) => join(target, `${name.toLowerCase().replaceAll(" ", "-")}-${kind}.png`);
    await openSection(page, path);
    await page.screenshot({ path: file("light"), fullPage: true, animations: "disabled" });
    await page.emulateMedia({ colorScheme: "dark" });
    await page.setViewportSize(phone);
    await openSection(page, path);
    await page.screenshot({ path: file("phone"), fullPage: true, animations: "disabled" });
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize({ width: 1280, height: 800 });
  }
}
