import { Shoal } from "@shoal/client";
import { Buffer } from "node:buffer";
import { expect, it } from "vitest";
import { useService } from "../testing/service.ts";
import { usePerson, violationsOf } from "./open-console.ts";

const test = useService();
const person = usePerson(test);

it("creates, rotates and deletes an API key, and shows a refusal at its field", async () => {
  const { page, problems } = await person.openSignedIn("keys");
  await page.getByRole("row", { name: /admin/ }).waitFor();
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("bad\tname");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("dialog").getByLabel("Name").and(page.locator("[aria-invalid=true]")).waitFor();
  await expect.poll(() => violationsOf(page)).toEqual([]);
  await page.getByRole("dialog").getByLabel("Name").fill("order-agent");
  await page.getByRole("button", { name: "Create" }).click();
  const shown = page.getByLabel("Your new key").getByText(/^sk_/);
  await shown.waitFor();
  await page.getByRole("button", { name: "I have copied it" }).click();
  await page.getByRole("button", { name: "Actions for key order-agent" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete the key" }).click();
  await page.getByText("Key order-agent was deleted.").waitFor();
  await expect.poll(() => page.getByRole("row").count()).toBe(2);
  await expect.poll(() => violationsOf(page)).toEqual([]);
  // Chromium logs the refusal.
  expect(problems).toEqual([expect.stringContaining("status of 400")]);
  await page.close();
});

const cookie = (name: string) => ({
  name,
  value: "not-shown",
  domain: "shop.example",
  path: "/",
  expires: -1,
  httpOnly: true,
  secure: true,
  sameSite: "Lax" as const,
});

it("creates a profile, imports cookies, rolls back, clones, downloads and deletes", async () => {
  const { page, problems } = await person.openSignedIn("profiles");
  await page.getByText("No profiles").waitFor();
  await page.getByRole("button", { name: "New profile" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("shop");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { name: "shop" }).waitFor();
  await page.getByText("Nothing is saved yet").waitFor();
  for (const cookies of [[cookie("first")], [cookie("first"), cookie("second")]]) {
    await page.locator("input[type=file]").setInputFiles({
      name: "state.json",
      mimeType: "application/json",
      buffer: Buffer.from(JSON.stringify({ cookies, origins: [] })),
    });
    await page.getByRole("button", { name: "Replace the state" }).click();
    await page
      .getByRole("table", { name: "Cookies" })
      .getByText(cookies.at(-1)?.name ?? "")
      .waitFor();
  }
  expect(await page.content()).not.toContain("not-shown");
  await expect.poll(() => violationsOf(page)).toEqual([]);
  await page.getByRole("button", { name: "Roll back to version 1" }).click();
  await page.getByRole("button", { name: "Roll back", exact: true }).last().click();
  await page.getByRole("table", { name: "Versions" }).getByText("Earlier version").waitFor();
  expect((await test.shoal.profiles.storageState.get("shop"))?.cookies.length).toBe(1);
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download" }).click();
  expect((await downloading).suggestedFilename()).toBe("shop.tar.zst");
  await page.getByRole("button", { name: "Actions for profile shop" }).click();
  await page.getByRole("menuitem", { name: "Clone" }).click();
  await page.getByRole("button", { name: "Clone", exact: true }).click();
  await page.getByRole("heading", { name: "shop-copy" }).waitFor();
  await page.getByRole("button", { name: "Actions for profile shop-copy" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete the profile" }).click();
  await page.getByRole("heading", { name: "Profiles", exact: true }).waitFor();
  await page.getByRole("textbox", { name: /^Search/ }).fill("sho");
  await expect.poll(() => page.getByRole("row").count()).toBe(2);
  await expect.poll(() => page.url()).toContain("query=sho");
  await expect.poll(() => violationsOf(page)).toEqual([]);
  expect(problems).toEqual([]);
  await page.close();
});

it("creates a project, changes its limits, archives and deletes it, and shows the reason of a refusal", async () => {
  const { page, problems } = await person.openSignedIn("projects");
  await page.getByRole("button", { name: "New project" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("sales");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { name: "sales", exact: true }).waitFor();
  await page.getByRole("button", { name: "Change limits" }).click();
  await page.getByRole("dialog").getByLabel("Sessions at once").fill("2");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("0 of 2").waitFor();
  expect((await test.shoal.projects.limits.get("sales")).max_concurrent_sessions).toBe(2);
  await page.getByRole("button", { name: "Actions for project sales" }).click();
  await page.getByRole("menuitem", { name: "Archive" }).click();
  await page.getByRole("button", { name: "Archive the project" }).click();
  await page.getByText("Archived", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Actions for project sales" }).click();
  await page.getByRole("menuitem", { name: "Make active" }).click();
  await page.getByText("Active", { exact: true }).waitFor();
  const sales = new Shoal({ baseUrl: test.service.baseUrl, apiKey: test.service.apiKey, project: "sales" });
  await sales.profiles.create({ name: "left" });
  const remove = async () => {
    await page.getByRole("button", { name: "Actions for project sales" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete the project" }).click();
  };
  await remove();
  await page.getByText(/still has profiles/).waitFor();
  await sales.profiles.delete("left");
  await remove();
  await page.getByRole("heading", { name: "Projects" }).waitFor();
  await page.getByText("Limits of the organization").waitFor();
  await expect.poll(() => violationsOf(page)).toEqual([]);
  expect(problems).toEqual([expect.stringContaining("status of 409")]);
  await page.close();
});

it("shows the use of a period by project and key, and exports it", async () => {
  await test.shoal.browsers.create({ name: "used" });
  await test.shoal.browsers.delete("used");
  const started = async () => {
    let count = 0;
    for await (const row of await test.shoal.usage.list()) count += row.sessions_started;
    return count;
  };
  await expect.poll(started).toBeGreaterThan(0);
  const { page, problems } = await person.openSignedIn("usage");
  const table = page.getByRole("table", { name: "Usage by day" });
  await table.getByText("default").waitFor();
  await page.getByRole("img", { name: /^Session minutes per day: at most/ }).waitFor();
  await page.getByRole("table", { name: "Session minutes per day" }).getByRole("cell").nth(6).waitFor();
  await page.getByText("By key").click();
  await table.getByText("admin").waitFor();
  await page.getByText("30 days").click();
  await page.getByLabel("Figure").selectOption("Sessions");
  await page.getByRole("img", { name: /^Sessions per day: at most 1/ }).waitFor();
  await page.reload();
  await page.getByRole("img", { name: /^Sessions per day: at most 1/ }).waitFor();
  expect(page.url()).toMatch(/days=30.*group=api_key|group=api_key.*days=30/);
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "CSV" }).click();
  expect((await downloading).suggestedFilename()).toMatch(/^usage-.*\.csv$/);
  await expect.poll(() => violationsOf(page)).toEqual([]);
  expect(problems).toEqual([]);
  await page.close();
});
