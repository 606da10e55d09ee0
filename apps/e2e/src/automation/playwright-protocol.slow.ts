import { eventually } from "@shoal/testkit";
import { execFile } from "node:child_process";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { chromium, type Browser, type BrowserType } from "playwright-core";
import { chromium as chromium158 } from "playwright-core-1.58";
import { chromium as chromium159 } from "playwright-core-1.59";
import { chromium as chromium162 } from "playwright-core-1.62";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { placements } from "../testing/components.ts";
import { useService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";

const run = promisify(execFile);

let site: Site;
beforeAll(async () => {
  site = await serveSite((request, response) => {
    if (request.url === "/file")
      response.setHeader("content-disposition", "attachment; filename=file.txt").end("a file");
    else if (request.url === "/away") response.writeHead(302, { location: "http://169.254.169.254/secret" }).end();
    else
      response
        .setHeader("content-type", "text/html")
        .end("<title>shop</title><input type=file><a href=/file>file</a><script>fetch('/data')</script>");
  });
});
afterAll(() => site.close());

describe.each(placements)("Playwright's own protocol, in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("with a service", () => {
    const test = useService(() => ["--placement", placement, "--allow-private-hosts", "127.0.0.1"]);
    const settings = "disconnect_timeout_seconds=0";
    const socket = (more = "") =>
      `${test.service.baseUrl.replace(/^http/, "ws")}/playwright?token=${test.service.apiKey}&${settings}${more}`;
    const running = async () => (await test.shoal.browsers.list()).items;
    const ended = (id: string) =>
      eventually("the session has ended", async () => {
        const { ended_reason: reason } = await test.shoal.browsers.get(id, { include_deleted: true });
        return reason;
      });
    /** The only session, which ends when the client has gone. */
    async function follow(browser: Browser, work: () => Promise<void> = async () => undefined): Promise<void> {
      try {
        await work();
        expect((await running()).map(({ session_id: id }) => id)).toHaveLength(1);
      } finally {
        const [session] = await running();
        await browser.close();
        expect(await ended(session?.session_id ?? "")).toBe("disconnected");
      }
    }

    it.each<[string, BrowserType, boolean]>([
      ["1.59", chromium159 as unknown as BrowserType, false],
      ["1.62", chromium162 as unknown as BrowserType, true],
      ["1.65", chromium, true],
    ])(
      "serves Playwright %s: pages, routes, uploads, downloads, traces, HAR and videos",
      async (version, client, hasHar) => {
        const folder = join(test.folder, version);
        await mkdir(folder, { recursive: true });
        await writeFile(join(folder, "letter.txt"), "hello from here");
        const browser = await client.connect(socket());
        await follow(browser, async () => {
          expect(browser.contexts()).toHaveLength(1);
          const context = await browser.newContext({
            recordVideo: { dir: folder, size: { width: 320, height: 180 } },
            ...(hasHar && { recordHar: { path: join(folder, "a.har") } }),
          });
          await context.tracing.start({ screenshots: true, snapshots: true });
          await context.route("**/data", (route) => route.fulfill({ body: "routed" }));
          const page = await context.newPage();
          await page.goto(site.url);
          expect(await page.title()).toBe("shop");
          expect(await page.evaluate(async () => (await fetch("/data")).text())).toBe("routed");
          await page.locator("input").setInputFiles(join(folder, "letter.txt"));
          const text = await page.evaluate("document.querySelector('input').files[0].text()");
          expect(text).toBe("hello from here");
          const [download] = await Promise.all([page.waitForEvent("download"), page.locator("a").click()]);
          await download.saveAs(join(folder, "saved.txt"));
          expect(await readFile(join(folder, "saved.txt"), "utf8")).toBe("a file");
          await context.tracing.stop({ path: join(folder, "trace.zip") });
          expect((await stat(join(folder, "trace.zip"))).size).toBeGreaterThan(1_000);
          await context.close();
          await page.video()?.saveAs(join(folder, "page.webm"));
          // The beginning of a WebM file.
          expect((await readFile(join(folder, "page.webm"))).readUInt32BE(0)).toBe(0x1a45dfa3);
          if (hasHar) expect(await readFile(join(folder, "a.har"), "utf8")).toContain(`${site.url}data`);
        });
      },
    );

    it("connects by http, by a header and by the address of a session", async () => {
      await follow(await chromium.connect(socket().replace(/^ws/, "http")));
      const headers = { authorization: `Bearer ${test.service.apiKey}` };
      const address = `${test.service.baseUrl.replace(/^http/, "ws")}/chromium/playwright?${settings}`;
      await follow(await chromium.connect(address, { headers }));
      const { playwright_ws_url: own = "", session_id: id } = await test.shoal.browsers.create();
      for (const way of [own, own.replace(/^ws/, "http")]) {
        const browser = await chromium.connect(way);
        expect(browser.contexts()[0]?.pages()).toHaveLength(1);
        await browser.close();
      }
      // The session was not made by a connection.
      expect((await test.shoal.browsers.get(id)).ended_reason).toBeUndefined();
      await test.shoal.browsers.delete(id);
    });

    it("lets several clients share a session by its name, and ends it after the last", async () => {
      const [one, two] = await Promise.all([
        chromium.connect(socket("&name=both")),
        chromium.connect(socket("&name=both")),
      ]);
      const [session, ...others] = await running();
      expect(others).toEqual([]);
      const page = await one.newPage();
      await page.goto(site.url);
      await two.close();
      expect(await page.title()).toBe("shop");
      const over = await chromium.connectOverCDP(session?.cdp_ws_url ?? "");
      await over.close();
      await one.close();
      expect(await ended(session?.session_id ?? "")).toBe("disconnected");
    });

    it("refuses a key, a version, a browser and a network, before a session exists", async () => {
      const count = (await test.shoal.browsers.list({ status: "all" })).items.length;
      await expect(chromium.connect(socket().replace("sk_", "xx_"))).rejects.toThrow("401");
      await expect(chromium158.connect(socket())).rejects.toThrow(
        "speaks Playwright 1.59 to 1.65; your client is 1.58.2",
      );
      await expect(chromium.connect(socket(), { exposeNetwork: "*" })).rejects.toThrow("exposeNetwork");
      await expect(chromium.connect(socket("&proxyCountry=US"))).rejects.toThrow("is not a setting of an address");
      expect((await test.shoal.browsers.list({ status: "all" })).items).toHaveLength(count);
    });

    it("applies the network rules of the session to requests of contexts", async () => {
      const browser = await chromium.connect(socket());
      const { request } = await browser.newContext();
      expect(await (await request.get(site.url)).text()).toContain("shop");
      const refused = [`${site.url}away`, "http://localhost:1/", "http://[::1]/", "https://169.254.169.254/"];
      for (const url of refused) {
        const answer = await request.get(url).catch((error: unknown) => error);
        const status = answer instanceof Error ? 0 : (answer as { status(): number }).status();
        expect([url, status === 0 || status >= 400]).toEqual([url, true]);
      }
      await browser.close();
      const limited = await chromium.connect(socket("&allow=example.com"));
      const answer = await limited
        .contexts()[0]
        ?.request.get(site.url)
        .catch((error: unknown) => error);
      expect(answer instanceof Error || (answer as { status(): number }).status() === 403).toBe(true);
      await limited.close();
    });

    it("pauses pages and requests of contexts while a person has the session", async () => {
      const browser = await chromium.connect(socket());
      const id = (await running())[0]?.session_id ?? "";
      const page = await browser.newPage();
      await page.goto(site.url);
      await test.shoal.browsers.handoff.request(id, { message: "Look", on_automation: "refuse" });
      await expect(page.goto(`${site.url}other`)).rejects.toThrow("handoff_active");
      await expect(page.context().request.get(site.url)).rejects.toThrow("A person controls this session");
      await test.shoal.browsers.handoff.release(id);
      expect(await (await page.context().request.get(site.url)).text()).toContain("shop");
      await page.goto(`${site.url}other`);
      await browser.close();
      expect(await ended(id)).toBe("disconnected");
    });

    it("runs a suite of Playwright Test by one variable, with two workers", async () => {
      const folder = join(test.folder, "suite");
      await mkdir(folder, { recursive: true });
      const require = createRequire(import.meta.url);
      const playwright = require.resolve("@playwright/test");
      await writeFile(join(folder, "playwright.config.cjs"), "module.exports = { workers: 2, fullyParallel: true };");
      await writeFile(
        join(folder, "shop.spec.cjs"),
        `const { test, expect } = require(${JSON.stringify(playwright)});
for (let number = 0; number < 6; number += 1)
  test("finds the shop " + number, async ({ page, context }) => {
    await page.goto(${JSON.stringify(site.url)});
    await expect(page).toHaveTitle("shop");
    expect(await (await context.request.get(${JSON.stringify(site.url)})).text()).toContain("shop");
  });
`,
      );
      const { stdout } = await run(process.execPath, [join(dirname(playwright), "cli.js"), "test", "--reporter=line"], {
        cwd: folder,
        env: { ...process.env, PW_TEST_CONNECT_WS_ENDPOINT: socket("&tags.suite=shop") },
      });
      expect(stdout).toContain("6 passed");
      const isOfSuite = ({ tags }: { tags?: Readonly<Record<string, string>> | undefined }) => tags?.suite === "shop";
      await eventually("its sessions end", async () => !(await running()).some(isOfSuite));
      const { items } = await test.shoal.browsers.list({ status: "all" });
      expect(items.filter(isOfSuite).length).toBeGreaterThanOrEqual(2);
    });
  });
});
