import { eventually, waitLimitMs } from "@shoal/testkit";
import { Buffer } from "node:buffer";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type PasswordProxy, startPasswordProxy } from "../testing/password-proxy.ts";
import { useService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";
import { zipOf } from "../testing/zip.ts";
import { phone, usePerson, violationsOf, widthOf } from "./open-console.ts";

const exitAddress = "203.0.113.7";
let site: Site;
let proxy: PasswordProxy;
beforeAll(async () => {
  site = await serveSite((_request, response) => {
    response.end(JSON.stringify({ ip: exitAddress }));
  });
  proxy = await startPasswordProxy("office", "not-shown");
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await site.close();
});
const test = useService(() => [
  ...["--allow-private-hosts", `${site.host},${new URL(proxy.url).host}`],
  ...["--proxy-check-url", site.url],
]);
const person = usePerson(test);

async function choose(page: Page, menu: string, item: string): Promise<void> {
  await page.getByRole("button", { name: `Actions for ${menu}` }).click();
  await page.getByRole("menuitem", { name: item }).click();
}

async function expectPhoneWidth(page: Page): Promise<void> {
  const before = page.viewportSize();
  await page.setViewportSize(phone);
  // The page lays itself out again.
  await expect.poll(() => widthOf(page)).toBeLessThanOrEqual(phone.width);
  if (before !== null) await page.setViewportSize(before);
}

it("creates a pool, shows its counts, leases a browser, and deletes both", async () => {
  const { page, problems } = await person.openSignedIn("pools");
  await page.getByText("No pools").waitFor();
  const vaults = await Promise.all(["logins", "payments"].map((name) => test.shoal.vaults.create({ name })));
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "New pool" }).click();
  await dialog.getByLabel("Name").fill("search");
  await dialog.getByLabel("Browsers").fill("1");
  await dialog.getByLabel("Video").selectOption("Record from the start");
  await dialog.getByLabel("payments").check();
  await expect.poll(() => violationsOf(page)).toEqual([]);
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { name: "search", exact: true }).waitFor();
  await page.getByLabel("1 of 1 browsers wait").waitFor({ timeout: waitLimitMs });
  const configuration = async () => (await test.shoal.browserPools.get("search")).browser_pool_config;
  expect(await configuration()).toMatchObject({ recording: { video: true }, vaults: [{ name: "payments" }] });
  await expect.poll(() => violationsOf(page)).toEqual([]);
  await expectPhoneWidth(page);
  await page.getByRole("button", { name: "Acquire a browser" }).click();
  await page.getByRole("tab", { name: "Live view" }).waitFor();
  await page.goBack();
  await page.getByLabel("1 of 1 browsers are leased").waitFor();
  await choose(page, "pool search", "Change");
  await expect.poll(() => dialog.getByLabel("payments").isChecked()).toBe(true);
  await dialog.getByLabel("payments").uncheck();
  await dialog.getByLabel("Video").selectOption("As the project or the service says");
  await page.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "hidden" });
  const changed = await configuration();
  expect([changed.vaults ?? [], changed.recording]).toEqual([[], undefined]);
  for (const { id } of vaults) await test.shoal.vaults.delete(id);
  expect((await test.shoal.browserPools.get("search")).acquired_count).toBe(1);
  await page.getByRole("link", { name: "Leased sessions" }).click();
  await page.getByRole("heading", { name: "Sessions", exact: true }).waitFor();
  await expect.poll(() => page.getByRole("row").count()).toBe(2);
  await page.getByRole("link", { name: "Pools", exact: true }).click();
  await page.getByRole("row", { name: /search/ }).waitFor();
  await expect.poll(() => violationsOf(page)).toEqual([]);
  await expectPhoneWidth(page);
  await choose(page, "pool search", "Delete");
  await page.getByText("the leased browser").waitFor();
  await page.getByRole("button", { name: "Delete the pool" }).click();
  await page.getByText("No pools").waitFor();
  await expect.poll(async () => (await test.shoal.browsers.list()).items.length).toBe(0);
  expect(problems).toEqual([]);
  await page.close();
});

it("shows the last state of a pool that was deleted elsewhere, without actions", async () => {
  const { id } = await test.shoal.browserPools.create({ name: "short-lived", size: 1, fill_rate_per_minute: 0 });
  const { page, problems } = await person.openSignedIn(`pools/${id}`);
  await page.getByRole("button", { name: "Acquire a browser" }).waitFor();
  await test.shoal.browserPools.delete(id);
  const notice = page.getByRole("alert").filter({ hasText: "This pool was deleted" });
  await notice.waitFor();
  await page.getByRole("heading", { name: "short-lived", exact: true }).waitFor();
  await page.getByRole("button", { name: "Acquire a browser" }).waitFor({ state: "hidden" });
  await expect.poll(() => violationsOf(page)).toEqual([]);
  await expectPhoneWidth(page);
  await notice.getByRole("link", { name: "Pools" }).click();
  await page.getByText("No pools").waitFor();
  expect(problems.filter((problem) => !problem.includes("status of 404"))).toEqual([]);
  await page.close();
});

it("creates a proxy, checks it, and deletes it", async () => {
  const { page, problems } = await person.openSignedIn("proxies");
  await page.getByText("No proxies").waitFor();
  const { hostname, port } = new URL(proxy.url);
  const fields = {
    Name: "office",
    Host: hostname,
    Port: "99999",
    "User name": "office",
    Password: "not-shown",
  };
  await page.getByRole("button", { name: "New proxy" }).click();
  const dialog = page.getByRole("dialog");
  for (const [label, value] of Object.entries(fields))
    await dialog
      .getByLabel(new RegExp(`^${label}`))
      .first()
      .fill(value);
  await page.getByRole("button", { name: "Create" }).click();
  await dialog.getByLabel("Port").and(page.locator("[aria-invalid=true]")).waitFor();
  await expect.poll(() => violationsOf(page)).toEqual([]);
  await dialog.getByLabel("Port").fill(port);
  await page.getByRole("button", { name: "Create" }).click();
  const row = page.getByRole("row", { name: /office/ });
  await row.getByText(`http://${hostname}:${port}`).waitFor();
  await page.getByRole("button", { name: "Check proxy office" }).click();
  await page.getByText(`The proxy works, with the address ${exitAddress}`).waitFor();
  await row.getByText("Available").waitFor();
  await row.getByText(exitAddress).waitFor();
  await expect.poll(() => violationsOf(page)).toEqual([]);
  await expectPhoneWidth(page);
  expect(await page.content()).not.toContain("not-shown");
  await choose(page, "proxy office", "Delete");
  await page.getByRole("button", { name: "Delete the proxy" }).click();
  await page.getByText("No proxies").waitFor();
  // Chromium logs the refusal of the port.
  expect(problems).toEqual([expect.stringContaining("status of 400")]);
  await page.close();
});

it("uploads an extension, shows its size and checksum, downloads it, and deletes it", async () => {
  const { page, problems } = await person.openSignedIn("extensions");
  await page.getByText("No extensions").waitFor();
  const manifest = JSON.stringify({ manifest_version: 3, name: "Blocker", version: "1.0" });
  const archive = await zipOf([{ name: "manifest.json", content: manifest }]);
  const upload = (name: string, buffer: Buffer) =>
    page.locator("input[type=file]").setInputFiles({ name, mimeType: "application/zip", buffer });
  await upload("broken.zip", Buffer.from("not an archive"));
  await page
    .getByRole("alert")
    .filter({ hasText: /archive/i })
    .waitFor();
  await upload("ad blocker.zip", Buffer.from(archive));
  await page.getByText("Extension ad-blocker was uploaded.").waitFor();
  const row = page.getByRole("row", { name: /ad-blocker/ });
  const { checksum } = await test.shoal.extensions.get("ad-blocker");
  await row.getByText(checksum?.slice(0, 12) ?? "no checksum").waitFor();
  await row.getByText("Never").waitFor();
  await expect.poll(() => violationsOf(page)).toEqual([]);
  await expectPhoneWidth(page);
  const downloading = page.waitForEvent("download");
  await choose(page, "extension ad-blocker", "Download");
  expect((await downloading).suggestedFilename()).toBe("ad-blocker.zip");
  await choose(page, "extension ad-blocker", "Delete");
  await page.getByRole("button", { name: "Delete the extension" }).click();
  await page.getByText("No extensions").waitFor();
  expect(problems).toEqual([expect.stringContaining("status of 400")]);
  await page.close();
});

it("takes a snapshot, lists it with its size, starts a session from it, and deletes it", async () => {
  const { session_id: id } = await test.shoal.browsers.create({ timeout_seconds: 600 });
  const { page: session } = await person.openSignedIn(`sessions/${id}`);
  await session.getByRole("button", { name: "Snapshot", exact: true }).click();
  await session.getByRole("textbox", { name: "Name" }).fill("signed in");
  await session.getByRole("checkbox", { name: "End the session afterwards" }).check();
  await session.getByRole("button", { name: "Take the snapshot" }).click();
  await session.getByText(/The snapshot is stored: [\d.]+ (?:[KM]i)?B\./).waitFor();
  await session.close();
  const [{ id: snapshot, session_id: of } = { id: "", session_id: "" }] = (await test.shoal.snapshots.list()).items;
  expect(of).toBe(id);
  expect((await test.shoal.browsers.get(id, { include_deleted: true })).ended_reason).toBe("deleted");
  const { page, problems } = await person.openSignedIn("snapshots");
  await page
    .getByRole("row", { name: /signed in/ })
    .getByText(/^[\d.]+ (?:[KM]i)?B$/)
    .waitFor();
  await page
    .getByRole("row", { name: /signed in/ })
    .getByText("Restored")
    .waitFor();
  await expect.poll(() => violationsOf(page)).toEqual([]);
  await expectPhoneWidth(page);
  await choose(page, "snapshot signed in", "Start a session");
  await page.getByText("A session started from snapshot signed in.").waitFor();
  await expect.poll(() => new URL(page.url()).pathname).toContain("/sessions/");
  const started = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  expect((await test.shoal.browsers.get(started)).snapshot_id).toBe(snapshot);
  await test.shoal.browsers.delete(started);
  await page.close();
  const { page: list } = await person.openSignedIn("snapshots");
  await choose(list, "snapshot signed in", "Delete");
  await list.getByRole("button", { name: "Delete the snapshot" }).click();
  await list.getByText("No snapshots").waitFor();
  expect(problems.filter((problem) => !problem.startsWith("WebSocket connection to"))).toEqual([]);
  await list.close();
});

it("lists a network recording with its content, starts a session from it, and deletes it", async () => {
  const { browsers, networkRecordings } = test.shoal;
  const { network_recording_id: id = "", session_id: of } = await browsers.create({
    ...{ start_url: site.url, recording: { network: true, seed: 7 } },
  });
  await browsers.delete(of);
  await eventually("it is stored", async () => {
    const { status } = await networkRecordings.get(id);
    return status === "complete";
  });
  const { page, problems } = await person.openSignedIn("network-recordings");
  const row = page.getByRole("row", { name: new RegExp(id) });
  await row.getByText("Complete").waitFor();
  await row.getByText(`of session ${of}`).waitFor();
  await expect.poll(() => violationsOf(page)).toEqual([]);
  await expectPhoneWidth(page);
  await choose(page, `network recording ${id}`, "Start with the recorded clock");
  await page.getByText("A session started from the recording.").waitFor();
  await expect.poll(() => new URL(page.url()).pathname).toContain("/sessions/");
  const started = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  expect((await browsers.get(started)).network_replay).toMatchObject({ recording: id, clock: "recorded" });
  await browsers.delete(started);
  await page.close();
  const { page: list } = await person.openSignedIn("network-recordings");
  await choose(list, `network recording ${id}`, "Delete");
  await list.getByRole("button", { name: "Delete the network recording" }).click();
  await list.getByText("No network recordings").waitFor();
  expect((await networkRecordings.list()).items).toEqual([]);
  expect(problems.filter((problem) => !problem.startsWith("WebSocket connection to"))).toEqual([]);
  await list.close();
});
