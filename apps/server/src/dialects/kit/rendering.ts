import { contract as native } from "@shoal/contract";
import { answerJson, type RenderMore } from "@shoal/placement";
import { badInput, type BytesReply } from "@shoal/router";
import { RenderedElements, type RenderPage } from "@shoal/schemas";
import { Readable } from "node:stream";
import * as z from "zod/mini";
import type { Rendered } from "../../sessions/render/renders.ts";
import type { DialectCaller, DialectName, DialectParts } from "./dialect.ts";
import type { PdfOptions, ScreenshotOptions } from "./page-shapes.ts";
import { notSupported } from "./render-body.ts";

const longestMs = 120_000;
/** The values of elements; each has a few. */
const maxValues = 200_000;

/** A limit that pages can have. */
export const withinLimits = (timeoutMs: number): number => Math.min(longestMs, Math.max(1_000, timeoutMs));

/** Renders a page for the caller, with its rights and limits. @throws {ServiceError} as `browsers.render`. */
export async function renderFor(
  { renders }: DialectParts,
  { calls }: DialectCaller,
  {
    dialect,
    more,
    page,
    signal,
  }: {
    readonly dialect: DialectName;
    readonly page: RenderPage;
    readonly more?: RenderMore | undefined;
    readonly signal: AbortSignal;
  },
): Promise<Rendered> {
  let rendered: Rendered | undefined;
  await calls.run(native.renderPage, { body: page, signal }, async (call) => {
    rendered = await renders.render({ ...call, more }, { dialect });
    return undefined as never;
  });
  if (rendered === undefined) throw new Error("A page was neither rendered nor refused.");
  return rendered;
}

/** One output as the whole answer. */
export function bytesOf(
  rendered: Rendered,
  name: "html" | "pdf" | "screenshot",
  encoding: "base64" | "binary" = "binary",
): BytesReply {
  const { content = Buffer.alloc(0), type = "" } = rendered.parts.get(name) ?? {};
  // As at the vendors, the type stays that of the picture.
  const sent = encoding === "base64" ? Buffer.from(content.toString("base64")) : content;
  return { stream: Readable.from([sent]), sizeBytes: sent.length, contentType: type };
}

/** An output that is text; empty without it. */
export function textOf(rendered: Rendered, name: "html" | "markdown"): string {
  return rendered.parts.get(name)?.content.toString() ?? "";
}

type Picture = NonNullable<RenderPage["screenshot"]>;
type Pdf = NonNullable<RenderPage["pdf"]>;

/** Translates a picture in Puppeteer's words. @throws {ServiceError} 400, 501. */
export function toScreenshot(
  options: ScreenshotOptions = {},
  { field, selector }: { readonly field: string; readonly selector?: string | undefined },
): { readonly screenshot: Picture; readonly more: RenderMore; readonly encoding: "base64" | "binary" } {
  const { clip } = options;
  if (clip !== undefined && (selector !== undefined || options.fullPage === true))
    throw badInput(`body.${field}.clip`, "cannot be combined with selector or fullPage");
  if (clip?.scale !== undefined && clip.scale !== 1)
    notSupported(`${field}.clip.scale`, "Set deviceScaleFactor of viewport.");
  return {
    screenshot: {
      ...(options.type && { format: options.type }),
      ...(options.quality !== undefined && { quality: options.quality }),
      ...(options.fullPage === true && selector === undefined && { full_page: true }),
      ...(options.omitBackground === true && { omit_background: true }),
      ...(selector !== undefined && { selector }),
    },
    encoding: options.encoding ?? "binary",
    more: clip === undefined ? {} : { clip: { x: clip.x, y: clip.y, width: clip.width, height: clip.height } },
  };
}

/** Inches, as Puppeteer has them. */
const papers: Readonly<Record<string, readonly [width: number, height: number]>> = {
  letter: [8.5, 11],
  legal: [8.5, 14],
  tabloid: [11, 17],
  ledger: [17, 11],
  a0: [33.1102, 46.811],
  a1: [23.3858, 33.1102],
  a2: [16.5354, 23.3858],
  a3: [11.6929, 16.5354],
  a4: [8.2677, 11.6929],
  a5: [5.8268, 8.2677],
  a6: [4.1339, 5.8268],
};

/** Translates a PDF in Puppeteer's words, with its defaults. @throws {ServiceError} 400, 501. */
export function toPdf(options: PdfOptions = {}, field: string): { readonly pdf: Pdf; readonly more: RenderMore } {
  if (options.fullPage !== undefined && options.fullPage !== false)
    notSupported(`${field}.fullPage`, "Set width and height.");
  const { footerTemplate, headerTemplate, margin = {}, outline, preferCSSPageSize, tagged } = options;
  const [top = 0, right = 0, bottom = 0, left = 0] = ["top", "right", "bottom", "left"].map((side) =>
    // As at the vendors, a side that is not named has none.
    inchesOf(margin[side] ?? 0, `${field}.margin.${side}`, maxMargin),
  );
  return {
    pdf: {
      print_background: options.printBackground ?? false,
      ...(options.landscape !== undefined && { landscape: options.landscape }),
      ...(options.scale !== undefined && { scale: options.scale }),
      ...(options.pageRanges !== undefined && options.pageRanges !== "" && { page_ranges: options.pageRanges }),
    },
    more: {
      pdf: {
        paper: paperOf(options, field),
        margins: { top, right, bottom, left },
        ...(options.displayHeaderFooter === true && { header: headerTemplate ?? "", footer: footerTemplate ?? "" }),
        ...(preferCSSPageSize === true && { page_size_of_styles: true }),
        ...(tagged !== undefined && { tagged }),
        ...(outline === true && { outline }),
      },
    },
  };
}

const maxMargin = 20;
const maxSide = 200;

/** As at the vendors, the format decides over width and height. */
function paperOf({ format, height, width }: PdfOptions, field: string) {
  const [usualWidth, usualHeight] = papers.letter ?? [0, 0];
  if (format === undefined || format === "")
    return {
      width: width === undefined ? usualWidth : inchesOf(width, `${field}.width`, maxSide),
      height: height === undefined ? usualHeight : inchesOf(height, `${field}.height`, maxSide),
    };
  const paper = Object.hasOwn(papers, format.toLowerCase()) ? papers[format.toLowerCase()] : undefined;
  if (paper === undefined)
    throw badInput(`body.${field}.format`, "is unknown", { hint: `Known formats: ${Object.keys(papers).join(", ")}.` });
  return { width: paper[0], height: paper[1] };
}

const inchesIn: Readonly<Record<string, number>> = { "": 1 / 96, px: 1 / 96, in: 1, cm: 1 / 2.54, mm: 1 / 25.4 };

function inchesOf(value: number | string, field: string, maximum: number): number {
  const [, number = "", unit = ""] = /^(\d+(?:\.\d+)?|\.\d+) *(px|in|cm|mm)?$/.exec(String(value).trim()) ?? [];
  const inches = Number(number) * (inchesIn[unit] ?? 0);
  if (number === "" || inches > maximum)
    throw badInput(`body.${field}`, "is not a possible length", {
      limit: maximum,
      hint: "Write 1cm, 10mm, 0.4in or 38px.",
    });
  return inches;
}

/** Of an instance, which may be compromised. */
const Elements = z.array(RenderedElements);

/** An output that is JSON, which the instance wrote. */
export async function jsonOf<T>(rendered: Rendered, name: "elements" | "links", shape: z.ZodMiniType<T>): Promise<T> {
  const { content = Buffer.from("[]") } = rendered.parts.get(name) ?? {};
  return shape.parse(await answerJson(Readable.from([content]), { bytes: content.length, values: maxValues }));
}

/** Elements in Puppeteer's words. */
export async function elementsOf(rendered: Rendered) {
  return (await jsonOf(rendered, "elements", Elements)).map(({ results, selector }) => ({
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
  }));
}
