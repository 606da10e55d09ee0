import { expect, it } from "vitest";
import { useService } from "../testing/service.ts";
import { phone, usePerson, violationsOf, widthOf } from "./open-console.ts";

const test = useService();
const person = usePerson(test);

/** Swagger UI has nested buttons, headings without their parents, text outside of landmarks, and a body without a label. */
const known = /^(?:heading-order|label|nested-interactive|region|scrollable-region-focusable):/;
const unexpected = (violations: readonly string[]) => violations.filter((violation) => !known.test(violation));

it("describes the operations to a signed-out person, and finds one by its summary", async () => {
  const { page, problems } = await person.open("../docs");
  await page.getByText("You are not signed in.").waitFor();
  expect(page.url()).toBe(`${test.service.baseUrl}/docs/`);
  await page.getByRole("heading", { name: /^Browsers/ }).waitFor();
  await expect.poll(async () => unexpected(await violationsOf(page))).toEqual([]);
  await page.getByPlaceholder(/^Filter/).fill("get a project by id");
  await expect.poll(() => page.getByRole("heading", { level: 3 }).count()).toBe(1);
  await page.getByRole("link", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Sign in to Shoal" }).waitFor();
  expect(problems).toEqual([]);
  await page.close();
});

it("sends requests with the session of the console, in the chosen project", async () => {
  const { id } = await test.shoal.projects.create({ name: "explored" });
  const { page, problems } = await person.openSignedIn("");
  await page.goto(`${test.service.baseUrl}/docs/?project=explored#/Profiles/profiles.create`);
  await page.getByText("Requests use your session").waitFor();
  await expect.poll(() => page.getByLabel("Project", { exact: true }).inputValue()).toBe(id);
  await page.getByRole("button", { name: "Try it out" }).click();
  await page.locator(".body-param textarea").fill('{ "name": "from-docs" }');
  await page.getByRole("button", { name: "Execute" }).click();
  const answer = page.locator(".live-responses-table");
  await answer.getByText('"from-docs"').waitFor();
  expect(await page.locator(".curl").textContent()).toContain("Authorization: Bearer $SHOAL_API_KEY");
  expect(await page.locator(".curl").textContent()).not.toMatch(/x-shoal-console/i);
  const inProject = { headers: { "x-shoal-project": id } };
  expect((await test.shoal.profiles.get("from-docs", inProject)).name).toBe("from-docs");
  await expect.poll(async () => unexpected(await violationsOf(page))).toEqual([]);
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize(phone);
  // Buttons change their colors slowly.
  await expect.poll(async () => unexpected(await violationsOf(page))).toEqual([]);
  await expect.poll(() => widthOf(page)).toBe(phone.width);
  expect(problems).toEqual([]);
  await page.close();
});
