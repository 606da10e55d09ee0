import { getExtensionArchive, localBrowser } from "@browserbasehq/stagehand";
import { kernel } from "@computesdk/kernel";
import { Configuration, log, LogLevel, PlaywrightCrawler, ProxyConfiguration } from "@crawlee/playwright";
import { playwrightExecuteTool } from "@onkernel/ai-sdk";
import Kernel from "@onkernel/sdk";
import { generateText, stepCountIs } from "ai-5";
import { MockLanguageModelV2 } from "ai-5/test";
import CDP from "chrome-remote-interface";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BrowserType, chromium, type Page } from "playwright-core";
import { Builder, By, Capabilities, Session, until, WebDriver } from "selenium-webdriver";
import { BrowsingContext } from "selenium-webdriver/bidi/generated/browsing_context.js";
import { Input } from "selenium-webdriver/bidi/generated/input.js";
import { Script } from "selenium-webdriver/bidi/generated/script.js";
import { Session as BidiSession } from "selenium-webdriver/bidi/generated/session.js";
import { Options } from "selenium-webdriver/chrome.js";
import { Executor } from "selenium-webdriver/lib/command.js";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { startCdpPort } from "../testing/cdp-port.ts";
import { startChromedriver } from "../testing/chromedriver.ts";
import { chromedriverTests, missingFor } from "../testing/components.ts";
import { McpProgram } from "../testing/mcp-program.ts";
import { firstPageOf } from "../testing/page.ts";
import { type PasswordProxy, startPasswordProxy } from "../testing/password-proxy.ts";
import { useService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";
import { fillWithStagehand, form } from "../testing/stagehand-form.ts";

/** The first bytes of a PNG in base64, at the start of a line. */
const png = /^iVBORw0KGgo/m;

let site: Site;
let proxy: PasswordProxy;
beforeAll(async () => {
  site = await serveSite((_request, response) => response.setHeader("content-type", "text/html").end(form));
  proxy = await startPasswordProxy();
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await site.close();
});

const missing = missingFor("sandbox");

describe.skipIf(missing !== undefined)(
  `clients from npm${missing === undefined ? "" : ` (skipped, ${missing})`}`,
  () => {
    // Stagehand's extension connects to the service as well.
    const test = useService(() => ["--placement", "sandbox", "--allow-private-hosts", "127.0.0.1"]);

    it.skipIf(chromedriverTests.skip)(
      `selenium-webdriver fills a form through chromedriver and the session's port${chromedriverTests.reason}`,
      async () => {
        await using session = await test.shoal.browsers.create();
        await using port = await startCdpPort(test, session.session_id);
        await using chromedriver = await startChromedriver();
        const options = new Options();
        options.debuggerAddress(new URL(port.address).host);
        const driver = await new Builder()
          .usingServer(chromedriver.address)
          .forBrowser("chrome")
          .setChromeOptions(options)
          .build();
        await driver.get(site.url);
        expect(await driver.getTitle()).toBe("form");
        await driver.findElement(By.id("name")).sendKeys("Ann");
        await driver.findElement(By.css("button")).click();
        await driver.wait(until.titleIs("hello Ann"), 30_000);
        expect(await driver.takeScreenshot()).toMatch(png);
        await driver.quit();
        expect((await test.shoal.browsers.get(session.session_id)).browser_restarts).toBe(0);
      },
    );

    it("selenium-webdriver's BiDi modules fill a form over the session's WebSocket", async () => {
      await using session = await test.shoal.browsers.create();
      const driver = new WebDriver(
        new Session("", new Capabilities({ webSocketUrl: session.webdriver_ws_url })),
        new Executor(),
      );
      const bidiSession = await BidiSession.create(driver);
      await bidiSession.new({ capabilities: {} });
      const [contexts, input, script] = await Promise.all([
        BrowsingContext.create(driver),
        Input.create(driver),
        Script.create(driver),
      ]);
      const context = (await contexts.getTree({})).contexts[0]?.context ?? "";
      await contexts.navigate({ context, url: site.url, wait: "complete" });
      const evaluate = (expression: string) => script.evaluate({ expression, target: { context }, awaitPromise: true });
      await evaluate("document.querySelector('#name').focus()");
      const keys = ["A", "n", "n"].flatMap((value) => [
        { type: "keyDown" as const, value },
        { type: "keyUp" as const, value },
      ]);
      await input.performActions({ context, actions: [{ type: "key", id: "keyboard", actions: keys }] });
      await evaluate("document.querySelector('button').click()");
      expect(await evaluate("document.title")).toMatchObject({ result: { type: "string", value: "hello Ann" } });
      expect((await contexts.captureScreenshot({ context })).data).toMatch(png);
      await bidiSession.end();
      expect((await test.shoal.browsers.get(session.session_id)).browser_restarts).toBe(0);
    });

    it("chrome-remote-interface fills a form through the session's port", async () => {
      await using session = await test.shoal.browsers.create();
      await using port = await startCdpPort(test, session.session_id);
      const { hostname, port: number } = new URL(port.address);
      const client = await CDP({ host: hostname, port: Number(number) });
      const { Page, Runtime, Input } = client;
      await Page.enable();
      const loaded = Page.loadEventFired();
      await Page.navigate({ url: site.url });
      await loaded;
      const evaluate = async (expression: string): Promise<unknown> =>
        (await Runtime.evaluate({ expression })).result.value;
      expect(await evaluate("document.title")).toBe("form");
      await evaluate("document.querySelector('#name').focus()");
      await Input.insertText({ text: "Ann" });
      await evaluate("document.querySelector('button').click()");
      expect(await evaluate("document.title")).toBe("hello Ann");
      expect((await Page.captureScreenshot({})).data).toMatch(png);
      await client.close();
    });

    it("chrome-devtools-mcp fills a form over the session's WebSocket", async () => {
      await using session = await test.shoal.browsers.create();
      await using devtools = await McpProgram.chromeDevtools("--wsEndpoint", session.cdp_ws_url);
      expect(await devtools.call("list_pages")).toContain("1: about:blank");
      const pageId = 1;
      expect(await devtools.call("navigate_page", { pageId, type: "url", url: site.url })).toContain("1: form");
      const snapshot = await devtools.call("take_snapshot", { pageId });
      const [name, button] = [/uid=(\S+) textbox "Name"/, /uid=(\S+) button "Greet"/].map(
        (element) => element.exec(snapshot)?.[1],
      );
      await devtools.call("fill", { pageId, uid: name, value: "Ann" });
      await devtools.call("click", { pageId, uid: button });
      expect(await devtools.call("list_pages")).toContain("1: hello Ann");
      expect(await devtools.call("take_screenshot", { pageId })).toMatch(png);
    });

    it("@playwright/mcp fills a form over the session's WebSocket", async () => {
      await using session = await test.shoal.browsers.create();
      await using mcp = await McpProgram.playwright(
        "--cdp-endpoint",
        session.cdp_ws_url,
        "--output-dir",
        join(test.folder, "playwright-mcp"),
      );
      await mcp.call("browser_navigate", { url: site.url });
      const snapshot = await mcp.call("browser_snapshot");
      const [name, button] = [/textbox "Name" .*\[ref=(\w+)\]/, /button "Greet" .*\[ref=(\w+)\]/].map(
        (element) => element.exec(snapshot)?.[1],
      );
      await mcp.call("browser_type", { element: "Name", target: name, text: "Ann" });
      await mcp.call("browser_click", { element: "Greet", target: button });
      expect(await mcp.call("browser_tabs", { action: "list" })).toContain("hello Ann");
      expect(await mcp.call("browser_take_screenshot", { type: "png" })).toMatch(png);
    });

    async function connectStagehand(cdpUrl: string): Promise<void> {
      const browser = await localBrowser.connect({ cdpUrl });
      await fillWithStagehand(browser, site.url);
      await browser.disconnect();
    }

    it("Stagehand fills a form through its extension, loaded with the session", async () => {
      await test.shoal.extensions.upload({ name: "stagehand", file: Uint8Array.from(await getExtensionArchive()) });
      await using session = await test.shoal.browsers.create({ extensions: [{ name: "stagehand" }] });
      await connectStagehand(session.cdp_ws_url);
    });

    it("Stagehand loads its extension itself into a session without options", async () => {
      await using session = await test.shoal.browsers.create();
      const folder = fileURLToPath(new URL("extension/", import.meta.resolve("@browserbasehq/stagehand")));
      await test.shoal.browsers.fs.uploadZip(session.session_id, {
        dest_path: folder,
        zip_file: Uint8Array.from(await getExtensionArchive()),
      });
      await connectStagehand(session.cdp_ws_url);
      expect((await test.shoal.browsers.get(session.session_id)).browser_restarts).toBe(0);
    });

    it("Crawlee crawls on incognito pages, each with its proxy", async () => {
      await using session = await test.shoal.browsers.create();
      log.setLevel(LogLevel.OFF);
      const titles: string[] = [];
      const crawler = new PlaywrightCrawler(
        {
          launchContext: {
            launcher: Object.assign(Object.create(chromium) as BrowserType, {
              launch: () => chromium.connectOverCDP(session.cdp_ws_url),
            }),
            useIncognitoPages: true,
          },
          proxyConfiguration: new ProxyConfiguration({ proxyUrls: [proxy.url] }),
          maxRequestRetries: 0,
          async requestHandler({ page }: { page: Page }) {
            await page.fill("#name", "Ann");
            await page.click("button");
            titles.push(await page.title());
            expect((await page.screenshot()).toString("base64")).toMatch(png);
          },
        },
        new Configuration({ persistStorage: false }),
      );
      const { port } = new URL(site.url);
      const { requestsFinished } = await crawler.run([
        `http://far.invalid:${port}/`,
        `http://further.invalid:${port}/`,
      ]);
      expect([requestsFinished, titles]).toEqual([2, ["hello Ann", "hello Ann"]]);
      expect([...new Set(proxy.asked)].toSorted()).toEqual([`far.invalid:${port}`, `further.invalid:${port}`]);
    });

    it("@computesdk/kernel creates, finds and ends a session and a profile", async () => {
      vi.stubEnv("KERNEL_BASE_URL", test.service.baseUrl);
      onTestFinished(() => {
        vi.unstubAllEnvs();
      });
      const provider = kernel({ apiKey: test.service.apiKey });
      const { session: sessions, profile: profiles } = provider;
      if (profiles === undefined) throw new Error("The provider has no profiles.");
      const profile = await profiles.create({ name: "ann" });
      expect(await profiles.get(profile.profileId)).toMatchObject({ name: "ann" });
      const session = await sessions.create({
        timeout: 300,
        viewport: { width: 1280, height: 800 },
        profileId: profile.profileId,
      });
      expect(await sessions.getById(session.sessionId)).toMatchObject({ connectUrl: session.connectUrl });
      expect((await sessions.list()).map(({ sessionId }) => sessionId)).toContain(session.sessionId);
      const browser = await chromium.connectOverCDP(await provider.getConnectUrl(session.sessionId));
      const page = await firstPageOf(browser);
      await page.goto(site.url);
      await page.fill("#name", "Ann");
      await page.click("button");
      await expect.poll(() => page.title()).toBe("hello Ann");
      expect(await page.evaluate(() => innerWidth)).toBe(1280);
      await browser.close();
      await sessions.destroy(session.sessionId);
      expect(await sessions.getById(session.sessionId)).toBeNull();
      await profiles.delete(profile.profileId);
      expect(await profiles.list()).toEqual([]);
    });

    it("@onkernel/ai-sdk runs a model's tool call in the session", async () => {
      const client = new Kernel({ apiKey: test.service.apiKey, baseURL: test.service.baseUrl });
      // Its README passes `browser`, which the SDK's types lack.
      const options = { browser: "chromium", headless: true };
      const { session_id: sessionId } = await client.browsers.create(options);
      const code = `await page.goto(${JSON.stringify(site.url)});
      await page.fill("#name", "Ann");
      await page.click("button");
      return { title: await page.title(), screenshot: (await page.screenshot()).toString("base64") };`;
      const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
      const model = new MockLanguageModelV2({
        doGenerate: [
          {
            content: [
              { type: "tool-call", toolCallId: "1", toolName: "playwright_execute", input: JSON.stringify({ code }) },
            ],
            finishReason: "tool-calls",
            usage,
            warnings: [],
          },
          { content: [{ type: "text", text: "Done." }], finishReason: "stop", usage, warnings: [] },
        ],
      });
      const { steps, text } = await generateText({
        model,
        prompt: "Greet Ann.",
        // Its types are those of the newest AI SDK, which it does not support.
        tools: { playwright_execute: playwrightExecuteTool({ client, sessionId }) as never },
        stopWhen: stepCountIs(2),
      });
      expect(text).toBe("Done.");
      expect(steps[0]?.toolResults[0]?.output).toMatchObject({
        success: true,
        result: { title: "hello Ann", screenshot: expect.stringMatching(png) as string },
      });
      await client.browsers.deleteByID(sessionId);
    });
  },
);
