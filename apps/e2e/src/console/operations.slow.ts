import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { useBucket } from "../testing/bucket.ts";
import { useService } from "../testing/service.ts";
import { phone, showIn, usePerson, violationsOf, widthOf } from "./open-console.ts";

/** Receives the events of a webhook. */
const bodies: string[] = [];
const receiver = createServer((request, response) => {
  void request.toArray().then((parts: readonly Uint8Array[]) => {
    bodies.push(Buffer.concat(parts).toString());
    response.writeHead(204).end();
  });
});
beforeAll(async () => {
  await once(receiver.listen(0, "127.0.0.1"), "listening");
});
afterAll(() => {
  receiver.close();
});
const receiverUrl = () => `http://127.0.0.1:${String((receiver.address() as AddressInfo).port)}/hooks`;

const bucket = useBucket();
const test = useService(() => ["--allow-private-hosts", "127.0.0.1", ...bucket.flags()]);
const person = usePerson(test);

/** Chromium logs refusals of the service, which are part of the tests. */
const unexpected = (problems: readonly string[]) =>
  problems.filter((problem) => !/status of (?:400|404|409)/.test(problem));

async function choose(page: Page, menu: string, item: string): Promise<void> {
  await page.getByRole("button", { name: menu }).click();
  await page.getByRole("menuitem", { name: item, exact: true }).click();
  await page.getByRole("menu").waitFor({ state: "hidden" });
}

it("filters entries in the address, shows one, verifies the log and exports it", async () => {
  await test.shoal.profiles.create({ name: "audited" });
  const { page, problems } = await person.openSignedIn("audit?service=profiles");
  await page.getByRole("button", { name: "profiles.create" }).first().waitFor();
  expect(await page.getByRole("button", { name: "apiKeys.create" }).count()).toBe(0);
  await page.getByLabel("Method").selectOption("DELETE");
  await page.getByText("No entry matches").waitFor();
  expect(page.url()).toContain("method=DELETE");
  await page.getByLabel("Method").selectOption("POST");
  await page.getByRole("button", { name: "profiles.create" }).first().click();
  await page.getByRole("dialog").getByText("POST /profiles").waitFor();
  expect(page.url()).toContain("entry=");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Verify the log" }).click();
  await page.getByText("No entry was changed or removed").waitFor();
  await page.getByLabel(/^Head of an earlier check/).fill(`1:${"0".repeat(64)}`);
  await page.getByRole("button", { name: "Verify the log" }).click();
  await page.getByText("The log was changed").waitFor();
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export", exact: true }).click();
  const saved = await downloading;
  expect(saved.suggestedFilename()).toMatch(/^audit-.*\.jsonl\.gz$/);
  const lines = gunzipSync(await readFile(await saved.path())).toString();
  expect(lines).toMatch(/^\{[^\n]*"operation":"profiles.create"[^\n]*\}\n$/);
  await expect.poll(() => violationsOf(page)).toEqual([]);
  expect(unexpected(problems)).toEqual([]);
  await page.close();
});

it("names connections and the links of viewers, which have no key, in the log", async () => {
  await using browser = await test.shoal.browsers.create();
  const { page, problems } = await person.openSignedIn(`sessions/${browser.session_id}`);
  await page.frameLocator("iframe").getByText("view only").waitFor();
  await page.goto(`${test.service.baseUrl}/console/audit?strategy=live_view`);
  const entry = page.getByRole("row").filter({ hasText: "browsers.liveView." }).first();
  await entry.getByText(`Connection to /browsers/${browser.session_id}/live-view/`).waitFor();
  await entry.getByText("Live view", { exact: true }).waitFor();
  expect(await entry.getByText("GET").count()).toBe(0);
  expect(unexpected(problems)).toEqual([]);
  await page.close();
});

it("creates, tests, resumes and deletes a destination of the audit log", async () => {
  const { page, problems } = await person.openSignedIn("audit?tab=destinations");
  await page.getByText("No export destinations").waitFor();
  await page.getByRole("button", { name: "New destination" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Bucket").fill("evil.example/");
  await dialog.getByLabel("Region").fill("eu-central-1");
  await dialog.getByLabel("Role to assume").fill("arn:aws:iam::123456789012:role/audit");
  await expect.poll(() => violationsOf(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.getByLabel("Bucket").and(page.locator("[aria-invalid=true]")).waitFor();
  await dialog.getByLabel("Bucket").fill("acme-audit");
  await dialog.getByRole("button", { name: "Create" }).click();
  await page.getByText("The destination acme-audit is paused").waitFor();
  await page.getByLabel("Statement of the trust policy").getByText("sts:ExternalId").waitFor();
  const row = page.getByRole("table", { name: "Export destinations" }).getByRole("row", { name: "acme-audit/audit/" });
  await row.getByText("Paused", { exact: true }).waitFor();
  await choose(page, "Actions for destination acme-audit", "Test");
  await page.getByText("A test object was written to acme-audit.").waitFor();
  expect([...bucket.objects.keys()]).toEqual([expect.stringMatching(/^\/acme-audit\/audit\//)]);
  await choose(page, "Actions for destination acme-audit", "Resume");
  await row.getByText("Active", { exact: true }).waitFor();
  const exported = () => [...bucket.objects.keys()].filter((name) => name.endsWith(".jsonl.gz"));
  await expect.poll(exported).not.toEqual([]);
  await expect.poll(() => violationsOf(page)).toEqual([]);
  await choose(page, "Actions for destination acme-audit", "Delete");
  await page.getByRole("button", { name: "Delete the destination" }).click();
  await page.getByText("No export destinations").waitFor();
  expect(unexpected(problems)).toEqual([]);
  await page.close();
});

it("creates a webhook, shows its secret once, sends a test event and shows the delivery", async () => {
  const { page, problems } = await person.openSignedIn("webhooks");
  await page.getByText("No webhooks").waitFor();
  await page.getByRole("button", { name: "New webhook" }).click();
  await page.getByRole("dialog").getByLabel("Address").fill("ftp://example.com");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("dialog").getByLabel("Address").and(page.locator("[aria-invalid=true]")).waitFor();
  await page.getByRole("dialog").getByLabel("Address").fill(receiverUrl());
  await page.getByLabel("browser.ended").check();
  await expect.poll(() => violationsOf(page)).toEqual([]);
  await page.getByRole("button", { name: "Create" }).click();
  await page
    .getByLabel("Signing secret")
    .getByText(/^whsec_/)
    .waitFor();
  await page.getByRole("button", { name: "I have copied it" }).click();
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  await page.getByRole("link", { name: receiverUrl() }).click();
  await page.getByText("No deliveries").waitFor();
  await choose(page, "Actions for webhook", "Send a test event");
  await page.getByText("The server answered 204.").waitFor();
  expect(bodies.at(-1)).toContain("webhook.test");
  await page.getByRole("button", { name: "webhook.test" }).click();
  await page.getByLabel("Body of the request").getByText("webhook.test").waitFor();
  await page.getByRole("button", { name: "Send again" }).click();
  await expect.poll(() => bodies.length).toBe(2);
  expect(bodies[1]).toBe(bodies[0]);
  await page.keyboard.press("Escape");
  await choose(page, "Actions for webhook", "Disable");
  await page.getByText("Disabled", { exact: true }).waitFor();
  await choose(page, "Actions for webhook", "Rotate the secret");
  await page.getByRole("button", { name: "Rotate the secret" }).click();
  await page
    .getByLabel("Signing secret")
    .getByText(/^whsec_/)
    .waitFor();
  await page.getByRole("button", { name: "I have copied it" }).click();
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  await expect.poll(() => violationsOf(page)).toEqual([]);
  await choose(page, "Actions for webhook", "Delete");
  await page.getByRole("button", { name: "Delete the webhook" }).click();
  await page.getByText("No webhooks").waitFor();
  expect(unexpected(problems)).toEqual([]);
  await page.close();
});

it("stores headers without showing them again, changes and deletes a destination", async () => {
  const { destinations } = test.shoal.telemetry;
  const { page, problems } = await person.openSignedIn("telemetry");
  await page.getByRole("button", { name: "New destination" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("collector");
  await page.getByLabel("Base address").fill("collector.example.com:4318");
  await page.getByLabel("Headers (optional)").fill("Authorization: Bearer s3cret");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByLabel("Base address").and(page.locator("[aria-invalid=true]")).waitFor();
  await page.getByLabel("Base address").fill("http://127.0.0.1:4318");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("cell", { name: "Authorization" }).waitFor();
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  expect(await page.content()).not.toContain("s3cret");
  await choose(page, "Actions for destination collector", "Change");
  await page.getByLabel("Headers to add or replace").fill("x-team: growth");
  await page.getByLabel("Headers to remove").fill("Authorization");
  await expect.poll(() => violationsOf(page)).toEqual([]);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("cell", { name: "x-team" }).waitFor();
  const { items } = await destinations.list();
  expect(items.map(({ headers }) => headers)).toEqual([{ "x-team": "" }]);
  await test.shoal.browsers.create({
    name: "exporting",
    telemetry: { browser: { console: { enabled: true } }, export: { otlp: { destination: { name: "collector" } } } },
  });
  await choose(page, "Actions for destination collector", "Delete");
  await page.getByRole("button", { name: "Delete the destination" }).click();
  // A session uses it.
  await page.getByText("Request failed").waitFor();
  await test.shoal.browsers.delete("exporting");
  await choose(page, "Actions for destination collector", "Delete");
  await page.getByRole("button", { name: "Delete the destination" }).click();
  await page.getByText("No destinations").waitFor();
  expect(unexpected(problems)).toEqual([]);
  await page.close();
});

const paths = [
  "audit",
  "audit?tab=destinations",
  "webhooks",
  "telemetry",
  "connections",
  "credentials",
  "providers",
  "apps",
  "apps?tab=deployments",
  "invocations",
  "schedules",
];

it("shows empty lists on a phone without sideways scrolling, usable with assistive technology, in light and dark", async () => {
  const { page, problems } = await person.openSignedIn("", { colorScheme: "light", viewport: phone });
  for (const path of paths) {
    await page.goto(`${test.service.baseUrl}/console/${path}`);
    await page.locator("#page-title").waitFor();
    await showIn(page, "light");
    await expect.poll(() => widthOf(page), { message: path }).toBe(phone.width);
    await expect.poll(() => violationsOf(page), { message: path }).toEqual([]);
    await showIn(page, "dark");
    await expect.poll(() => violationsOf(page), { message: `${path} in dark` }).toEqual([]);
  }
  expect(unexpected(problems)).toEqual([]);
  await page.close();
});

it("keeps what others changed while a form was open", async () => {
  const { id } = await test.shoal.webhooks.create({ url: receiverUrl(), event_types: ["browser.ended"] });
  const { page, problems } = await person.openSignedIn(`webhooks/${id}`);
  await choose(page, "Actions for webhook", "Change");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel(/^Description/).fill("for the shop");
  await test.shoal.webhooks.update(id, { event_types: ["browser_pool.filled"] });
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "hidden" });
  expect(await test.shoal.webhooks.get(id)).toMatchObject({
    description: "for the shop",
    event_types: ["browser_pool.filled"],
  });
  await test.shoal.webhooks.delete(id);

  const project = await test.shoal.projects.create({ name: "shared" });
  await page.goto(`${test.service.baseUrl}/console/projects/${project.id}`);
  await page.getByRole("button", { name: "Change evidence" }).click();
  await dialog.getByLabel("Capture of new sessions").selectOption("off");
  await test.shoal.projects.update(project.id, { default_recording: true });
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "hidden" });
  expect(await test.shoal.projects.get(project.id)).toMatchObject({
    default_telemetry: ["off"],
    default_recording: true,
  });
  // Without a change, a form sends none.
  await page.getByRole("button", { name: "Change evidence" }).click();
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "hidden" });
  expect(unexpected(problems)).toEqual([]);
  await page.close();
});
