import { bytes, defineEndpoint, json } from "@shoal/contract";
import * as shapes from "./shapes.ts";

const limit = { limitBytes: 12 * 2 ** 20 };
const common = {
  plane: "control",
  area: "Pages",
  method: "POST",
  errors: [400, 401, 403, 404, 408, 429, 500, 501, 503],
  idempotency: { repeats: "It renders the page again." },
  params: shapes.Account,
  query: shapes.RenderQuery,
} as const;

export const getContent = defineEndpoint({
  ...common,
  operationId: "cloudflare.content",
  path: "/accounts/{account_id}/browser-rendering/content",
  summary: "The HTML after the scripts of the page.",
  body: json(shapes.PageBody, limit),
  responses: { 200: json(shapes.Text) },
});
export const getMarkdown = defineEndpoint({
  ...common,
  operationId: "cloudflare.markdown",
  path: "/accounts/{account_id}/browser-rendering/markdown",
  summary: "The page as Markdown.",
  body: json(shapes.PageBody, limit),
  responses: { 200: json(shapes.Text) },
});
export const listLinks = defineEndpoint({
  ...common,
  operationId: "cloudflare.links",
  path: "/accounts/{account_id}/browser-rendering/links",
  summary: "The addresses of the links, each once.",
  body: json(shapes.LinksBody, limit),
  responses: { 200: json(shapes.Links) },
});
export const scrapeElements = defineEndpoint({
  ...common,
  operationId: "cloudflare.scrape",
  path: "/accounts/{account_id}/browser-rendering/scrape",
  summary: "Elements of the page.",
  body: json(shapes.ScrapeBody, limit),
  responses: { 200: json(shapes.Scraped) },
});
export const takeSnapshot = defineEndpoint({
  ...common,
  operationId: "cloudflare.snapshot",
  path: "/accounts/{account_id}/browser-rendering/snapshot",
  summary: "The page as HTML, picture or Markdown at once.",
  body: json(shapes.SnapshotBody, limit),
  responses: { 200: json(shapes.Snapshot) },
});
export const takeScreenshot = defineEndpoint({
  ...common,
  operationId: "cloudflare.screenshot",
  path: "/accounts/{account_id}/browser-rendering/screenshot",
  summary: "A picture of the page.",
  body: json(shapes.ScreenshotBody, limit),
  responses: { 200: bytes("image/*") },
});
export const printPdf = defineEndpoint({
  ...common,
  operationId: "cloudflare.pdf",
  path: "/accounts/{account_id}/browser-rendering/pdf",
  summary: "The page as PDF.",
  body: json(shapes.PdfBody, limit),
  responses: { 200: bytes("application/pdf") },
});
