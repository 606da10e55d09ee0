import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { useService } from "../testing/service.ts";
import { usePerson, violationsOf } from "./open-console.ts";

const test = useService();
const person = usePerson(test);

it("signs in with a key, stores a page key in place of it, and signs out", async () => {
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
  const stored = () => page.evaluate(() => JSON.stringify(Object.entries(localStorage)));
  expect(await stored()).toContain("cp_shoal_");
  await page.reload();
  await page.getByRole("button", { name: "Account and appearance" }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in to Shoal" }).waitFor();
  expect(await stored()).not.toContain("cp_shoal_");
  expect(problems).toEqual([]);
  await page.close();
});

it("shows no field for a key and sends no code of a link without TLS", async () => {
  const { page } = await person.open();
  const sent: string[] = [];
  await page.route("http://shoal.test/**", async (route) => {
    const request = route.request();
    if (request.method() !== "GET") sent.push(request.url());
    const url = request.url().replace("http://shoal.test", test.service.baseUrl);
    await route.fulfill({ response: await route.fetch({ url }) });
  });
  await page.goto("http://shoal.test/console/#link=code");
  await page.getByRole("alert").getByText("the console needs https here").waitFor();
  expect(await page.getByLabel("API key").count()).toBe(0);
  expect(sent).toEqual([]);
  await page.close();
});

it("keeps a signed-in person who opens a link, and removes its code from the address", async () => {
  const { page, problems } = await person.openSignedIn("keys");
  for (const path of ["keys#link=cl_shoal_code", "projects#link=cl_shoal_code"]) {
    await page.goto(`${test.service.baseUrl}/console/${path}`);
    await page.getByText("You are still signed in as admin.").first().waitFor();
    expect(page.url()).toBe(`${test.service.baseUrl}/console/${path.split("#")[0] ?? ""}`);
  }
  expect(problems).toEqual([]);
  await page.close();
});

it("opens nothing for a service on another port that the person visits", async () => {
  const { page } = await person.openSignedIn();
  let cookie = "";
  const other = createServer((request, response) => {
    cookie = request.headers.cookie ?? cookie;
    response.setHeader("content-type", "text/html").end("<title>other</title>");
  });
  other.listen(0, "127.0.0.1");
  await once(other, "listening");
  await page.goto(`http://127.0.0.1:${String((other.address() as AddressInfo).port)}/`);
  expect(cookie).toContain("shoal_console=cs_shoal_");
  const { baseUrl } = test.service;
  const headers = { cookie, "sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate", "x-shoal-console": "1" };
  for (const path of [
    "/browsers",
    "/console/session",
    "/org/api_keys",
    "/console/downloads/x/-/usage/export?format=csv",
  ])
    expect([path, (await fetch(baseUrl + path, { headers })).status]).toEqual([path, 401]);
  // The person is signed in as before, in every tab.
  await page.goto(`${baseUrl}/console/`);
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  await page.close();
  other.close();
});

it("takes the page key of a redirect, and no other one while it works", async () => {
  const { baseUrl } = test.service;
  const { page, problems } = await person.open();
  await page.getByRole("heading", { name: "Sign in to Shoal" }).waitFor();
  const begun = await fetch(`${baseUrl}/console/session`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-shoal-console": "none", "sec-fetch-site": "same-origin" },
    body: JSON.stringify({ api_key: test.service.apiKey }),
  });
  const { page_key: pageKey } = (await begun.json()) as { page_key: string };
  const [name = "", value = ""] = (begun.headers.get("set-cookie") ?? "").split(";", 1)[0]?.split("=", 2) ?? [];
  await page.context().addCookies([{ name, value, url: baseUrl, httpOnly: true, sameSite: "Strict" }]);
  for (const key of [pageKey, "cp_shoal_other"]) {
    await page.goto("about:blank");
    await page.goto(`${baseUrl}/console/#page_key=${key}`);
    await page.getByRole("navigation", { name: "Main" }).waitFor();
    expect(page.url()).not.toContain("page_key");
  }
  expect(problems).toEqual([]);
  await page.close();
});

it("starts a session, shows it live, and ends it", async () => {
  const { page, problems } = await person.openSignedIn();
  await page.getByText("No session is running").waitFor();
  await page.getByRole("textbox", { name: "Start page" }).fill("data:text/html,<title>Shop</title>Hello");
  await page.getByRole("textbox", { name: "Name" }).fill("from-home");
  await page.getByText("Place, language and preferences").click();
  await page.getByRole("textbox", { name: "Time zone" }).fill("Europe/Zurich");
  await page.getByRole("textbox", { name: "Position" }).fill("47.37");
  await expect.poll(() => page.getByRole("button", { name: "Start", exact: true }).isDisabled()).toBe(true);
  await page.getByRole("textbox", { name: "Position" }).fill("47.37, 8.54");
  await page.getByLabel("Color scheme").selectOption("Dark");
  await expect.poll(() => page.getByLabel("Program: TypeScript").textContent()).toContain('name: "from-home"');
  await page.getByRole("button", { name: "Start", exact: true }).click();
  const view = page.frameLocator("iframe");
  await view.getByText("Shop").first().waitFor();
  expect(await test.shoal.browsers.get("from-home")).toMatchObject({
    start_url: "data:text/html,<title>Shop</title>Hello",
    location: { timezone: "Europe/Zurich" },
    conditions: { permissions: [{ name: "geolocation" }], geolocation: { latitude: 47.37 }, color_scheme: "dark" },
  });
  await page.getByRole("button", { name: "End", exact: true }).click();
  await page.getByText("The session has ended.").waitFor();
  await expect(test.shoal.browsers.get("from-home")).rejects.toMatchObject({ status: 404 });
  await expect.poll(() => violationsOf(page)).toEqual([]);
  // The live view ends with its session.
  expect(problems.filter((problem) => !problem.startsWith("WebSocket connection to"))).toEqual([]);
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
  // Before the console removes the live view, it may try to connect again. The empty page left no last picture: 404.
  await page.getByText(/^No last picture/).waitFor();
  const expected = /^WebSocket connection to|status of 404/;
  expect(problems.filter((problem) => !expected.test(problem))).toEqual([]);
  await page.close();
});
