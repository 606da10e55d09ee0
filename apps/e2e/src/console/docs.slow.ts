import { eventually } from "@shoal/testkit";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { useService } from "../testing/service.ts";
import { phone, usePerson, violationsOf, widthOf } from "./open-console.ts";

const test = useService();
const person = usePerson(test);

const titleOf = (page: Page) => page.getByRole("heading", { level: 1 }).textContent();

/** The page has its text before its script listens for keys. */
async function openSearch(page: Page): Promise<void> {
  const field = page.getByRole("combobox", { name: "Search" });
  await eventually("the search is open", async () => {
    if (!(await field.isVisible())) await page.keyboard.press("/");
    return field.isVisible();
  });
  await expect.poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true);
  await field.fill("");
}

it("finds a page by the keyboard alone, and follows its links", async () => {
  const { page, problems } = await person.open("../docs");
  expect(page.url()).toBe(`${test.service.baseUrl}/docs/`);
  await page.getByRole("heading", { name: "Real browsers for AI agents" }).waitFor();
  await openSearch(page);
  await page.keyboard.type("one-time codes");
  await page.getByRole("option").first().waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/docs\/guide\/credentials/);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("browsers.extend");
  await page
    .getByRole("option", { name: /browsers\.extend/ })
    .first()
    .waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/docs\/api\/browsers#browsers\.extend$/);
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Files", exact: true }).click();
  await page.waitForURL(/\/docs\/guide\/files$/);
  await expect.poll(() => titleOf(page)).toBe("Files");
  const markdown = await page.request.get(page.url(), { headers: { accept: "text/markdown" } });
  expect(await markdown.text()).toMatch(/^# Files\n/);
  await page.getByRole("link", { name: "This page as Markdown" }).click();
  await page.waitForURL(/\/docs\/guide\/files\.md$/);
  expect(problems).toEqual([]);
  await page.close();
});

it("can be used by all people, in both colors and on phones", async () => {
  const { page, problems } = await person.open("../docs/");
  const open = (path: string) => page.goto(`${test.service.baseUrl}/docs/${path}`);
  for (const path of ["", "guide/console", "deploying", "api/profiles"]) {
    await page.setViewportSize({ width: 1440, height: 900 });
    await open(path);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await page.locator(`html[data-scheme="${colorScheme}"]`).waitFor();
      await expect.poll(() => violationsOf(page), { message: `${path} in ${colorScheme}` }).toEqual([]);
    }
  }
  await page.setViewportSize(phone);
  for (const path of [
    "",
    "guide/console",
    "guide/pages",
    "settings",
    "threat-model",
    "operations",
    "api/",
    "api/profiles",
  ]) {
    await open(path);
    await expect.poll(() => widthOf(page)).toBe(phone.width);
  }
  const menu = page.getByRole("button", { name: "Pages" });
  await menu.click();
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Proxies", exact: true }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("navigation", { name: "Pages" }).waitFor({ state: "hidden" });
  await page.getByRole("button", { name: /^Appearance/ }).click();
  await page.locator('html[data-scheme="light"]').waitFor();
  expect(problems).toEqual([]);
  await page.close();
});

it("sends a request of the reference with the session of the console, in the chosen project", async () => {
  const { id } = await test.shoal.projects.create({ name: "explored" });
  const { page, problems } = await person.openSignedIn("?project=explored");
  await page.getByRole("link", { name: "API reference" }).click();
  await page.getByRole("link", { name: "Profiles", exact: true }).first().click();
  await page.getByRole("button", { name: "Try it: profiles.create" }).click();
  const form = page.getByRole("group", { name: "Try profiles.create" });
  await form.getByText("Requests use your session").waitFor();
  expect(await form.getByRole("combobox").inputValue()).toBe(id);
  await form.getByLabel("Body").fill('{ "name": ');
  await form.getByRole("button", { name: "Send" }).click();
  await form.getByRole("alert").getByText("not valid JSON").waitFor();
  await form.getByLabel("Body").fill('{ "name": "from-docs" }');
  await form.getByRole("button", { name: "Send" }).click();
  await form.getByText('"from-docs"').waitFor();
  expect((await test.shoal.profiles.get("from-docs", { headers: { "x-shoal-project": id } })).name).toBe("from-docs");
  await expect.poll(() => violationsOf(page)).toEqual([]);
  await page.setViewportSize(phone);
  await expect.poll(() => widthOf(page)).toBe(phone.width);
  expect(problems).toEqual([]);
  await page.close();
});

it("sends a request with a typed key for a signed-out person, and shows refusals", async () => {
  const { page, problems } = await person.open("../docs/api/profiles");
  await page.getByRole("button", { name: "Try it: profiles.get", exact: true }).click();
  const form = page.getByRole("group", { name: "Try profiles.get", exact: true });
  await form.getByLabel("id_or_name").fill("missing");
  await form.getByLabel("API key").fill(test.service.apiKey);
  await form.getByRole("button", { name: "Send" }).click();
  await form.getByText(/^404/).waitFor();
  await form.getByText('"code": "not_found"').waitFor();
  // Chromium logs the refusal.
  expect(problems.filter((problem) => !problem.includes("status of 404"))).toEqual([]);
  await page.close();
});

it("works below a path prefix that a proxy removes", async () => {
  const target = new URL(test.service.baseUrl);
  const proxy = createServer((incoming, outgoing) => {
    const path = (incoming.url ?? "").replace(/^\/tools\/shoal/, "");
    const passed = request(new URL(path, target), { method: incoming.method, headers: incoming.headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const { page, problems } = await person.open("../docs/");
  try {
    const base = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/tools/shoal/docs`;
    await page.goto(`${base}/guide/console`);
    await page.getByRole("img", { name: /^A session in the console/ }).waitFor();
    await openSearch(page);
    await page.keyboard.type("profiles.create");
    await page
      .getByRole("option", { name: /profiles\.create/ })
      .first()
      .waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(`${base}/api/profiles#profiles.create`);
    await page.getByRole("link", { name: "Shoal docs" }).click();
    await page.waitForURL(`${base}/`);
    expect(problems).toEqual([]);
  } finally {
    await page.close();
    proxy.closeAllConnections();
    proxy.close();
  }
});
