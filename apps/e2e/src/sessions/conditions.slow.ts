import { permissionNames } from "@shoal/schemas";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { windowPlacements } from "../testing/components.ts";
import { firstPageOf } from "../testing/page.ts";
import { serveReports } from "../testing/reporting-site.ts";
import { useService } from "../testing/service.ts";

const documents = ["page", "frame", "popup"] as const;
const position = `new Promise((resolve) => {
  navigator.geolocation.getCurrentPosition(
    ({ coords }) => resolve([coords.latitude, coords.longitude, coords.accuracy]),
    ({ code }) => resolve(code),
  );
})`;

describe.each(windowPlacements.filter(({ placement }) => placement === "sandbox"))(
  "the conditions of sessions in the placement $title",
  ({ placement, skip }) => {
    describe.skipIf(skip)("in every document", () => {
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
      ] as const)("hold from the first script on in %s, and after a restart", async (_, options) => {
        const { shoal } = test;
        const session = await shoal.browsers.create({
          ...options,
          conditions: {
            permissions: [
              { name: "geolocation" },
              { name: "notifications" },
              { name: "notifications", setting: "denied", origin: site.url.replace(/\/$/, "") },
            ],
            geolocation: { latitude: 47.37, longitude: 8.54 },
            color_scheme: "dark",
            reduced_motion: "reduce",
          },
        });
        expect(session.conditions).toMatchObject({ geolocation: { accuracy: 10 }, color_scheme: "dark" });
        const check = async () => {
          const seen = await site.reports(() => shoal.browsers.update(session.session_id, { start_url: site.url }));
          for (const place of documents)
            expect({ place, ...seen.get(place) }).toMatchObject({
              place,
              dark: true,
              still: true,
              notifications: "denied",
            });
          expect(seen.get("foreign")).toMatchObject({ dark: true, still: true });
          await using client = await chromium.connectOverCDP(session.cdp_ws_url);
          const pages = () => client.contexts()[0]?.pages() ?? [];
          await expect.poll(() => pages().length).toBeGreaterThan(1);
          for (const page of pages()) {
            await page.bringToFront();
            expect(await page.evaluate(position)).toEqual([47.37, 8.54, 10]);
          }
          const opened = await client.contexts()[0]?.newPage();
          await opened?.goto(`${site.url}popup`);
          expect(await opened?.evaluate(position)).toEqual([47.37, 8.54, 10]);
        };
        await check();
        const before = await chromium.connectOverCDP(session.cdp_ws_url);
        const commands = await before.newBrowserCDPSession();
        await commands.send("Browser.crash").catch(() => undefined);
        await expect.poll(async () => (await shoal.browsers.get(session.session_id)).browser_restarts).toBe(1);
        await check();
        await shoal.browsers.delete(session.session_id);
      });

      it.each([true, false])("can decide every permission, also of an origin (headless: %s)", async (headless) => {
        const { shoal } = test;
        const origins = [undefined, "https://example.com:8443", "http://localhost:3000", "http://[::1]:3000"];
        const session = await shoal.browsers.create({
          headless,
          conditions: {
            permissions: permissionNames.flatMap((name) =>
              origins.map((origin) => ({
                name,
                setting: origin === undefined ? ("granted" as const) : ("denied" as const),
                ...(origin !== undefined && { origin }),
              })),
            ),
          },
        });
        expect(session.conditions?.permissions).toHaveLength(permissionNames.length * origins.length);
        await shoal.browsers.delete(session.session_id);
      });

      it("let no page of a window wait for the answer to a prompt", async () => {
        const { shoal } = test;
        const session = await shoal.browsers.create({ headless: false });
        await using client = await chromium.connectOverCDP(session.cdp_ws_url);
        const page = await firstPageOf(client);
        await page.goto(`${site.url}popup`);
        expect(await page.evaluate(position)).toBe(1);
        expect(await page.evaluate("Notification.requestPermission()")).toBe("denied");
        expect(
          await page.evaluate("navigator.mediaDevices.getUserMedia({ audio: true }).then(String, ({ name }) => name)"),
        ).toMatch(/^Not(?:Allowed|Found)Error$/);
        await shoal.browsers.delete(session.session_id);
      });

      it.each([true, false])(
        "let no page download with downloads: deny, until it is removed (headless: %s)",
        async (headless) => {
          const { shoal } = test;
          const session = await shoal.browsers.create({ headless, conditions: { downloads: "deny" } });
          const id = session.session_id;
          const download = async () => {
            // Accepts downloads, as every client of Playwright does.
            await using client = await chromium.connectOverCDP(session.cdp_ws_url);
            const page = await firstPageOf(client);
            await page.goto(`${site.url}popup`);
            const begun = page.waitForEvent("download");
            await page.evaluate(`(() => {
            const link = document.createElement("a");
            link.href = URL.createObjectURL(new Blob(["content"]));
            link.download = "file.txt";
            link.click();
          })()`);
            return await (await begun).failure();
          };
          expect(await download()).toBe("canceled");
          await expect
            .poll(async () => (await shoal.browsers.downloads.list(id)).items.map(({ state }) => state))
            .toEqual(["canceled"]);
          const names = async () =>
            (await shoal.browsers.fs.listFiles(id, { path: "/home/shoal/Downloads" })).map(({ name }) => name);
          expect(await names()).toEqual([]);
          const changed = await shoal.browsers.update(id, { conditions: { downloads: null, color_scheme: "dark" } });
          expect(changed.conditions).toEqual({ color_scheme: "dark" });
          expect(await download()).toBe(null);
          await expect.poll(names).toEqual(["file.txt"]);
          await shoal.browsers.delete(id);
        },
      );

      it("come field by field from the session and its profile", async () => {
        const { shoal } = test;
        const profile = await shoal.profiles.create({
          conditions: { color_scheme: "dark", reduced_motion: "reduce" },
        });
        const session = await shoal.browsers.create({
          profile: { id: profile.id },
          conditions: { color_scheme: "light" },
        });
        expect(session.conditions).toEqual({ color_scheme: "light", reduced_motion: "reduce" });
        await shoal.browsers.delete(session.session_id);
      });
    });
  },
);
