import Kernel from "@onkernel/sdk";
import type { Browser as Session } from "@shoal/client";
import { eventually } from "@shoal/testkit";
import { buffer } from "node:stream/consumers";
import { Readable } from "node:stream";
import { chromium, type Browser, type Page } from "playwright-core";
import puppeteer from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { missingForScreenRecordings, windowPlacements } from "../testing/components.ts";
import { firstPageOf } from "../testing/page.ts";
import { filmSoFar, play } from "../testing/play-film.ts";
import { refusalOf } from "../testing/refusal.ts";
import { useService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";

const recorder = `<!doctype html><meta charset=utf-8><body style="margin:0;background:#0a0"><textarea id=field style="position:absolute;left:10px;top:10px;width:300px;height:100px"></textarea><script>
globalThis.seen = [];
for (const type of ["mousedown", "dblclick", "keydown"]) addEventListener(type, (event) => seen.push([type, event.clientX ?? event.key, event.clientY ?? event.code, event.isTrusted].join(" ")), true);
</script>`;

/** Frames per second of a page. */
const rate =
  "new Promise((done) => { let count = 0; const began = performance.now(); const next = (now) => { count++; if (now - began < 2000) requestAnimationFrame(next); else done((count * 1000) / (now - began)); }; requestAnimationFrame(next); })";

describe.each(windowPlacements)("a session with a window in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("on its screen", () => {
    const test = useService(() => ["--placement", placement, "--allow-private-hosts", "127.0.0.1"]);
    let site: Site;
    let session: Session;
    let client: Browser;
    let page: Page;
    beforeAll(async () => {
      site = await serveSite();
      session = await test.shoal.browsers.create({
        headless: false,
        timeout_seconds: 3600,
        viewport: { width: 1024, height: 768, refresh_rate: 30 },
      });
      client = await chromium.connectOverCDP(session.cdp_ws_url);
      page = await firstPageOf(client);
    });
    afterAll(async () => {
      await client.close();
      await test.shoal.browsers.delete(session.session_id);
      await site.close();
    });
    const id = () => session.session_id;

    it("fills a screen of the viewport's size, and reports that size", async () => {
      expect(session).toMatchObject({ headless: false, viewport: { width: 1024, height: 768, refresh_rate: 30 } });
      await page.waitForFunction(
        "innerWidth === 1024 && outerHeight === 768 && screen.width === 1024 && screen.height === 768",
      );
      // Only tabs and the address bar, without an infobar.
      const bars = await page.evaluate("outerHeight - innerHeight");
      expect(bars).toBeGreaterThan(50);
      expect(bars).toBeLessThan(110);
      expect(await page.evaluate("navigator.userAgent")).not.toContain("Headless");
      // A loaded machine draws less often than configured, never more often.
      await expect.poll(() => page.evaluate(rate)).toBeLessThan(40);
    });

    it("is operated like by a person, with coordinates of the screen", async () => {
      const { computer } = test.shoal.browsers;
      await page.setContent(recorder);
      const top = 768 - Number(await page.evaluate("innerHeight"));
      await computer.clickMouse(id(), { x: 500, y: top + 301, num_clicks: 2 });
      await page.waitForFunction("seen.length === 3");
      expect(await page.evaluate("seen.splice(0)")).toEqual([
        "mousedown 500 301 true",
        "mousedown 500 301 true",
        "dblclick 500 301 true",
      ]);
      await computer.clickMouse(id(), { x: 100, y: top + 50 });
      await computer.typeText(id(), { text: "Gr\u00fc\u00dfe \ud83d\ude00" });
      await computer.pressKey(id(), { keys: ["Return"] });
      await page.waitForFunction("field.value === 'Gr\u00fc\u00dfe \ud83d\ude00\\n'");
      expect(await page.evaluate("seen")).toContain("keydown Enter Enter true");
      await computer.pressKey(id(), { keys: ["Ctrl+a", "Ctrl+c"] });
      await expect.poll(() => computer.readClipboard(id())).toEqual({ text: "Gr\u00fc\u00dfe \ud83d\ude00\n" });
      expect((await refusalOf(computer.clickMouse(id(), { x: 1024, y: 5 }))).message).toContain(
        "outside of the screen, which is 1024 \u00d7 768 pixels",
      );
      const png = Buffer.from(await new Response((await computer.captureScreenshot(id())).stream).arrayBuffer());
      expect([png.toString("latin1", 1, 4), png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual(["PNG", 1024, 768]);
      // The browser's own address bar.
      await computer.pressKey(id(), { keys: ["Ctrl+l"] });
      await computer.typeText(id(), { text: "about:version\n" });
      await expect.poll(() => page.url()).toBe("chrome://version/");
    });

    it("goes back and forward in its history, for Playwright and for Puppeteer", async () => {
      await page.goto(`${site.url}one`);
      await page.goto(`${site.url}two`);
      // Null for a page from the back/forward cache, which Playwright cannot follow.
      expect((await page.goBack())?.status()).toBe(200);
      expect(await page.title()).toBe("/one");
      expect((await page.goForward())?.status()).toBe(200);
      expect(await page.title()).toBe("/two");
      const other = await puppeteer.connect({ browserWSEndpoint: session.cdp_ws_url, defaultViewport: null });
      const same = (await other.pages()).find((open) => open.url() === `${site.url}two`);
      await same?.goBack();
      await same?.goForward();
      expect(await same?.title()).toBe("/two");
      await other.disconnect();
    });

    it("changes its screen while it runs", async () => {
      await page.goto("about:blank");
      const changed = await test.shoal.browsers.update(id(), {
        viewport: { width: 1300, height: 900, refresh_rate: 10 },
      });
      expect(changed.viewport).toEqual({ width: 1300, height: 900, refresh_rate: 10 });
      await page.waitForFunction(
        "innerWidth === 1300 && outerHeight === 900 && screen.width === 1300 && matchMedia('(device-width: 1300px)').matches",
      );
      await expect.poll(() => page.evaluate(rate)).toBeLessThan(14);
      const refusal = await refusalOf(test.shoal.browsers.update(id(), { viewport: { width: 5000, height: 900 } }));
      expect([refusal.status, refusal.message]).toEqual([
        400,
        expect.stringContaining(
          "body.viewport.width: the screen of this session can have at most 2560 \u00d7 2560 pixels",
        ) as unknown,
      ]);
    });

    it.skipIf(missingForScreenRecordings !== undefined)(
      `records the whole screen, not the page alone${missingForScreenRecordings === undefined ? "" : ` (skipped: ${missingForScreenRecordings})`}`,
      async () => {
        const { browsers } = test.shoal;
        await browsers.update(id(), { viewport: { width: 1000, height: 700, refresh_rate: 30 } });
        await page.setContent(recorder);
        const { replay_id: replayId, replay_view_url: url = "" } = await browsers.replays.start(id(), {
          framerate: 10,
        });
        const short = await browsers.replays.start(id(), { max_duration_in_seconds: 1 });
        const secondsSoFar = async () => {
          const part = await filmSoFar(url);
          return part === undefined ? 0 : (await play(page, part)).seconds;
        };
        const first = await eventually("the film so far plays", async () => (await secondsSoFar()) || undefined);
        await eventually("a later part of it is longer", async () => (await secondsSoFar()) > Math.max(first, 1.5));
        await browsers.replays.stop(id(), replayId);
        const film = await buffer(Readable.from((await browsers.replays.download(id(), replayId)).stream));
        await expect
          .poll(
            async () =>
              (await browsers.replays.list(id())).find(({ replay_id }) => replay_id === short.replay_id)?.finished_at ??
              null,
          )
          .not.toBeNull();
        const known = (await browsers.replays.list(id())).find(({ replay_id }) => replay_id === replayId);
        const wall = (Date.parse(known?.finished_at ?? "") - Date.parse(known?.started_at ?? "")) / 1000;
        const played = await play(page, film);
        expect(played).toMatchObject({ width: 1000, height: 700 });
        expect(played.seconds).toBeGreaterThan(1.5);
        expect(Math.abs(played.seconds - wall)).toBeLessThan(1);
      },
    );

    it("shows only the page in a kiosk, with the hosted service's SDK", async () => {
      const kernel = new Kernel({ apiKey: test.service.apiKey, baseURL: test.service.baseUrl });
      const kiosk = await kernel.browsers.create({
        headless: false,
        kiosk_mode: true,
        viewport: { width: 800, height: 600 },
      });
      expect(kiosk).toMatchObject({
        headless: false,
        kiosk_mode: true,
        viewport: { width: 800, height: 600, refresh_rate: 60 },
      });
      const other = await chromium.connectOverCDP(kiosk.cdp_ws_url);
      await (await firstPageOf(other)).waitForFunction("innerWidth === 800 && innerHeight === 600");
      await other.close();
      const picture = await kernel.browsers.computer.captureScreenshot(kiosk.session_id, {
        region: { x: 0, y: 0, width: 20, height: 10 },
      });
      const png = Buffer.from(await picture.arrayBuffer());
      expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([20, 10]);
      await kernel.browsers.deleteByID(kiosk.session_id);
    });

    it("waits in a pool, and is leased", async () => {
      const { browserPools } = test.shoal;
      const pool = await browserPools.create({
        size: 1,
        fill_rate_per_minute: 100,
        headless: false,
        kiosk_mode: true,
        viewport: { width: 640, height: 480 },
      });
      expect(pool.browser_pool_config).toMatchObject({ headless: false, kiosk_mode: true });
      const leased = await browserPools.acquire(pool.id);
      expect(leased).toMatchObject({ headless: false, kiosk_mode: true });
      const other = await chromium.connectOverCDP(leased.cdp_ws_url);
      const leasedPage = await firstPageOf(other);
      await leasedPage.waitForFunction(
        "innerWidth === 640 && innerHeight === 480 && !navigator.userAgent.includes('Headless')",
      );
      await other.close();
      await browserPools.delete(pool.id, { force: true });
    });

    it("refuses a screen that is too large", async () => {
      const refusal = await refusalOf(
        test.shoal.browsers.create({ headless: false, viewport: { width: 7681, height: 900 } }),
      );
      expect([refusal.status, refusal.message]).toEqual([
        400,
        expect.stringContaining("body.viewport.width") as unknown,
      ]);
    });
  });
});
