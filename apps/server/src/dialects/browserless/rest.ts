import { contract as native } from "@shoal/contract";
import { answerJson } from "@shoal/placement";
import type { BytesReply } from "@shoal/router";
import { RenderedElements, type RenderPage } from "@shoal/schemas";
import { STATUS_CODES } from "node:http";
import { Readable } from "node:stream";
import * as z from "zod/mini";
import { readLaunch } from "../../sessions/connect/launch-options.ts";
import type { Rendered } from "../../sessions/render/renders.ts";
import type { DialectCaller, DialectParts } from "../kit/dialect.ts";
import { reportIgnored } from "../kit/ignored.ts";
import { notSupported, refuseFields, toRenderPage } from "../kit/render-body.ts";
import type { PageBody, PdfBody, RenderQuery, ScrapeBody, ScreenshotBody } from "./shapes.ts";

export interface RenderCall<Body extends PageBody> {
  readonly body: Body;
  readonly query: RenderQuery;
  readonly context: DialectCaller;
  readonly signal: AbortSignal;
}

type Outputs = Pick<RenderPage, "elements" | "outputs" | "pdf" | "screenshot">;

const usualMs = 30_000;
const longestMs = 120_000;
/** The values of elements; each has a few. */
const maxValues = 200_000;
const papers = ["A3", "A4", "A5", "Letter", "Legal", "Tabloid"] as const;

const inSession = "Do it in a session: connect to the socket of this service.";
const missing = {
  rejectRequestPattern: inSession,
  requestInterceptors: inSession,
  addScriptTag: inSession,
  addStyleTag: inSession,
  waitForFunction: "Wait for an element with waitForSelector.",
  waitForEvent: "Wait for an element with waitForSelector.",
};

async function render<Body extends PageBody>(
  { renders }: DialectParts,
  { body, context: { calls, request }, query, signal }: RenderCall<Body>,
  outputs: Outputs,
): Promise<Rendered> {
  refuseFields(body, missing);
  const { ignored, page } = toRenderPage(body);
  const launch = query.launch === undefined ? {} : readLaunch(query.launch);
  const { stealth = query.stealth, viewport } = launch as { stealth?: boolean; viewport?: RenderPage["viewport"] };
  reportIgnored(request, [
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
    timeout_ms: Math.min(longestMs, Math.max(1_000, query.timeout ?? body.gotoOptions?.timeout ?? usualMs)),
  };
  let rendered: Rendered | undefined;
  await calls.run(native.renderPage, { body: asked, signal }, async (call) => {
    rendered = await renders.render(call, { dialect: "browserless" });
    return undefined as never;
  });
  if (rendered === undefined) throw new Error("A page was neither rendered nor refused.");
  return rendered;
}

function headersOf({ head: { status, url } }: Rendered): Readonly<Record<string, string>> {
  return {
    ...(status !== undefined && {
      "x-response-code": String(status),
      "x-response-status": STATUS_CODES[status] ?? "",
    }),
    "x-response-url": url.replaceAll(/[^\x20-\x7e]/g, encodeURIComponent).slice(0, 1000),
  };
}

function bytesOf(rendered: Rendered, name: "html" | "pdf" | "screenshot"): BytesReply {
  const { content = Buffer.alloc(0), type = "" } = rendered.parts.get(name) ?? {};
  return {
    stream: Readable.from([content]),
    sizeBytes: content.length,
    contentType: type,
    headers: headersOf(rendered),
  };
}

export async function content(parts: DialectParts, call: RenderCall<PageBody>): Promise<BytesReply> {
  return bytesOf(await render(parts, call, { outputs: ["html"] }), "html");
}

export async function screenshot(parts: DialectParts, call: RenderCall<ScreenshotBody>): Promise<BytesReply> {
  const { options = {}, scrollPage, selector } = call.body;
  if (options.clip !== undefined) notSupported("options.clip", "Use selector, or fullPage.");
  if (options.encoding === "base64") notSupported("options.encoding", "Encode the bytes in the client.");
  if (scrollPage === true) reportIgnored(call.context.request, ["body.scrollPage"]);
  const rendered = await render(parts, call, {
    screenshot: {
      ...(options.type && { format: options.type }),
      ...(options.quality !== undefined && { quality: options.quality }),
      ...(options.fullPage === true && selector === undefined && { full_page: true }),
      ...(options.omitBackground === true && { omit_background: true }),
      ...(selector !== undefined && { selector }),
    },
  });
  return bytesOf(rendered, "screenshot");
}

export async function pdf(parts: DialectParts, call: RenderCall<PdfBody>): Promise<BytesReply> {
  const { options = {} } = call.body;
  for (const name of ["width", "height", "displayHeaderFooter", "preferCSSPageSize", "fullPage"] as const)
    if (options[name] !== undefined && options[name] !== false)
      notSupported(`options.${name}`, "Use format, landscape, scale, margin and pageRanges.");
  const format = papers.find((name) => name.toLowerCase() === (options.format ?? "letter").toLowerCase());
  if (format === undefined) notSupported("options.format", `Known formats: ${papers.join(", ")}.`);
  const rendered = await render(parts, call, {
    pdf: {
      format,
      // The vendor's defaults.
      print_background: options.printBackground ?? false,
      margin_inches: marginOf(options.margin),
      ...(options.landscape !== undefined && { landscape: options.landscape }),
      ...(options.scale !== undefined && { scale: options.scale }),
      ...(options.pageRanges !== undefined && options.pageRanges !== "" && { page_ranges: options.pageRanges }),
    },
  });
  return bytesOf(rendered, "pdf");
}

const inchesOf: Readonly<Record<string, number>> = { "": 1 / 96, px: 1 / 96, in: 1, cm: 1 / 2.54, mm: 1 / 25.4 };

function marginOf(margin: Readonly<Record<string, number | string>> = {}): number {
  const sides = Object.values(margin).map((value) => {
    const [, number = "", unit = ""] = /^([\d.]+) *(px|in|cm|mm)?$/.exec(String(value)) ?? [];
    const inches = Number(number) * (inchesOf[unit] ?? 0);
    return number === "" || Number.isNaN(inches)
      ? notSupported("options.margin", "Write 1cm, 10mm, 0.4in or 38px.")
      : inches;
  });
  if (new Set(sides).size > 1) notSupported("options.margin", "All sides have the same margin here.");
  return sides[0] ?? 0;
}

/** Of an instance, which may be compromised. */
const Elements = z.array(RenderedElements);

export async function scrape(parts: DialectParts, call: RenderCall<ScrapeBody>) {
  if (call.body.debugOpts !== undefined) reportIgnored(call.context.request, ["body.debugOpts"]);
  const selectors = call.body.elements.map(({ selector }) => selector);
  const rendered = await render(parts, call, { elements: selectors });
  const { content = Buffer.from("[]") } = rendered.parts.get("elements") ?? {};
  const json = await answerJson(Readable.from([content]), { bytes: content.length, values: maxValues });
  return {
    data: Elements.parse(json).map(({ results, selector }) => ({
      selector,
      results: results.map(({ attributes, height, html, text, width, x, y }) => ({
        text,
        html,
        attributes: Object.entries(attributes).map(([name, value]) => ({ name, value })),
        top: y,
        left: x,
        width,
        height,
      })),
    })),
    debug: null,
  };
}
