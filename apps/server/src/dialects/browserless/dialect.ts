import type { Handlers } from "@shoal/router";
import type { Browser } from "@shoal/schemas";
import { defineDialect, type DialectCaller, type DialectParts, type MissingOperation } from "../kit/dialect.ts";
import { concurrencyOf, endBrowsers } from "../kit/browsers.ts";
import * as contract from "./contract.ts";
import { createSession } from "./sessions.ts";
import { content, pdf, scrape, screenshot } from "./rest.ts";

const maxListed = 1000;

const missing: readonly MissingOperation[] = [
  ...["", "/chromium", "/chrome"].flatMap((place) => [
    {
      path: `${place}/function`,
      reason: "This service runs no functions of this kind; use POST /browsers/{id}/playwright/execute.",
    },
    { path: `${place}/download`, reason: "Downloads need a session; use GET /browsers/{id}/downloads." },
    { path: `${place}/performance`, reason: "This service has no Lighthouse; run it against a session." },
    { path: `${place}/unblock`, reason: "This service unblocks no pages; create a session with stealth." },
  ]),
  ...["/export", "/map", "/search", "/crawl", "/smart-scrape", "/chromium/bql", "/stealth/bql"].map((path) => ({
    path,
    reason: `${path} is not available on this service; use POST /render.`,
  })),
];

async function running({ calls }: DialectCaller): Promise<readonly Browser[]> {
  const page = await calls.call("listBrowsers", { query: { limit: maxListed, status: "active" } });
  return "items" in page ? page.items : [];
}

async function kill({ calls }: DialectCaller, id: string): Promise<void> {
  await calls.call("deleteBrowser", { params: { id_or_name: id } });
}

async function killAll(caller: DialectCaller): Promise<void> {
  const own = (await running(caller)).filter(({ origin }) => origin?.dialect === "browserless");
  await endBrowsers(caller.calls, own);
}

function handlers(parts: DialectParts): Handlers<typeof contract, DialectCaller> {
  const pages = {
    content: (call: Parameters<typeof content>[1]) => content(parts, call),
    screenshot: (call: Parameters<typeof screenshot>[1]) => screenshot(parts, call),
    pdf: (call: Parameters<typeof pdf>[1]) => pdf(parts, call),
    scrape: (call: Parameters<typeof scrape>[1]) => scrape(parts, call),
  };
  return {
    getContent: pages.content,
    chromiumContent: pages.content,
    chromeContent: pages.content,
    takeScreenshot: pages.screenshot,
    chromiumScreenshot: pages.screenshot,
    chromeScreenshot: pages.screenshot,
    printPdf: pages.pdf,
    chromiumPdf: pages.pdf,
    chromePdf: pages.pdf,
    scrapeElements: pages.scrape,
    chromiumScrape: pages.scrape,
    chromeScrape: pages.scrape,
    createSession: ({ body, context, signal }) => createSession(parts, { body, context, signal }),
    listSessions: async ({ context }) =>
      (await running(context)).map(({ created_at: createdAt, name, session_id: id }) => ({
        id,
        browserId: id,
        browser: "chromium",
        trackingId: name ?? null,
        running: true,
        startedOn: Date.parse(createdAt),
        timeAliveMs: Math.max(0, Date.now() - Date.parse(createdAt)),
        type: "browser",
        killURL: `${context.access.baseUrl}/browserless/kill/${id}`,
      })),
    killSession: ({ context, params }) => kill(context, params.id),
    killSessions: ({ context }) => killAll(context),
    async getPressure({ context }) {
      const count = (await running(context)).length;
      const most = await concurrencyOf(parts, context.calls, context.access.projectId);
      const isAvailable = most === 0 || count < most;
      return {
        pressure: {
          cpu: null,
          memory: null,
          date: Date.now(),
          isAvailable,
          reason: isAvailable ? "" : "full",
          message: isAvailable ? "" : "All places for sessions are taken.",
          running: count,
          queued: 0,
          maxConcurrent: most,
          maxQueued: 100,
          recentlyRejected: 0,
        },
      };
    },
    isActive: () => undefined,
  };
}

export const browserless = defineDialect({
  name: "browserless",
  title: "Browserless",
  // Clients send it as ?token=, which the entrance has moved.
  keyHeader: "x-browserless-token",
  rootPath: "/browserless/",
  nativePath: "/json/",
  projectHeader: "x-browserless-project",
  foreignSecrets: [],
  contract,
  sessionPath: "/kill/{id}",
  files: {},
  handlers,
  missing,
  commands: { path: "/browserless", ended: { success: true }, answers: {} },
  errorBody: ({ message }) => ({ error: message }),
});
