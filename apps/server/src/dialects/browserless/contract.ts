import { bytes, defineEndpoint, empty, json } from "@shoal/contract";
import { lazyObject } from "@shoal/schemas";
import * as z from "zod/mini";
import * as shapes from "./shapes.ts";

const headers = ["X-Response-Code", "X-Response-Status", "X-Response-URL"];
const errors = [400, 401, 403, 404, 408, 429, 500, 501, 503] as const;
const common = { plane: "control", errors } as const;
const page = {
  ...common,
  area: "Pages",
  method: "POST",
  idempotency: { repeats: "It renders the page again." },
  query: shapes.RenderQuery,
} as const;
const management = { ...common, area: "Management", method: "GET" } as const;
const limit = { limitBytes: 12 * 2 ** 20 };

const content = {
  ...page,
  summary: "The HTML after the scripts of the page.",
  body: json(shapes.PageBody, limit),
  responses: { 200: bytes("text/html", { headers }) },
} as const;
const screenshot = {
  ...page,
  summary: "A picture of the page.",
  body: json(shapes.ScreenshotBody, limit),
  responses: { 200: bytes("image/*", { headers }) },
} as const;
const pdf = {
  ...page,
  summary: "The page as PDF.",
  body: json(shapes.PdfBody, limit),
  responses: { 200: bytes("application/pdf", { headers }) },
} as const;
const scrape = {
  ...page,
  summary: "Elements of the page.",
  body: json(shapes.ScrapeBody, limit),
  responses: { 200: json(shapes.Scraped) },
} as const;

export const getContent = defineEndpoint({ ...content, operationId: "browserless.content", path: "/content" });
export const chromiumContent = defineEndpoint({
  ...content,
  operationId: "browserless.chromium.content",
  path: "/chromium/content",
});
export const chromeContent = defineEndpoint({
  ...content,
  operationId: "browserless.chrome.content",
  path: "/chrome/content",
});
export const takeScreenshot = defineEndpoint({
  ...screenshot,
  operationId: "browserless.screenshot",
  path: "/screenshot",
});
export const chromiumScreenshot = defineEndpoint({
  ...screenshot,
  operationId: "browserless.chromium.screenshot",
  path: "/chromium/screenshot",
});
export const chromeScreenshot = defineEndpoint({
  ...screenshot,
  operationId: "browserless.chrome.screenshot",
  path: "/chrome/screenshot",
});
export const printPdf = defineEndpoint({ ...pdf, operationId: "browserless.pdf", path: "/pdf" });
export const chromiumPdf = defineEndpoint({ ...pdf, operationId: "browserless.chromium.pdf", path: "/chromium/pdf" });
export const chromePdf = defineEndpoint({ ...pdf, operationId: "browserless.chrome.pdf", path: "/chrome/pdf" });
export const scrapeElements = defineEndpoint({ ...scrape, operationId: "browserless.scrape", path: "/scrape" });
export const chromiumScrape = defineEndpoint({
  ...scrape,
  operationId: "browserless.chromium.scrape",
  path: "/chromium/scrape",
});
export const chromeScrape = defineEndpoint({
  ...scrape,
  operationId: "browserless.chrome.scrape",
  path: "/chrome/scrape",
});

export const createSession = defineEndpoint({
  ...common,
  operationId: "browserless.sessions.create",
  area: "Management",
  method: "POST",
  path: "/session",
  summary: "Create a session that outlives its clients.",
  idempotency: { repeats: "It creates another session." },
  body: json(shapes.CreateSession),
  responses: { 200: json(shapes.CreatedSession) },
});
export const listSessions = defineEndpoint({
  ...management,
  operationId: "browserless.sessions.list",
  path: "/sessions",
  summary: "List running sessions.",
  responses: { 200: json(z.array(shapes.RunningSession)) },
});
export const killSession = defineEndpoint({
  ...management,
  operationId: "browserless.sessions.kill",
  path: "/kill/{id}",
  summary: "End a session by id or name.",
  params: lazyObject(() => ({ id: z.string().check(z.minLength(1), z.maxLength(255)) })),
  responses: { 204: empty },
});
export const killSessions = defineEndpoint({
  ...management,
  operationId: "browserless.sessions.killAll",
  path: "/kill/all",
  summary: "End the running sessions of this interface.",
  responses: { 204: empty },
});
export const getPressure = defineEndpoint({
  ...management,
  operationId: "browserless.pressure",
  path: "/pressure",
  summary: "Running sessions, and whether a place is free.",
  responses: { 200: json(shapes.Pressure) },
});
export const isActive = defineEndpoint({
  ...management,
  operationId: "browserless.active",
  path: "/active",
  summary: "Whether the service answers.",
  responses: { 204: empty },
});
