import { ApiError, type Browser } from "@shoal/client";
import { eventually } from "@shoal/testkit";
import { chromium } from "playwright-core";
import puppeteer from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { placements } from "../testing/components.ts";
import { navigationFailure } from "../testing/page.ts";
import { chromiums } from "../testing/processes.ts";
import { useService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";

let site: Site;
beforeAll(async () => {
  site = await serveSite();
});
afterAll(() => site.close());

describe.each(placements)("sessions in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("with a service", () => {
    const test = useService(() => ["--placement", placement, "--allow-private-hosts", site.host]);

    it("drives a page with playwright-core and puppeteer-core at once", async () => {
      await using browser = await test.shoal.browsers.create({
        name: `both-${placement}`,
        viewport: { width: 1024, height: 700 },
      });
      expect(browser).toMatchObject({
        placement,
        headless: true,
        stealth: false,
        timeout_seconds: 60,
        viewport: { width: 1024, height: 700 },
      });

      const playwright = await chromium.connectOverCDP(browser.cdp_ws_url);
      const context = playwright.contexts()[0] ?? (await playwright.newContext());
      const page = context.pages()[0] ?? (await context.newPage());
      await page.goto(`${site.url}from-playwright`);
      expect(await page.title()).toBe("/from-playwright");
      expect(await page.evaluate(() => [innerWidth, innerHeight])).toEqual([1024, 700]);

      const other = await puppeteer.connect({ browserWSEndpoint: browser.cdp_ws_url, defaultViewport: null });
      const second = await other.newPage();
      await second.goto(`${site.url}from-puppeteer`);
      expect(await second.title()).toBe("/from-puppeteer");
      expect((await second.screenshot()).byteLength).toBeGreaterThan(1000);
      expect(await page.title()).toBe("/from-playwright");

      await other.disconnect();
      await playwright.close();
    });

    it("stays when a client closes the browser", async () => {
      await using browser = await test.shoal.browsers.create();
      const first = await puppeteer.connect({ browserWSEndpoint: browser.cdp_ws_url });
      await first.close();
      const second = await puppeteer.connect({ browserWSEndpoint: browser.cdp_ws_url });
      expect(await second.version()).toContain("Chrome");
      await second.disconnect();
      expect((await test.shoal.browsers.get(browser.session_id)).browser_restarts).toBe(0);
    });

    it("opens start_url", async () => {
      await using browser = await test.shoal.browsers.create({ start_url: `${site.url}start` });
      const client = await puppeteer.connect({ browserWSEndpoint: browser.cdp_ws_url });
      await eventually("the start page is open", async () =>
        (await client.pages()).some((page) => page.url() === `${site.url}start`),
      );
      await client.disconnect();
    });

    it("refuses private addresses that are not allowed", async () => {
      const secret = await serveSite();
      try {
        await using browser = await test.shoal.browsers.create();
        const client = await puppeteer.connect({ browserWSEndpoint: browser.cdp_ws_url });
        const page = await client.newPage();
        expect(await navigationFailure(page, secret.url)).toContain("net::ERR_EMPTY_RESPONSE");
        await client.disconnect();
      } finally {
        await secret.close();
      }
    });

    it("refuses a wrong token, another session's token, and a key as token", async () => {
      await using one = await test.shoal.browsers.create();
      await using two = await test.shoal.browsers.create();
      const withToken = (browser: Browser, token: string) => browser.cdp_ws_url.replace(/jwt=.*/, `jwt=${token}`);
      const tokenOf = (browser: Browser) => /jwt=(.*)/.exec(browser.cdp_ws_url)?.[1] ?? "";
      for (const token of ["", "wrong", tokenOf(two), test.service.apiKey]) {
        await expect(puppeteer.connect({ browserWSEndpoint: withToken(one, token) })).rejects.toThrow();
      }
      await (await puppeteer.connect({ browserWSEndpoint: withToken(one, tokenOf(one)) })).disconnect();
    });

    it("ends an idle session with its reason, and keeps a session in use", async () => {
      // On a busy machine a session may end before its first client.
      const [used, client] = await eventually("a session has a client", async () => {
        const created = await test.shoal.browsers.create({ timeout_seconds: 10 });
        return [created, await puppeteer.connect({ browserWSEndpoint: created.cdp_ws_url })] as const;
      });
      const idle = await test.shoal.browsers.create({ timeout_seconds: 10 });
      expect(idle.expires_at).toBeDefined();
      await eventually(
        "the service knows that it is in use",
        async () => (await test.shoal.browsers.get(used.session_id)).expires_at === undefined,
      );
      const ended = await eventually("the idle session has ended", async () => {
        const session = await test.shoal.browsers.get(idle.session_id, { include_deleted: true });
        return session.deleted_at === undefined ? undefined : session;
      });
      expect(ended.ended_reason).toBe("timeout");
      const livedMs = Date.parse(ended.deleted_at ?? "") - Date.parse(ended.created_at);
      expect(livedMs).toBeGreaterThanOrEqual(9_000);
      expect((await test.shoal.browsers.list()).items.map(({ session_id }) => session_id)).not.toContain(
        idle.session_id,
      );
      expect(await client.version()).toContain("Chrome");
      await client.disconnect();
      await test.shoal.browsers.delete(used.session_id);
    });

    it("restarts a crashed Chromium once, then ends the session with its reason", async () => {
      // The browser of a deleted session may still be ending.
      await eventually("no other browser runs", () => chromiums(test.processes()).length === 0);
      const browser = await test.shoal.browsers.create();
      const mine = () => chromiums(test.processes());
      const killChromium = async () => {
        const [chromiumProcess] = await eventually("Chromium runs", () => (mine().length > 0 ? mine() : undefined));
        if (chromiumProcess) process.kill(chromiumProcess.pid, "SIGKILL");
        return chromiumProcess?.pid;
      };
      const first = await killChromium();
      await eventually(
        "it was started again",
        async () => (await test.shoal.browsers.get(browser.session_id)).browser_restarts === 1,
      );
      const client = await eventually("CDP works again", () =>
        puppeteer.connect({ browserWSEndpoint: browser.cdp_ws_url }).catch(() => undefined),
      );
      expect(await client.version()).toContain("Chrome");
      await eventually("another process runs", () => mine().some(({ pid }) => pid !== first));
      await killChromium();
      const ended = await eventually("the session has ended", async () => {
        const session = await test.shoal.browsers.get(browser.session_id, { include_deleted: true });
        return session.deleted_at === undefined ? undefined : session;
      });
      expect(ended.ended_reason).toBe("browser_crashed");
      await client.disconnect();
    });

    it("leaves no process after the end of a session", async () => {
      const below = () => test.processes();
      const before = new Set(below().map(({ pid }) => pid));
      const browser = await test.shoal.browsers.create();
      expect(below().some(({ pid }) => !before.has(pid))).toBe(true);
      await test.shoal.browsers.delete(browser.session_id);
      await eventually("its processes are gone", () => below().every(({ pid }) => before.has(pid)));
      const error: unknown = await test.shoal.browsers.delete(browser.session_id).catch((reason: unknown) => reason);
      expect(ApiError.isInstance(error) && error.status).toBe(404);
    });
  });
});
