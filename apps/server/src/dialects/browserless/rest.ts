import type { RenderMore } from "@shoal/placement";
import type { BytesReply } from "@shoal/router";
import type { RenderPage } from "@shoal/schemas";
import { STATUS_CODES } from "node:http";
import { readLaunch } from "../../sessions/connect/launch-options.ts";
import type { Rendered } from "../../sessions/render/renders.ts";
import type { DialectCaller, DialectParts } from "../kit/dialect.ts";
import { givenIn, givenInList, reportIgnored } from "../kit/ignored.ts";
import { unusedInPdf, unusedScreenshotOptions } from "../kit/page-shapes.ts";
import { patternsIn, toRenderPage } from "../kit/render-body.ts";
import { bytesOf, elementsOf, renderFor, toPdf, toScreenshot, withinLimits } from "../kit/rendering.ts";
import type { PageBody, PdfBody, RenderQuery, ScrapeBody, ScreenshotBody } from "./shapes.ts";

export interface RenderCall<Body extends PageBody> {
  readonly body: Body;
  readonly query: RenderQuery;
  readonly context: DialectCaller;
  readonly signal: AbortSignal;
}

interface Outputs extends Pick<RenderPage, "elements" | "outputs" | "pdf" | "screenshot"> {
  readonly more?: RenderMore;
}

const usualMs = 30_000;

async function render<Body extends PageBody>(
  parts: DialectParts,
  { body, context, query, signal }: RenderCall<Body>,
  { more: outputMore, ...outputs }: Outputs,
): Promise<Rendered> {
  const { ignored, more, page } = toRenderPage(body);
  const launch = query.launch === undefined ? {} : readLaunch(query.launch);
  const { stealth = query.stealth, viewport } = launch as { stealth?: boolean; viewport?: RenderPage["viewport"] };
  reportIgnored(context.request, [
    ...ignored,
    ...givenIn("body.waitForFunction", body.waitForFunction, ["polling", "timeout"]),
    ...givenIn("body.waitForEvent", body.waitForEvent, ["timeout"]),
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
  const added = { ...more, ...ownFields(body), ...outputMore };
  return renderFor(parts, context, { dialect: "browserless", page: asked, more: added, signal });
}

/** Fields that the vendor has in addition to Puppeteer's. */
function ownFields({ requestInterceptors: interceptors, waitForEvent, waitForFunction }: PageBody): RenderMore {
  const patterns = patternsIn(
    (interceptors ?? []).map(({ pattern }) => pattern),
    "requestInterceptors",
  );
  return {
    ...(waitForFunction && { wait_function: waitForFunction.fn }),
    ...(waitForEvent && { wait_event: waitForEvent.event }),
    ...(interceptors && {
      answered: interceptors.map(({ response: { body = "", contentType, headers = {}, status = 200 } }, index) => ({
        pattern: patterns[index] ?? "",
        status,
        headers: { ...headers, ...(contentType !== undefined && { "content-type": contentType }) },
        body: isBase64(body) ? body : Buffer.from(body).toString("base64"),
      })),
    }),
  };
}

const isBase64 = (text: string): boolean => text !== "" && Buffer.from(text, "base64").toString("base64") === text;

/** With the response of the page as headers. */
function fileOf(rendered: Rendered, name: "html" | "pdf" | "screenshot", encoding?: "base64" | "binary"): BytesReply {
  const { status, url } = rendered.head;
  return {
    ...bytesOf(rendered, name, encoding),
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
  const { encoding, ...picture } = toScreenshot(options, { field: "options", selector });
  reportIgnored(call.context.request, [
    ...givenIn("body.options", options, unusedScreenshotOptions),
    ...(scrollPage === true ? ["body.scrollPage"] : []),
  ]);
  return fileOf(await render(parts, call, picture), "screenshot", encoding);
}

export async function pdf(parts: DialectParts, call: RenderCall<PdfBody>): Promise<BytesReply> {
  reportIgnored(call.context.request, unusedInPdf(call.body.options, "body.options"));
  return fileOf(await render(parts, call, toPdf(call.body.options, "options")), "pdf");
}

export async function scrape(parts: DialectParts, call: RenderCall<ScrapeBody>) {
  reportIgnored(call.context.request, [
    ...givenInList("body.elements", call.body.elements, ["timeout"]),
    ...(call.body.debugOpts === undefined ? [] : ["body.debugOpts"]),
  ]);
  const selectors = call.body.elements.map(({ selector }) => selector);
  return { data: await elementsOf(await render(parts, call, { elements: selectors })), debug: null };
}
