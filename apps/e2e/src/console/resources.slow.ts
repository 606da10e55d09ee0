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
  expect(await violationsOf(page)).toEqual([]);
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
  expect(await violationsOf(page)).toEqual([]);
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
  expect(await violationsOf(page)).toEqual([]);
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
  expect(await violationsOf(page)).toEqual([]);
  expect(problems).toEqual([]);
  await page.close();
});
