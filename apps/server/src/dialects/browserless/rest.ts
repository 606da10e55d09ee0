import type { BytesReply } from "@shoal/router";
import type { RenderPage } from "@shoal/schemas";
import { STATUS_CODES } from "node:http";
import { readLaunch } from "../../sessions/connect/launch-options.ts";
import type { Rendered } from "../../sessions/render/renders.ts";
import type { DialectCaller, DialectParts } from "../kit/dialect.ts";
import { givenIn, givenInList, reportIgnored } from "../kit/ignored.ts";
import { unusedPdfOptions, unusedScreenshotOptions } from "../kit/page-shapes.ts";
import { inSession, refuseFields, toRenderPage, waitForElement } from "../kit/render-body.ts";
import { bytesOf, elementsOf, renderFor, toPdf, toScreenshot, withinLimits } from "../kit/rendering.ts";
import type { PageBody, PdfBody, RenderQuery, ScrapeBody, ScreenshotBody } from "./shapes.ts";

export interface RenderCall<Body extends PageBody> {
  readonly body: Body;
  readonly query: RenderQuery;
  readonly context: DialectCaller;
  readonly signal: AbortSignal;
}

type Outputs = Pick<RenderPage, "elements" | "outputs" | "pdf" | "screenshot">;

const usualMs = 30_000;

const missing = {
  rejectRequestPattern: inSession,
  requestInterceptors: inSession,
  addScriptTag: inSession,
  addStyleTag: inSession,
  waitForFunction: waitForElement,
  waitForEvent: waitForElement,
};

async function render<Body extends PageBody>(
  parts: DialectParts,
  { body, context, query, signal }: RenderCall<Body>,
  outputs: Outputs,
): Promise<Rendered> {
  refuseFields(body, missing);
  const { ignored, page } = toRenderPage(body);
  const launch = query.launch === undefined ? {} : readLaunch(query.launch);
  const { stealth = query.stealth, viewport } = launch as { stealth?: boolean; viewport?: RenderPage["viewport"] };
  reportIgnored(context.request, [
    ...ignored,
    ...(["headless", "blockAds", "trackingId"] as const)
      .filter((name) => query[name] !== undefined)
      .map((name) => `query.${name}`),
  ]);
  const asked = {
    ...(viewport && { viewport }),
    ...page,
    ...outputs,
    ...(stealth !== undefined && { stealth }),
    timeout_ms: withinLimits(query.timeout ?? body.gotoOptions?.timeout ?? usualMs),
  };
  return renderFor(parts, context, { dialect: "browserless", page: asked, signal });
}

/** With the response of the page as headers. */
function fileOf(rendered: Rendered, name: "html" | "pdf" | "screenshot"): BytesReply {
  const { status, url } = rendered.head;
  return {
    ...bytesOf(rendered, name),
    headers: {
      ...(status !== undefined && {
        "x-response-code": String(status),
        "x-response-status": STATUS_CODES[status] ?? "",
      }),
      "x-response-url": url
        .toWellFormed()
        .replaceAll(/[^\x20-\x7e]/gu, encodeURIComponent)
        .slice(0, 1000),
    },
  };
}

export async function content(parts: DialectParts, call: RenderCall<PageBody>): Promise<BytesReply> {
  return fileOf(await render(parts, call, { outputs: ["html"] }), "html");
}

export async function screenshot(parts: DialectParts, call: RenderCall<ScreenshotBody>): Promise<BytesReply> {
  const { options, scrollPage, selector } = call.body;
  const picture = toScreenshot(options, { field: "options", selector });
  reportIgnored(call.context.request, [
    ...givenIn("body.options", options, unusedScreenshotOptions),
    ...(scrollPage === true ? ["body.scrollPage"] : []),
  ]);
  return fileOf(await render(parts, call, { screenshot: picture }), "screenshot");
}

export async function pdf(parts: DialectParts, call: RenderCall<PdfBody>): Promise<BytesReply> {
  reportIgnored(call.context.request, givenIn("body.options", call.body.options, unusedPdfOptions));
  return fileOf(await render(parts, call, { pdf: toPdf(call.body.options, "options") }), "pdf");
}

export async function scrape(parts: DialectParts, call: RenderCall<ScrapeBody>) {
  reportIgnored(call.context.request, [
    ...givenInList("body.elements", call.body.elements, ["timeout"]),
    ...(call.body.debugOpts === undefined ? [] : ["body.debugOpts"]),
  ]);
  const selectors = call.body.elements.map(({ selector }) => selector);
  return { data: await elementsOf(await render(parts, call, { elements: selectors })), debug: null };
}
