export interface ConnectProgram {
  readonly label: string;
  readonly code: string;
}

/** How clients connect to a running session, with the key in SHOAL_API_KEY. */
export function connectProgramsOf(sessionId: string, service: string): readonly ConnectProgram[] {
  const socket = `${service.replace(/^http/, "ws")}/?sessionId=${sessionId}`;
  const shown = `${socket}&token=$SHOAL_API_KEY`;
  const playwright = socket.replace("/?", "/playwright?");
  const inScript = `\`${socket}&token=\${process.env.SHOAL_API_KEY}\``;
  return [
    { label: "CDP", code: shown },
    {
      label: "Playwright",
      code: `import { chromium } from "playwright-core";

const browser = await chromium.connectOverCDP(${inScript});
const [context] = browser.contexts();
const page = context.pages()[0] ?? (await context.newPage());`,
    },
    {
      label: "Playwright Test",
      code: `PW_TEST_CONNECT_WS_ENDPOINT="${playwright}&token=$SHOAL_API_KEY" npx playwright test`,
    },
    {
      label: "Puppeteer",
      code: `import puppeteer from "puppeteer-core";

const browser = await puppeteer.connect({ browserWSEndpoint: ${inScript}, defaultViewport: null });
const [page] = await browser.pages();`,
    },
    {
      label: "Python",
      code: `import os
from playwright.sync_api import sync_playwright

with sync_playwright() as playwright:
    address = "${socket}&token=" + os.environ["SHOAL_API_KEY"]
    browser = playwright.chromium.connect_over_cdp(address)
    page = browser.contexts[0].pages[0]`,
    },
    { label: "MCP", code: `npx @playwright/mcp --cdp-endpoint "${shown}"` },
    {
      label: "curl",
      code: `curl "${service}/browsers/${sessionId}" -H "Authorization: Bearer $SHOAL_API_KEY"`,
    },
  ];
}
