import { expect, it } from "vitest";
import { useService } from "../testing/service.ts";
import { usePerson, violationsOf } from "./open-console.ts";

const test = useService(() => ["--allow-private-hosts", "127.0.0.1", "--credential-provider-hosts", "127.0.0.1"]);
const person = usePerson(test);

/** Chromium logs refusals of the service, which are part of the tests. */
const unexpected = (problems: readonly string[]) =>
  problems.filter((problem) => !/status of (?:400|404|409|502)/.test(problem));

it("stores a credential without showing it again, and shows its one-time code", async () => {
  const { page, problems } = await person.openSignedIn("credentials");
  await page.getByText("No credentials").waitFor();
  await page.getByRole("button", { name: "New credential" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("buyer");
  await dialog.getByRole("textbox", { name: "Site" }).fill("shop.example.com");
  await dialog.getByRole("textbox", { name: "User name" }).fill("ada");
  await dialog.getByLabel("Password", { exact: true }).fill("s3cret-value");
  await dialog.getByLabel("Secret of one-time codes (optional)").fill("JBSWY3DPEHPK3PXP");
  await expect.poll(() => violationsOf(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Create" }).click();
  await page.getByRole("cell", { name: "shop.example.com" }).waitFor();
  await dialog.waitFor({ state: "hidden" });
  expect(await page.content()).not.toContain("s3cret-value");
  expect((await test.shoal.credentials.get("buyer")).value_keys).toEqual(["password", "username"]);
  await page.getByRole("button", { name: "Actions for credential buyer" }).click();
  await page.getByRole("menuitem", { name: "Show a one-time code" }).click();
  const code = page.getByTestId("code");
  await code.waitFor();
  expect(await code.textContent()).toMatch(/^\d{6}$/);
  await page.getByText(/^Valid for \d+ s/).waitFor();
  await page.getByRole("menu").waitFor({ state: "hidden" });
  await expect.poll(() => violationsOf(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Actions for credential buyer" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete the credential" }).click();
  await page.getByText("No credentials").waitFor();
  expect(unexpected(problems)).toEqual([]);
  await page.close();
});

it("creates a provider of a kind with its settings, and reports a test that fails", async () => {
  const { page, problems } = await person.openSignedIn("providers");
  await page.getByRole("button", { name: "New provider" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Kind").selectOption("vault");
  await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("company");
  await dialog.getByLabel("Token, or secret id of AppRole").fill("hvs.example");
  await dialog.getByRole("textbox", { name: "address" }).fill("https://127.0.0.1:1");
  await expect.poll(() => violationsOf(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.waitFor({ state: "hidden" });
  await page.getByRole("cell", { name: "HashiCorp Vault" }).waitFor();
  await page.getByRole("button", { name: "Actions for provider company" }).click();
  await page.getByRole("menuitem", { name: "Test" }).click();
  await page.getByText("Request failed").waitFor();
  await page.getByRole("button", { name: "Actions for provider company" }).click();
  await page.getByRole("menuitem", { name: "Disable" }).click();
  await page.getByText("Disabled", { exact: true }).waitFor();
  expect((await test.shoal.credentialProviders.list()).items).toMatchObject([{ name: "company", enabled: false }]);
  expect(unexpected(problems)).toEqual([]);
  await page.close();
});

it("creates a connection, starts a login on its page and cancels it, changes settings and deletes it", async () => {
  const { page, problems } = await person.openSignedIn("connections");
  await page.getByRole("button", { name: "New connection" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Site" }).fill("shop.example.com");
  await dialog.getByRole("textbox", { name: "Profile" }).fill("buyer");
  await dialog.getByRole("checkbox", { name: /^Check regularly/ }).uncheck();
  await expect.poll(() => violationsOf(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { name: "shop.example.com" }).waitFor();
  const opening = page.context().waitForEvent("page");
  await page.getByRole("button", { name: "Log in" }).click();
  const hosted = await opening;
  expect(hosted.url()).not.toContain("/console/");
  await hosted.close();
  await page.getByText("A login is running").or(page.getByText("The last login failed")).first().waitFor();
  const cancel = page.getByRole("button", { name: "Cancel the login" });
  // The login may end first.
  if (await cancel.isVisible()) await cancel.click().catch(() => undefined);
  await page.getByRole("row", { name: /Login by a person/ }).waitFor();
  await page.getByRole("button", { name: "Log in" }).waitFor();
  await page.getByRole("button", { name: "More actions for shop.example.com" }).click();
  await page.getByRole("menuitem", { name: "Settings" }).click();
  await page
    .getByRole("dialog")
    .getByRole("textbox", { name: "Address of the login form" })
    .fill("https://shop.example.com/in");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("cell", { name: "https://shop.example.com/in" }).waitFor();
  await expect.poll(() => violationsOf(page)).toEqual([]);
  await page.getByRole("button", { name: "More actions for shop.example.com" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete the connection" }).click();
  await page.getByText("No connections").waitFor();
  expect(unexpected(problems)).toEqual([]);
  await page.close();
});
