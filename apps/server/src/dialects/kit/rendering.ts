import { contract as native } from "@shoal/contract";
import { answerJson } from "@shoal/placement";
import type { BytesReply } from "@shoal/router";
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
const papers = ["A3", "A4", "A5", "Letter", "Legal", "Tabloid"] as const;

/** A limit that pages can have. */
export const withinLimits = (timeoutMs: number): number => Math.min(longestMs, Math.max(1_000, timeoutMs));

/** Renders a page for the caller, with its rights and limits. @throws {ServiceError} as `browsers.render`. */
export async function renderFor(
  { renders }: DialectParts,
  { calls }: DialectCaller,
  { dialect, page, signal }: { readonly dialect: DialectName; readonly page: RenderPage; readonly signal: AbortSignal },
): Promise<Rendered> {
  let rendered: Rendered | undefined;
  await calls.run(native.renderPage, { body: page, signal }, async (call) => {
    rendered = await renders.render(call, { dialect });
    return undefined as never;
  });
  if (rendered === undefined) throw new Error("A page was neither rendered nor refused.");
  return rendered;
}

/** One output as the whole answer. */
export function bytesOf(rendered: Rendered, name: "html" | "pdf" | "screenshot"): BytesReply {
  const { content = Buffer.alloc(0), type = "" } = rendered.parts.get(name) ?? {};
  return {
    stream: Readable.from([content]),
    sizeBytes: content.length,
    contentType: type,
  };
}

/** An output that is text; empty without it. */
export function textOf(rendered: Rendered, name: "html" | "markdown"): string {
  return rendered.parts.get(name)?.content.toString() ?? "";
}

/** Translates a picture in Puppeteer's words. @param field - of the options. @throws {ServiceError} 501. */
export function toScreenshot(
  options: ScreenshotOptions = {},
  { field, selector }: { readonly field: string; readonly selector?: string | undefined },
): NonNullable<RenderPage["screenshot"]> {
  if (options.clip !== undefined) notSupported(`${field}.clip`, "Use selector, or fullPage.");
  if (options.encoding === "base64") notSupported(`${field}.encoding`, "Encode the bytes in the client.");
  return {
    ...(options.type && { format: options.type }),
    ...(options.quality !== undefined && { quality: options.quality }),
    ...(options.fullPage === true && selector === undefined && { full_page: true }),
    ...(options.omitBackground === true && { omit_background: true }),
    ...(selector !== undefined && { selector }),
  };
}

/** Translates a PDF in Puppeteer's words. @param field - of the options. @throws {ServiceError} 501. */
export function toPdf(options: PdfOptions = {}, field: string): NonNullable<RenderPage["pdf"]> {
  for (const name of ["width", "height", "displayHeaderFooter", "preferCSSPageSize", "fullPage"] as const)
    if (options[name] !== undefined && options[name] !== false)
      notSupported(`${field}.${name}`, "Use format, landscape, scale, margin and pageRanges.");
  const format = papers.find((name) => name.toLowerCase() === (options.format ?? "letter").toLowerCase());
  if (format === undefined) notSupported(`${field}.format`, `Known formats: ${papers.join(", ")}.`);
  return {
    format,
    // The vendor's defaults.
    print_background: options.printBackground ?? false,
    margin_inches: marginOf(options.margin, `${field}.margin`),
    ...(options.landscape !== undefined && { landscape: options.landscape }),
    ...(options.scale !== undefined && { scale: options.scale }),
    ...(options.pageRanges !== undefined && options.pageRanges !== "" && { page_ranges: options.pageRanges }),
  };
}

const inchesOf: Readonly<Record<string, number>> = { "": 1 / 96, px: 1 / 96, in: 1, cm: 1 / 2.54, mm: 1 / 25.4 };

function marginOf(margin: Readonly<Record<string, number | string>> = {}, field: string): number {
  // As at the vendors, a side that is not named has none.
  const sides = ["top", "right", "bottom", "left"].map((side) => {
    const value = margin[side] ?? 0;
    const [, number = "", unit = ""] = /^([\d.]+) *(px|in|cm|mm)?$/.exec(String(value)) ?? [];
    const inches = Number(number) * (inchesOf[unit] ?? 0);
    return number === "" || Number.isNaN(inches) ? notSupported(field, "Write 1cm, 10mm, 0.4in or 38px.") : inches;
  });
  if (new Set(sides).size > 1) notSupported(field, "All sides have the same margin here: name all four.");
  return sides[0] ?? 0;
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
