import puppeteer from "puppeteer-core";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { placements } from "../testing/components.ts";
import { useService } from "../testing/service.ts";
import { useSession } from "../testing/session.ts";
import { serveSite, type Site } from "../testing/site.ts";

describe.each(placements)("other ways to a session's browser, in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("with a service", () => {
    let site: Site;
    beforeAll(async () => {
      site = await serveSite();
    });
    afterAll(async () => {
      await site.close();
    });
    const test = useService(() => ["--placement", placement, "--allow-private-hosts", "127.0.0.1"]);
    const session = useSession(test);
    const browserOf = () => test.shoal.browsers.get(session.id);

    it("speaks WebDriver BiDi with separate clients", async () => {
      const { webdriver_ws_url: address } = await browserOf();
      const open = () => puppeteer.connect({ browserWSEndpoint: address, protocol: "webDriverBiDi" });
      const [one, two] = await Promise.all([open(), open()]);
      const page = await one.newPage();
      await page.goto(`${site.url}bidi`);
      expect(await page.title()).toBe("/bidi");
      expect(await page.evaluate(() => 6 * 7)).toBe(42);
      const other = await two.newPage();
      await other.setContent("<button onclick=\"document.title='pressed'\">press</button>");
      await other.locator("button").click();
      expect(await other.title()).toBe("pressed");
      await one.disconnect();
      expect(await other.evaluate(() => document.title)).toBe("pressed");
      // This ends the client, but neither the browser nor its pages.
      await two.close();
      expect((await browserOf()).browser_restarts).toBe(0);
      const again = await open();
      expect((await again.pages()).length).toBeGreaterThanOrEqual(2);
      await again.disconnect();
    });

    it("answers a plain BiDi client, and reports errors of its commands", async () => {
      const socket = new WebSocket((await browserOf()).webdriver_ws_url);
      const answers: Record<string, unknown>[] = [];
      const answer = (id: number | null) =>
        new Promise<Record<string, unknown>>((resolve) => {
          const look = () => {
            const found = answers.find((each) => each.id === id);
            if (found !== undefined) resolve(found);
          };
          socket.on("message", look);
          look();
        });
      socket.on("message", (data: Buffer) => answers.push(JSON.parse(data.toString()) as Record<string, unknown>));
      // Sent at once: commands wait until the mapper is ready.
      await new Promise((resolve) => socket.once("open", resolve));
      socket.send(JSON.stringify({ id: 0, method: "session.status", params: {} }));
      expect(await answer(0)).toMatchObject({ result: { ready: true } });
      socket.send(JSON.stringify({ id: 1, method: "session.new", params: { capabilities: {} } }));
      expect(await answer(1)).toMatchObject({
        type: "success",
        result: {
          sessionId: expect.stringMatching(/^[\da-f-]{36}$/) as string,
          capabilities: {
            browserName: "chrome",
            browserVersion: expect.stringMatching(/^\d+(\.\d+){3}$/) as string,
            platformName: "linux",
          },
        },
      });
      socket.send(JSON.stringify({ id: 3, method: "session.status", params: {} }));
      expect(await answer(3)).toMatchObject({ result: { ready: false } });
      socket.send(JSON.stringify({ id: 4, method: "session.new", params: { capabilities: {} } }));
      expect(await answer(4)).toMatchObject({ type: "error", error: "session not created" });
      socket.send("no json");
      expect(await answer(null)).toMatchObject({ type: "error", error: "invalid argument" });
      socket.send(JSON.stringify({ id: 2, method: "no.such", params: {} }));
      expect(await answer(2)).toMatchObject({ type: "error", error: "unknown command" });
      const closed = new Promise((resolve) =>
        socket.once("close", (code: number, reason: Buffer) => {
          resolve([code, reason.toString()]);
        }),
      );
      socket.send(JSON.stringify({ id: 5, method: "session.end", params: {} }));
      expect(await answer(5)).toEqual({ type: "success", id: 5, result: {} });
      expect(await closed).toEqual([1000, "session.end"]);
      expect((await browserOf()).browser_restarts).toBe(0);
      const refused = await new Promise<number>((resolve) => {
        new WebSocket(`${test.service.baseUrl.replace("http", "ws")}/browsers/${session.id}/webdriver?jwt=wrong`)
          .on("unexpected-response", (_request, response) => {
            resolve(response.statusCode ?? 0);
          })
          .on("error", () => undefined);
      });
      expect(refused).toBe(401);
    });

    it("is a debugging port for CDP tools", async () => {
      const { base_url: base = "", cdp_ws_url: cdp } = await browserOf();
      const token = new URL(cdp).searchParams.get("jwt") ?? "";
      expect(base).toBe(`${test.service.baseUrl}/sessions/${session.id}`);
      const ask = async (path: string, init: RequestInit = {}) =>
        fetch(`${base}/json${path}${path.includes("?") ? "&" : "?"}jwt=${token}`, init);
      expect(await (await ask("/version")).json()).toMatchObject({
        Browser: expect.stringContaining("Chrome") as string,
        webSocketDebuggerUrl: cdp,
      });
      const opened = (await (await ask(`/new?${encodeURIComponent(`${site.url}tool`)}`, { method: "PUT" })).json()) as {
        id: string;
        webSocketDebuggerUrl: string;
      };
      const listed = (await (await ask("/list/")).json()) as { id: string }[];
      expect(listed.map(({ id }) => id)).toContain(opened.id);
      expect(((await (await ask("/protocol")).json()) as { domains: unknown[] }).domains.length).toBeGreaterThan(20);
      const page = new WebSocket(opened.webSocketDebuggerUrl);
      await new Promise((resolve) => page.once("open", resolve));
      let id = 0;
      // The tab is announced before it has loaded its address.
      await expect
        .poll(
          () =>
            new Promise((resolve) => {
              page.once("message", (data: Buffer) => {
                resolve(JSON.parse(data.toString()));
              });
              page.send(
                JSON.stringify({ id: ++id, method: "Runtime.evaluate", params: { expression: "location.pathname" } }),
              );
            }),
        )
        .toMatchObject({ result: { result: { value: "/tool" } } });
      page.close();
      expect((await ask(`/close/${opened.id}`)).status).toBe(200);
      expect((await ask("/nothing")).status).toBe(404);
      expect((await fetch(`${base}/json/version`)).status).toBe(401);
      expect((await fetch(`${base}/json/version?jwt=wrong`)).status).toBe(401);
      const withKey = await fetch(`${base}/json/version`, {
        headers: { authorization: `Bearer ${test.service.apiKey}` },
      });
      expect(await withKey.json()).toMatchObject({ webSocketDebuggerUrl: cdp });
      const browser = await chromium.connectOverCDP(`${base}?jwt=${token}`);
      expect(browser.contexts()).toHaveLength(1);
      await browser.close();
    });
  });
});
