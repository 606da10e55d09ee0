import { expect, it } from "vitest";
import { useService } from "../testing/service.ts";
import { usePerson, violationsOf } from "./open-console.ts";

const test = useService();
const person = usePerson(test);

it("signs in with a key, stores nothing, and signs out", async () => {
  const { page, problems } = await person.open("sessions?status=all");
  await page.getByRole("heading", { name: "Sign in to Shoal" }).waitFor();
  await expect.poll(() => violationsOf(page)).toEqual([]);
  await page.getByLabel("API key").fill("sk_wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").getByText("You are not signed in").waitFor();
  await page.getByLabel("API key").fill(test.service.apiKey);
  await page.keyboard.press("Enter");
  // The address that was opened first.
  await page.getByRole("heading", { name: "Sessions" }).waitFor();
  expect(page.url()).toContain("status=all");
  expect(
    await page.evaluate(() =>
      JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage), document.cookie]),
    ),
  ).not.toContain(test.service.apiKey.slice(0, 12));
  await page.reload();
  await page.getByRole("button", { name: "Account and appearance" }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in to Shoal" }).waitFor();
  expect(problems).toEqual([]);
  await page.close();
});

it("starts a session, shows it live, and ends it", async () => {
  const { page, problems } = await person.openSignedIn();
  await page.getByText("No session is running").waitFor();
  await page.getByRole("textbox", { name: "Start page" }).fill("data:text/html,<title>Shop</title>Hello");
  await page.getByRole("textbox", { name: "Name" }).fill("from-home");
  await expect.poll(() => page.getByLabel("Program: TypeScript").textContent()).toContain('name: "from-home"');
  await page.getByRole("button", { name: "Start", exact: true }).click();
  const view = page.frameLocator("iframe");
  await view.getByText("Shop").first().waitFor();
  expect((await test.shoal.browsers.get("from-home")).start_url).toBe("data:text/html,<title>Shop</title>Hello");
  await page.getByRole("button", { name: "End", exact: true }).click();
  await page.getByText("The session has ended.").waitFor();
  await expect(test.shoal.browsers.get("from-home")).rejects.toMatchObject({ status: 404 });
  await expect.poll(() => violationsOf(page)).toEqual([]);
  expect(problems).toEqual([]);
  await page.close();
});

it("finds sessions by name and status, keeps the filters in the address, and shows a session", async () => {
  await using kept = await test.shoal.browsers.create({ name: "kept", tags: { team: "growth" } });
  await test.shoal.browsers.create({ name: "gone" });
  await test.shoal.browsers.delete("gone");
  const { page, problems } = await person.openSignedIn("sessions");
  await page.getByRole("link", { name: "kept" }).waitFor();
  expect(await page.getByRole("link", { name: "gone" }).count()).toBe(0);
  await page.getByText("Ended", { exact: true }).first().click();
  await page.getByRole("link", { name: "gone" }).waitFor();
  await expect.poll(() => page.url()).toContain("status=deleted");
  await page.reload();
  await page.getByRole("link", { name: "gone" }).waitFor();
  await page.getByText("All", { exact: true }).click();
  await page.getByRole("textbox", { name: /^Search/ }).fill("kep");
  await expect.poll(() => page.getByRole("row").count()).toBe(2);
  await expect.poll(() => violationsOf(page)).toEqual([]);
  await page.getByRole("link", { name: "kept" }).click();
  await page.getByRole("heading", { name: "kept" }).waitFor();
  await page.frameLocator("iframe").getByText("view only").waitFor();
  await page.getByRole("button", { name: "Take control" }).click();
  await page.getByText("Your mouse and keyboard act in the session.").waitFor();
  await test.shoal.browsers.delete(kept.session_id);
  await page.getByText(/^Ended by a request with the API key admin\. It ran for/).waitFor();
  // Before the console removes the live view, it may try to connect again.
  expect(problems.filter((problem) => !problem.startsWith("WebSocket connection to"))).toEqual([]);
  await page.close();
});
