import { type Door, npm, pip } from "./client.ts";

const tests = "apps/e2e/src/automation/playwright-protocol.slow.ts";
const address = "SOCKET_URL/playwright?sessionId=SESSION_ID&token=";

export const playwright: Door = {
  name: "Playwright's own protocol",
  page: "guide/one-address.md#playwrights-own-protocol",
  clients: [
    {
      name: "Playwright (own protocol)",
      language: "Node.js",
      versions: [npm("playwright-core"), npm("playwright-core-1.62"), npm("playwright-core-1.59")],
      change: '`chromium.connect("wss://shoal.example/playwright?token=KEY")`',
      tests: {
        [tests]: [
          "serves Playwright %s: pages, routes, uploads, downloads, traces, HAR and videos",
          "connects by http, by a header and by the address of a session",
          "applies the network rules of the session to requests of contexts",
        ],
      },
      flow: "pages, routes, files of your machine, downloads, traces, HAR, videos",
      limits: "No client certificates, no `exposeNetwork`, and no HAR with 1.59. Videos need ffmpeg in the session.",
      code: `import { chromium } from "playwright-core";

const browser = await chromium.connect(\`${address}\${process.env.SHOAL_API_KEY}\`);
const page = await browser.newPage();`,
    },
    {
      name: "Playwright before 1.59",
      language: "Node.js",
      versions: [npm("playwright-core-1.58")],
      change: "use `connectOverCDP`",
      tests: { [tests]: ["refuses a key, a version, a browser and a network, before a session exists"] },
      flow: "the refusal",
      limits: "Status 428: its protocol is another one.",
      isRefused: true,
    },
    {
      name: "Playwright Test",
      language: "Node.js",
      versions: [npm("@playwright/test")],
      change: '`PW_TEST_CONNECT_WS_ENDPOINT="wss://shoal.example/playwright?token=KEY"`',
      tests: { [tests]: ["runs a suite of Playwright Test by one variable, with two workers"] },
      flow: "six tests with two workers",
      limits: "Without `sessionId` and `name`, each worker has its own session.",
      code: `PW_TEST_CONNECT_WS_ENDPOINT="${address}$SHOAL_API_KEY" npx playwright test`,
    },
    {
      name: "Playwright for Python (own protocol)",
      language: "Python",
      versions: [pip("playwright")],
      change: '`connect("wss://shoal.example/playwright?token=KEY")`',
      tests: {
        "apps/e2e/src/contract/python-guide.slow.ts": [
          "docs/guide/python.md: Downloads and uploads",
          "docs/guide/python.md: Playwright without an SDK",
        ],
      },
      flow: "files of your machine, `save_as`",
      limits: "No client certificates. Videos need ffmpeg in the session.",
      code: `import os
from playwright.sync_api import sync_playwright

with sync_playwright() as playwright:
    browser = playwright.chromium.connect("${address}" + os.environ["SHOAL_API_KEY"])
    page = browser.new_page()`,
    },
  ],
};
