import { request } from "node:http";
import { connect } from "node:net";
import { chromium } from "playwright-core";
import puppeteer from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CdpPort, startCdpPort } from "../testing/cdp-port.ts";
import { startChromedriver } from "../testing/chromedriver.ts";
import { chromedriverTests, missingFor } from "../testing/components.ts";
import { useService } from "../testing/service.ts";
import { useSession } from "../testing/session.ts";

const missing = missingFor("sandbox");

describe.skipIf(missing !== undefined)(
  `shoal browsers cdp-port${missing === undefined ? "" : ` (skipped, ${missing})`}`,
  () => {
    const test = useService(() => ["--placement", "sandbox"]);
    const session = useSession(test);
    let port: CdpPort;
    let address: string;
    beforeAll(async () => {
      port = await startCdpPort(test, session.id);
      ({ address } = port);
    });
    afterAll(() => port[Symbol.asyncDispose]());

    it("serves clients that take only a host and a port", async () => {
      expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
      const withPuppeteer = await puppeteer.connect({ browserURL: address, defaultViewport: null });
      const page = await withPuppeteer.newPage();
      await page.setContent("<title>by port</title>");
      const withPlaywright = await chromium.connectOverCDP(address);
      const pages = () => withPlaywright.contexts().flatMap((context) => context.pages());
      await expect.poll(() => Promise.all(pages().map((open) => open.title()))).toContain("by port");
      await withPlaywright.close();
      await withPuppeteer.disconnect();
      const targets = (await (await fetch(`${address}/json/list`)).json()) as { webSocketDebuggerUrl: string }[];
      expect(targets.length).toBeGreaterThan(0);
      for (const { webSocketDebuggerUrl } of targets)
        expect(webSocketDebuggerUrl).toMatch(`${address.replace("http", "ws")}/devtools/page/`);
      expect(JSON.stringify(targets)).not.toContain("jwt");
    });

    it.skipIf(chromedriverTests.skip)(
      `accepts chromedriver, so that WebDriver classic works${chromedriverTests.reason}`,
      async () => {
        await using driver = await startChromedriver();
        const ask = async (method: string, path: string, body?: object): Promise<unknown> => {
          const answer = await fetch(`${driver.address}/session${path}`, {
            method,
            ...(body && { body: JSON.stringify(body) }),
          });
          return ((await answer.json()) as { value: unknown }).value;
        };
        const capabilities = { alwaysMatch: { "goog:chromeOptions": { debuggerAddress: new URL(address).host } } };
        const { sessionId } = (await ask("POST", "", { capabilities })) as { sessionId: string };
        await ask("POST", `/${sessionId}/url`, { url: "data:text/html,<title>classic</title>" });
        expect(await ask("GET", `/${sessionId}/title`)).toBe("classic");
        for (const type of ["tab", "window"])
          expect(await ask("POST", `/${sessionId}/window/new`, { type })).toMatchObject({
            handle: expect.any(String) as unknown,
            type,
          });
        await ask("DELETE", `/${sessionId}`);
        expect((await test.shoal.browsers.get(session.id)).browser_restarts).toBe(0);
      },
    );

    it("answers /json as Chromium does, for any address, method and case", async () => {
      const raw = (text: string) =>
        new Promise<string>((resolve, reject) => {
          const { hostname, port: number } = new URL(address);
          const socket = connect(Number(number), hostname, () => socket.write(text));
          let answer = "";
          socket.setEncoding("utf8").on("data", (chunk: string) => (answer += chunk));
          socket.on("error", reject).on("close", () => {
            resolve(answer);
          });
        });
      const lines = `Host: ${new URL(address).host}\r\nConnection: close\r\n\r\n`;
      expect(await raw(`get /json/version HTTP/1.1\r\n${lines}`)).toMatch(/^HTTP\/1\.1 200 .*Browser/s);
      expect(await raw(`bogus /json/version HTTP/1.1\r\n${lines}`)).toMatch(/^HTTP\/1\.1 4/);
      expect((await fetch(`${address}/json/version`, { method: "POST" })).status).toBe(200);
      for (const url of ["data:text/html,a?b=1?d=2", "about:blank?jwt=a", "data:text/html,plain"]) {
        const opened = await fetch(`${address}/json/new?${url}`, { method: "PUT" });
        const target = (await opened.json()) as { id: string; url: string };
        expect([opened.status, target.url]).toEqual([200, url]);
        expect((await fetch(`${address}/json/close/${target.id}`)).status).toBe(200);
      }
    });

    it("refuses web pages: foreign host names, and WebSockets with an origin", async () => {
      const statusOf = (headers: Record<string, string>, path = "/json/version") =>
        new Promise<number | undefined>((resolve, reject) => {
          request(`${address}${path}`, { headers }, (response) => {
            response.resume();
            resolve(response.statusCode);
          })
            .on("error", reject)
            .on("upgrade", (_response, socket) => {
              socket.destroy();
              resolve(101);
            })
            .end();
        });
      const upgrade = {
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": Buffer.alloc(16, 1).toString("base64"),
      };
      expect(await statusOf({ host: "rebound.example:9222" })).toBe(403);
      expect(await statusOf({}, "/browsers")).toBe(404);
      expect(await statusOf({ ...upgrade, origin: "https://site.example" }, "/cdp")).toBe(403);
      expect(await statusOf({ ...upgrade, host: "rebound.example" }, "/cdp")).toBe(403);
      expect(await statusOf(upgrade, "/process/1/attach")).toBe(403);
      expect(await statusOf(upgrade, "/cdp")).toBe(101);
    });
  },
);
