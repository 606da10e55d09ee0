import { chromium } from "playwright-core";
import type { UpdateBrowser } from "@shoal/schemas";
import puppeteer from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { windowPlacements } from "../testing/components.ts";
import { refusalOf } from "../testing/refusal.ts";
import { places, serveReports } from "../testing/reporting-site.ts";
import { useService } from "../testing/service.ts";

const swiss = {
  timezone: "America/New_York",
  offset: 300,
  locale: "de-CH",
  number: expect.stringMatching(/^1.234\.5$/) as unknown,
  languages: "de-CH,de",
  accepted: "de-CH,de;q=0.9",
};

describe.each(windowPlacements.filter(({ placement }) => placement === "sandbox"))(
  "the location of sessions in the placement $title",
  ({ placement, skip }) => {
    describe.skipIf(skip)("in every document and worker", () => {
      let site: Awaited<ReturnType<typeof serveReports>>;
      const test = useService(() => [
        "--placement",
        placement,
        ...["127.0.0.1", "localhost"].flatMap((host) => ["--allow-private-hosts", host]),
      ]);
      beforeAll(async () => {
        site = await serveReports();
      });
      afterAll(() => site.close());

      it.each([
        ["a headless session", {}],
        ["a session with a window", { headless: false }],
        ["a stealth session", { stealth: true }],
      ] as const)("holds from the first script on in %s, and after a restart", async (_, options) => {
        const { shoal } = test;
        const session = await shoal.browsers.create({
          ...options,
          location: { timezone: "america/new_york", locale: "de-ch" },
        });
        expect(session.location).toEqual({
          timezone: "America/New_York",
          timezone_source: "override",
          locale: "de-CH",
          locale_source: "override",
        });
        const check = async () => {
          const seen = await site.reports(() => shoal.browsers.update(session.session_id, { start_url: site.url }));
          for (const place of places)
            expect({ place, ...seen.get(place) }).toMatchObject({ place, ...swiss, isForeign: place === "foreign" });
        };
        await check();
        const before = await chromium.connectOverCDP(session.cdp_ws_url);
        const commands = await before.newBrowserCDPSession();
        await commands.send("Browser.crash").catch(() => undefined);
        await expect.poll(async () => (await shoal.browsers.get(session.session_id)).browser_restarts).toBe(1);
        await check();
        await shoal.browsers.delete(session.session_id);
      });

      it("holds in tabs and contexts that clients open, below their own emulation", async () => {
        const { shoal } = test;
        const session = await shoal.browsers.create({ location: { timezone: "Europe/Zurich", locale: "de-CH" } });
        await using client = await chromium.connectOverCDP(session.cdp_ws_url);
        const [context] = client.contexts();
        const page = await context?.newPage();
        const here =
          "[Intl.DateTimeFormat().resolvedOptions().timeZone, Intl.NumberFormat().resolvedOptions().locale, navigator.language]";
        expect(await page?.evaluate(here)).toEqual(["Europe/Zurich", "de-CH", "de-CH"]);
        const other = await client.newContext();
        expect(await (await other.newPage()).evaluate(here)).toEqual(["Europe/Zurich", "de-CH", "de-CH"]);
        const emulated = await client.newContext({ locale: "fr-FR", timezoneId: "Asia/Tokyo" });
        expect(await (await emulated.newPage()).evaluate(here)).toEqual(["Asia/Tokyo", "fr-FR", "fr-FR"]);

        const second = await puppeteer.connect({ browserWSEndpoint: session.cdp_ws_url });
        const tab = await second.newPage();
        expect(await tab.evaluate(here)).toEqual(["Europe/Zurich", "de-CH", "de-CH"]);
        await tab.emulateTimezone("Asia/Tokyo");
        expect(await tab.evaluate(here)).toEqual(["Asia/Tokyo", "de-CH", "de-CH"]);
        await second.disconnect();
        await shoal.browsers.delete(session.session_id);
      });

      it("comes field by field from the session, its pool and its profile", async () => {
        const { shoal } = test;
        const profile = await shoal.profiles.create({ location: { timezone: "Europe/Berlin", locale: "fr-FR" } });
        expect(profile.location).toEqual({ timezone: "Europe/Berlin", locale: "fr-FR" });
        const pool = await shoal.browserPools.create({
          size: 1,
          profile: { id: profile.id },
          location: { locale: "ja-JP" },
        });
        expect(pool.browser_pool_config.location).toEqual({ locale: "ja-JP" });
        const leased = await shoal.browserPools.acquire(pool.id, { acquire_timeout_seconds: 60 });
        expect(leased?.location).toMatchObject({ timezone: "Europe/Berlin", locale: "ja-JP" });
        const created = await shoal.browsers.create({ profile: { id: profile.id }, location: { timezone: "UTC" } });
        expect(created.location).toMatchObject({ timezone: "UTC", locale: "fr-FR" });
        for (const { session_id } of [leased, created].filter((each) => each !== undefined))
          await shoal.browsers.delete(session_id);
        await shoal.browserPools.delete(pool.id, { force: true });
      });

      it("changes in a running session, whose cookies stay", async () => {
        const { shoal } = test;
        const session = await shoal.browsers.create({ start_url: site.url });
        const id = session.session_id;
        const cookie = { name: "kept", value: "1", url: site.url };
        {
          await using client = await chromium.connectOverCDP(session.cdp_ws_url);
          await client.contexts()[0]?.addCookies([cookie]);
        }
        const reportsAfter = (change: UpdateBrowser) =>
          site.reports(() => shoal.browsers.update(id, { ...change, start_url: site.url }));
        const moved = await reportsAfter({ location: { timezone: "America/New_York", locale: "de-CH" } });
        for (const place of places)
          expect({ place, ...moved.get(place) }).toMatchObject({ place, ...swiss, isForeign: place === "foreign" });
        const back = await reportsAfter({ location: { timezone: null } });
        expect(back.get("page")).toMatchObject({ timezone: "UTC", offset: 0, languages: "de-CH,de" });
        expect((await shoal.browsers.get(id)).location).toMatchObject({ timezone_source: "default", locale: "de-CH" });
        await using client = await chromium.connectOverCDP(session.cdp_ws_url);
        expect(await client.contexts()[0]?.cookies(site.url)).toMatchObject([{ name: "kept", value: "1" }]);
        await shoal.browsers.delete(id);
      });

      it("is refused with the field for unknown zones and locales, and for exits without a country", async () => {
        const { shoal } = test;
        for (const [location, field] of [
          [{ timezone: "Europe/Atlantis" }, "timezone"],
          [{ timezone: "+01:00" }, "timezone"],
          [{ timezone: "exit" }, "timezone"],
          [{ locale: "de-XX" }, "locale"],
          [{ locale: "../../etc" }, "locale"],
          [{ locale: "de-CH-u-ca-buddhist" }, "locale"],
        ] as const)
          expect(await refusalOf(shoal.browsers.create({ location }))).toMatchObject({
            status: 400,
            code: "invalid_browser_location",
            message: expect.stringContaining(`body.location.${field}: `) as unknown,
          });
      });

      it("holds a time zone without a full Chromium", async () => {
        const { shoal } = test;
        const session = await shoal.browsers.create({ location: { timezone: "Asia/Kolkata" } });
        expect(session.location).toEqual({
          timezone: "Asia/Calcutta",
          timezone_source: "override",
          locale: "en-US",
          locale_source: "default",
        });
        const seen = await site.reports(() => shoal.browsers.update(session.session_id, { start_url: site.url }));
        for (const place of places)
          expect({ place, ...seen.get(place) }).toMatchObject({ place, timezone: "Asia/Calcutta", offset: -330 });
        await shoal.browsers.delete(session.session_id);
      });
    });
  },
);
