import { type Browser, chromium, type Page } from "playwright-core";
import puppeteer from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { placements } from "../testing/components.ts";
import { type PasswordProxy, startPasswordProxy } from "../testing/password-proxy.ts";
import { useService } from "../testing/service.ts";
import { useSession } from "../testing/session.ts";
import { serveSite, type Site } from "../testing/site.ts";

const [username, password] = ["ann", "p@ss:word"];
let site: Site;
let proxy: PasswordProxy;
beforeAll(async () => {
  site = await serveSite((request, response) =>
    response.setHeader("content-type", "text/html").end(`<title>${request.headers.host ?? ""}</title>`),
  );
  proxy = await startPasswordProxy(username, password);
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await site.close();
});

/** Whether the proxy forwarded a request for a name that only it resolves. */
const passedOn = (host: string): boolean => proxy.asked.includes(host);

describe.each(placements)("a proxy of one browser context, in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("with a service", () => {
    // Sessions may reach the proxy, but the site only through it.
    const test = useService(() => ["--placement", placement, "--allow-private-hosts", new URL(proxy.url).host]);
    const session = useSession(test);
    let browser: Browser;
    let port: string;
    beforeAll(async () => {
      browser = await chromium.connectOverCDP((await test.shoal.browsers.get(session.id)).cdp_ws_url);
      ({ port } = new URL(site.url));
    });
    afterAll(async () => {
      await browser.close();
    });

    it("carries only its context's pages with its password, over http and WebSocket tunnels", async () => {
      const context = await browser.newContext({ proxy: { server: proxy.url, username, password } });
      const page = await context.newPage();
      const host = `${placement}.far.invalid:${port}`;
      await page.goto(`http://${host}/`);
      expect(await page.title()).toBe(host);
      expect(passedOn(host)).toBe(true);
      const tunnel = `${placement}.tunnel.invalid:${port}`;
      await page.evaluate(
        (address) => new Promise((resolve) => (new WebSocket(address).onclose = resolve)),
        `ws://${tunnel}/`,
      );
      expect(passedOn(tunnel)).toBe(true);
      const plain = await browser.newContext();
      const other = await plain.newPage();
      await expect(other.goto(`http://${placement}.other.invalid:${port}/`)).rejects.toThrow("net::ERR_EMPTY_RESPONSE");
      expect(proxy.asked.join()).not.toContain("other.invalid");
      await Promise.all([context.close(), plain.close()]);
    });

    it("blocks private addresses, including bypassed ones", async () => {
      const context = await browser.newContext({
        proxy: { server: proxy.url, bypass: "near.localhost, .below.localhost", username, password },
      });
      const page: Page = await context.newPage();
      const before = proxy.asked.length;
      for (const host of [
        site.host,
        `localhost:${port}`,
        "169.254.169.254",
        `near.localhost:${port}`,
        `a.below.localhost:${port}`,
      ])
        await expect(page.goto(`http://${host}/`), host).rejects.toThrow("net::ERR_EMPTY_RESPONSE");
      await expect.poll(() => page.evaluate("document.body?.innerText")).toMatch(/may not reach/);
      expect(proxy.asked.length).toBe(before);
      await context.close();
      // The proxy's own private address is blocked, too.
      const inside = await browser.newContext({ proxy: { server: "http://10.1.2.3:3128" } });
      await expect((await inside.newPage()).goto("http://example.invalid/")).rejects.toThrow("net::ERR_EMPTY_RESPONSE");
      await inside.close();
    });

    it("fails for a wrong password like a local Chromium", async () => {
      const context = await browser.newContext({ proxy: { server: proxy.url, username, password: "wrong" } });
      const page = await context.newPage();
      const before = proxy.asked.length;
      const answer = await page.goto(`http://wrong.invalid:${port}/`).catch((error: unknown) => String(error));
      expect(typeof answer === "string" ? answer : answer?.status()).toSatisfy(
        (seen) => seen === 407 || String(seen).includes("net::ERR_"),
      );
      expect(proxy.asked.length).toBe(before);
      await context.close();
    });

    it("is refused with the alternative if it is not a single proxy", async () => {
      for (const server of ["socks4://127.0.0.1:1", "http=127.0.0.1:1;https=127.0.0.1:2"]) {
        const client = await browser.newBrowserCDPSession();
        await expect(client.send("Target.createBrowserContext", { proxyServer: server })).rejects.toThrow(
          /proxyServer: expected one proxy.*proxies\.create/,
        );
        await client.detach();
      }
    });

    it("serves Puppeteer's contexts", async () => {
      const client = await puppeteer.connect({
        browserWSEndpoint: (await test.shoal.browsers.get(session.id)).cdp_ws_url,
      });
      const context = await client.createBrowserContext({ proxyServer: proxy.url });
      const page = await context.newPage();
      await page.authenticate({ username, password });
      const host = `${placement}.puppeteer.invalid:${port}`;
      await page.goto(`http://${host}/`);
      expect(await page.title()).toBe(host);
      expect(passedOn(host)).toBe(true);
      await context.close();
      await client.disconnect();
    });
  });
});
