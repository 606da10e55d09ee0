import { agentBrowserVersion } from "../testing/agent-browser.ts";
import { addressIn, type Door, npm, pip } from "./client.ts";

const connect = "apps/e2e/src/automation/connect.slow.ts";
const clients = "apps/e2e/src/automation/npm-clients.slow.ts";

export const cdp: Door = {
  name: "CDP",
  page: "guide/one-address.md",
  clients: [
    {
      name: "Playwright",
      language: "Node.js",
      versions: [npm("playwright-core")],
      change: '`chromium.connectOverCDP("wss://shoal.example/?token=KEY")`; also `https://`, and `headers`',
      tests: { [connect]: ["Playwright connects by %s", "Playwright shows the sentence of a refusal"] },
      flow: "five ways to send the key, pages, the end of the session, a refusal",
      limits: "Files of your machine and `saveAs` need Playwright's own protocol.",
      code: `import { chromium } from "playwright-core";

const browser = await chromium.connectOverCDP(${addressIn.script});
const [context] = browser.contexts();
const page = context.pages()[0] ?? (await context.newPage());`,
    },
    {
      name: "Playwright for Python",
      language: "Python",
      versions: [pip("playwright")],
      change: "`connect_over_cdp(session.cdp_ws_url)`",
      tests: { "apps/e2e/src/contract/python-guide.slow.ts": ["docs/guide/python.md: From start to end"] },
      flow: "the program of the guide",
      limits: "`save_as` needs Playwright's own protocol.",
      code: `import os
from playwright.sync_api import sync_playwright

with sync_playwright() as playwright:
    browser = playwright.chromium.connect_over_cdp(${addressIn.python})
    page = browser.contexts[0].pages[0]`,
    },
    {
      name: "Puppeteer",
      language: "Node.js",
      versions: [npm("puppeteer-core")],
      change: '`puppeteer.connect({ browserWSEndpoint: "wss://shoal.example/?token=KEY" })`',
      tests: { [connect]: ["Puppeteer connects by %s"] },
      flow: "both addresses, pages, the end of the session",
      limits: "`browserURL` with a key needs Puppeteer 25; older versions drop the query.",
      code: `import puppeteer from "puppeteer-core";

const browserWSEndpoint = ${addressIn.script};
const browser = await puppeteer.connect({ browserWSEndpoint, defaultViewport: null });
const [page] = await browser.pages();`,
    },
    {
      name: "@playwright/mcp",
      language: "Node.js",
      versions: [npm("@playwright/mcp")],
      change: '`--cdp-endpoint "wss://shoal.example/?token=KEY"`, or `--cdp-header "Authorization: Bearer KEY"`',
      tests: {
        [connect]: ["@playwright/mcp connects by --cdp-endpoint with %s"],
        [clients]: ["@playwright/mcp fills a form over the session's WebSocket"],
      },
      flow: "connecting, snapshots, forms, screenshots",
      code: `npx @playwright/mcp --cdp-endpoint ${addressIn.shell}`,
    },
    {
      name: "chrome-devtools-mcp",
      language: "Node.js",
      versions: [npm("chrome-devtools-mcp")],
      change: '`--wsEndpoint "wss://shoal.example/?token=KEY"`, or `--browserUrl "https://shoal.example/?token=KEY"`',
      tests: {
        [connect]: ["chrome-devtools-mcp connects by %s"],
        [clients]: ["chrome-devtools-mcp fills a form over the session's WebSocket"],
      },
      flow: "connecting, snapshots, forms, screenshots",
      code: `npx chrome-devtools-mcp --wsEndpoint ${addressIn.shell}`,
    },
    {
      name: "agent-browser",
      language: "any",
      versions: [agentBrowserVersion],
      change:
        "`--cdp` with `cdp_ws_url` of a session, `-p kernel` with `KERNEL_ENDPOINT` and `KERNEL_API_KEY`, or `-p browserless` with `BROWSERLESS_API_URL=https://shoal.example/browserless` and `BROWSERLESS_API_KEY`",
      tests: { "apps/e2e/src/automation/kernel-clients.slow.ts": ["agent-browser fills a form %s"] },
      flow: "forms, over CDP and with the providers `kernel` and `browserless`",
      code: `agent-browser --cdp ${addressIn.shell} snapshot -i`,
    },
    {
      name: "browser-use",
      language: "Python",
      versions: [pip("browser-use")],
      change: '`Browser(cdp_url="wss://shoal.example/?token=KEY")`',
      tests: { "apps/e2e/src/contract/python-guide.slow.ts": ["docs/guide/python.md: browser-use"] },
      flow: "a task with a scripted model",
      limits: "Give it a `name` if it reconnects after more than 10 seconds.",
      code: `import os
from browser_use import Browser

browser = Browser(cdp_url=${addressIn.python})`,
    },
    {
      name: "crawl4ai",
      language: "Python",
      versions: [pip("crawl4ai")],
      change: '`BrowserConfig(cdp_url="wss://shoal.example/?token=KEY", cdp_cleanup_on_close=True)`',
      tests: {
        "apps/e2e/src/automation/crawl4ai.slow.ts": ["crawls pages of a site in a separate session, by %s"],
        "apps/e2e/src/contract/python-guide.slow.ts": ["docs/guide/python.md: crawl4ai"],
      },
      flow: "several pages at once, links, pictures, a page that stays open, the end of the session",
      code: `import os
from crawl4ai import BrowserConfig

config = BrowserConfig(cdp_url=${addressIn.python}, cdp_cleanup_on_close=True)`,
    },
    {
      name: "pydoll",
      language: "Python",
      versions: [pip("pydoll-python")],
      change: "`Chrome().connect(session.cdp_ws_url)`",
      tests: {
        "apps/e2e/src/automation/pydoll.slow.ts": [
          "connects to the address of a session, and to each of its tabs at the root of the service",
        ],
      },
      flow: "forms, tabs",
      limits: "It needs the address of a session.",
      code: `from pydoll.browser.chromium import Chrome

# cdp_ws_url of \`shoal browsers get SESSION_ID -o json --base-url SERVICE_URL\`
tab = await Chrome().connect(cdp_ws_url)`,
    },
    {
      name: "Stagehand 4",
      language: "Node.js",
      versions: [npm("@browserbasehq/stagehand")],
      change: "`localBrowser.connect({ cdpUrl: browser.cdp_ws_url })`",
      tests: {
        [clients]: ["Stagehand fills a form through its extension, loaded with the session", "Stagehand loads its"],
      },
      flow: "`observe` with a scripted model, forms",
      limits: "Its extension connects from a page, which needs the address of a session.",
      code: `import { localBrowser } from "@browserbasehq/stagehand";
import { Shoal } from "@shoal/client";

const { cdp_ws_url: cdpUrl } = await new Shoal({ baseUrl: "SERVICE_URL" }).browsers.get("SESSION_ID");
const browser = await localBrowser.connect({ cdpUrl });`,
    },
    {
      name: "Crawlee",
      language: "Node.js",
      versions: [npm("@crawlee/playwright")],
      change: "a launcher that connects: [Crawlee](guide/automation.md#crawlee)",
      tests: { [clients]: ["Crawlee crawls on incognito pages, each with its proxy"] },
      flow: "two pages with a proxy",
      limits: "Only with `useIncognitoPages`: it launches other contexts itself.",
      code: `import { PlaywrightCrawler } from "@crawlee/playwright";
import { chromium } from "playwright-core";

const launcher = Object.create(chromium);
launcher.launch = () => chromium.connectOverCDP(${addressIn.script});
const crawler = new PlaywrightCrawler({ launchContext: { launcher, useIncognitoPages: true }, requestHandler });`,
    },
    {
      name: "chrome-remote-interface",
      language: "Node.js",
      versions: [npm("chrome-remote-interface")],
      change: "`shoal browsers cdp-port research` for clients that know only a host and a port",
      tests: { [clients]: ["chrome-remote-interface fills a form through the session's port"] },
      flow: "forms, screenshots",
      code: `shoal browsers cdp-port SESSION_ID --port 9222 --base-url SERVICE_URL
# const client = await CDP({ host: "127.0.0.1", port: 9222 });`,
    },
  ],
};
