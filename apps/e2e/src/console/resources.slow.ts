import { expect, it } from "vitest";
import { useService } from "../testing/service.ts";
import { usePerson, violationsOf } from "./open-console.ts";

const test = useService();
const person = usePerson(test);

it("creates, rotates and deletes an API key, and shows a refusal at its field", async () => {
  const { page, problems } = await person.openSignedIn("keys");
  await page.getByRole("row", { name: /admin/ }).waitFor();
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByLabel("Name").fill("bad\tname");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByLabel("Name").and(page.locator("[aria-invalid=true]")).waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await page.getByLabel("Name").fill("order-agent");
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
