import { playwrightMinors } from "@shoal/instance";
import { ServiceError } from "@shoal/router";
import type { IncomingHttpHeaders } from "node:http";
import { expect, it } from "vitest";
import { admitPlaywrightClient } from "./playwright-client.ts";

const newest = `Playwright/1.${String(playwrightMinors.newest)}.1 (x64; debian 13) node/24.0`;

function admit(path: string, headers: IncomingHttpHeaders = {}, isNew = true) {
  const url = new URL(path, "http://shoal.invalid");
  const { ignored } = admitPlaywrightClient({ "user-agent": newest, ...headers }, url, { isNew });
  return { ignored, settings: url.search };
}

function refusalOf(path: string, headers: IncomingHttpHeaders = {}, isNew = true) {
  try {
    admit(path, headers, isNew);
  } catch (error) {
    if (ServiceError.isInstance(error)) return { status: error.status, message: error.message };
    throw error;
  }
  return undefined;
}
const launch = (options: object) => ({ "x-playwright-launch-options": JSON.stringify(options) });

it.each([
  ["Playwright/1.59.0 (x64; debian 12) node/20.20", undefined],
  [newest, undefined],
  ["Playwright/1.60.0-alpha-2026-01-01 (x64) python/3.11", undefined],
  ["Playwright/1.58.2 (x64; debian 12) node/20.20", 428],
  [`Playwright/1.${String(playwrightMinors.newest + 1)}.0 (x64) java/21`, 428],
  ["Playwright/2.0.0 (x64)", 428],
  ["Mozilla/5.0", 428],
  [undefined, 428],
])("decides about the client %s before a session exists", (agent, status) => {
  expect(refusalOf("/playwright", { "user-agent": agent })?.status).toBe(status);
});

it("names the served versions and the next step", () => {
  expect(refusalOf("/playwright", { "user-agent": "Playwright/1.50.1 (x64) node/20" })?.message).toBe(
    `This service speaks Playwright 1.59 to 1.${String(playwrightMinors.newest)}; your client is 1.50.1. Update the client, or use chromium.connectOverCDP.`,
  );
});

it.each([
  ["/playwright", { "x-playwright-browser": "firefox" }],
  ["/playwright/webkit", {}],
  ["/playwright?browser=firefox", {}],
])("answers 501 to other browsers: %s %j", (path, headers) => {
  expect(refusalOf(path, headers)?.status).toBe(501);
});

it("refuses the client's network, and a browser with other sessions", () => {
  expect(refusalOf("/playwright", { "x-playwright-proxy": "*" })?.message).toContain("exposeNetwork");
  expect(refusalOf("/playwright", { "x-playwright-proxy": "" })).toBeUndefined();
  expect(refusalOf("/playwright?isolation=context")?.message).toContain("isolation");
});

it("makes settings of launch options, lists those without effect, and keeps settings of the address", () => {
  const options = { headless: false, slowMo: 50, timeout: 1, args: ["--window-size=800,600", "--enable-automation"] };
  expect(admit("/playwright?name=a", launch({ ...options, channel: "chrome", env: {} }))).toEqual({
    ignored: ["launch.slowMo", "launch.args"],
    settings: "?name=a&headless=false&viewport=800x600",
  });
  expect(admit("/playwright?headless=true", launch({ headless: false })).settings).toBe("?headless=true");
  expect(admit(`/playwright?launch-options=${JSON.stringify({ headless: false })}`).settings).toBe("?headless=false");
});

it("lists the options of a session that runs", () => {
  expect(admit("/browsers/a/playwright", launch({ headless: true }), false)).toEqual({
    ignored: ["launch.headless"],
    settings: "",
  });
  expect(admit("/playwright?sessionId=a", launch({ headless: true })).ignored).toEqual(["launch.headless"]);
});

it.each([
  { proxy: { server: "http://proxy.example" } },
  { env: { SECRET: "x" } },
  { channel: "msedge" },
  { userDataDir: "/home/me" },
  { args: ["--proxy-server=proxy.example"] },
  { args: ["--user-agent=other"] },
  { args: ["--disable-web-security"] },
  { args: [{ toString: "--proxy-server" }] },
  { args: "--window-size=1,1" },
])("refuses %j, which would be something else than asked", (options) => {
  expect(refusalOf("/playwright", launch(options))?.status).toBe(400);
  expect(refusalOf("/browsers/a/playwright", launch(options), false)?.status).toBe(400);
});

it.each(["[]", "1", "{", "null"])("refuses launch options that start with %.10s", (text) => {
  expect(refusalOf("/playwright", { "x-playwright-launch-options": text })?.message).toContain("JSON object");
});
