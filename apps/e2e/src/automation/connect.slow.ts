import { eventually } from "@shoal/testkit";
import { join } from "node:path";
import { chromium } from "playwright-core";
import puppeteer from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { missingFor } from "../testing/components.ts";
import { McpProgram } from "../testing/mcp-program.ts";
import { firstPageOf } from "../testing/page.ts";
import { useService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";

const missing = missingFor("sandbox");
let site: Site;
beforeAll(async () => {
  site = await serveSite((_request, response) =>
    response.setHeader("content-type", "text/html").end("<title>shop</title>"),
  );
});
afterAll(() => site.close());

describe.skipIf(missing !== undefined)(
  `clients that know one address${missing === undefined ? "" : ` (skipped, ${missing})`}`,
  () => {
    const test = useService(() => ["--placement", "sandbox", "--allow-private-hosts", "127.0.0.1"]);
    const settings = "disconnect_timeout_seconds=0";
    const socket = () => `${test.service.baseUrl.replace(/^http/, "ws")}/?token=${test.service.apiKey}&${settings}`;
    const plain = () => `${test.service.baseUrl}/?token=${test.service.apiKey}&${settings}`;
    const withPassword = () => test.service.baseUrl.replace("//", `//shoal:${test.service.apiKey}@`);
    const headers = () => ({ authorization: `Bearer ${test.service.apiKey}` });

    /** One session runs while the client works, and it ends when the client has gone. */
    async function follow(work: () => Promise<() => Promise<unknown>>): Promise<void> {
      const leave = await work();
      const [session, ...others] = (await test.shoal.browsers.list()).items;
      expect(others).toEqual([]);
      await leave();
      const id = session?.session_id ?? "";
      const isEnded = async () => {
        const { ended_reason: reason } = await test.shoal.browsers.get(id, { include_deleted: true });
        // The address with a password has no settings, so that the default grace applies.
        return reason;
      };
      expect(await eventually("the session has ended", isEnded)).toBe("disconnected");
    }

    it.each<[string, () => string, (() => Record<string, string>)?]>([
      ["the socket", socket],
      ["http", plain],
      ["a user name and password", withPassword],
      ["a header", () => test.service.baseUrl, headers],
      ["a header and the socket", () => `${test.service.baseUrl.replace(/^http/, "ws")}/cdp?${settings}`, headers],
    ])("Playwright connects by %s", async (_what, address, more) => {
      await follow(async () => {
        const browser = await chromium.connectOverCDP(address(), { headers: more?.() ?? {} });
        const page = await firstPageOf(browser);
        await page.goto(site.url);
        expect(await page.title()).toBe("shop");
        return () => browser.close();
      });
    });

    it("Playwright shows the sentence of a refusal", async () => {
      await expect(chromium.connectOverCDP(`${socket()}&proxyCountry=US`)).rejects.toThrow(
        '"proxyCountry" is not a setting of an address',
      );
      await expect(chromium.connectOverCDP(socket().replace("sk_", "xx_"))).rejects.toThrow("401");
    });

    it.each([
      ["browserWSEndpoint", () => ({ browserWSEndpoint: socket() })],
      ["browserURL", () => ({ browserURL: plain() })],
    ])("Puppeteer connects by %s", async (_what, options) => {
      await follow(async () => {
        const browser = await puppeteer.connect(options());
        const page = await browser.newPage();
        await page.goto(site.url);
        expect(await page.title()).toBe("shop");
        return () => browser.disconnect();
      });
    });

    it.each([
      ["ws", socket],
      ["http", plain],
    ])("@playwright/mcp connects by --cdp-endpoint with %s", async (_what, address) => {
      await follow(async () => {
        const mcp = await McpProgram.playwright("--cdp-endpoint", address(), "--output-dir", join(test.folder, "mcp"));
        await mcp.call("browser_navigate", { url: site.url });
        expect(await mcp.call("browser_tabs", { action: "list" })).toContain("shop");
        return () => mcp[Symbol.asyncDispose]();
      });
    });

    it.each([
      ["--wsEndpoint", socket],
      ["--browserUrl", plain],
    ])("chrome-devtools-mcp connects by %s", async (option, address) => {
      await follow(async () => {
        const devtools = await McpProgram.chromeDevtools(option, address());
        expect(await devtools.call("list_pages")).toContain("1: about:blank");
        expect(await devtools.call("navigate_page", { pageId: 1, type: "url", url: site.url })).toContain("1: shop");
        return () => devtools[Symbol.asyncDispose]();
      });
    });
  },
);
