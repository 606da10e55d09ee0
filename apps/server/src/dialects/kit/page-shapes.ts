import { checked } from "@shoal/schemas";
import * as z from "zod/mini";
import { givenIn } from "./ignored.ts";

/** Of requests. */
export const text = (maxLength = 8192) => checked(z.string(), z.maxLength(maxLength));
export const milliseconds = () => checked(z.int(), z.minimum(0), z.maximum(600_000));
/** Known, and refused or reported when given. */
export const unused = () => z.optional(z.unknown());

const Event = z.enum(["load", "domcontentloaded", "networkidle0", "networkidle2"]);

const Cookie = z.object({
  name: text(),
  value: text(),
  domain: z.optional(text()),
  path: z.optional(text()),
  url: z.optional(text()),
  secure: z.optional(z.boolean()),
  httpOnly: z.optional(z.boolean()),
  sameSite: z.optional(z.enum(["Strict", "Lax", "None"])),
  expires: z.optional(z.number()),
});

const Tag = z.object({
  url: z.optional(text()),
  content: z.optional(text(1_000_000)),
  type: z.optional(text(200)),
  id: z.optional(text(200)),
  path: unused(),
});

/** The fields of pages in Puppeteer's words. */
export const pageFields = () => ({
  url: z.optional(text()),
  html: z.optional(text(5_000_000)),
  gotoOptions: z.optional(
    z.object({
      waitUntil: z.optional(z.union([Event, z.array(Event)])),
      timeout: z.optional(milliseconds()),
      referer: z.optional(text()),
    }),
  ),
  authenticate: z.optional(z.object({ username: text(1000), password: text(1000) })),
  cookies: z.optional(checked(z.array(Cookie), z.maxLength(100))),
  viewport: z.optional(
    z.object({
      width: z.int(),
      height: z.int(),
      deviceScaleFactor: z.optional(z.number()),
      isMobile: z.optional(z.boolean()),
      hasTouch: z.optional(z.boolean()),
      isLandscape: z.optional(z.boolean()),
    }),
  ),
  userAgent: z.optional(z.union([text(1000), z.object({ userAgent: text(1000) })])),
  setExtraHTTPHeaders: z.optional(z.record(z.string(), text())),
  setJavaScriptEnabled: z.optional(z.boolean()),
  emulateMediaType: z.optional(z.enum(["screen", "print"])),
  rejectResourceTypes: z.optional(checked(z.array(text(50)), z.maxLength(50))),
  waitForTimeout: z.optional(milliseconds()),
  waitForSelector: z.optional(
    z.object({
      selector: text(2000),
      hidden: z.optional(z.boolean()),
      visible: z.optional(z.boolean()),
      timeout: z.optional(milliseconds()),
    }),
  ),
  bestAttempt: z.optional(z.boolean()),
  rejectRequestPattern: z.optional(checked(z.array(text(1000)), z.maxLength(100))),
  addScriptTag: z.optional(checked(z.array(Tag), z.maxLength(20))),
  addStyleTag: z.optional(checked(z.array(Tag), z.maxLength(20))),
});

const clipSide = () => checked(z.number(), z.minimum(1), z.maximum(16_384));

/** Options of a picture that have no effect. */
export const unusedScreenshotOptions = ["captureBeyondViewport", "optimizeForSpeed"] as const;

/** Options of a picture in Puppeteer's words. */
export type ScreenshotOptions = z.output<ReturnType<typeof screenshotOptions>>;
export const screenshotOptions = () =>
  z.object({
    type: z.optional(z.enum(["png", "jpeg", "webp"])),
    quality: z.optional(z.int()),
    fullPage: z.optional(z.boolean()),
    omitBackground: z.optional(z.boolean()),
    encoding: z.optional(z.enum(["binary", "base64"])),
    captureBeyondViewport: unused(),
    optimizeForSpeed: unused(),
    clip: z.optional(
      z.object({
        x: z.number(),
        y: z.number(),
        width: clipSide(),
        height: clipSide(),
        scale: z.optional(z.number()),
      }),
    ),
  });

/** Options of a PDF that have no effect. */
const unusedPdfOptions = ["timeout", "omitBackground", "waitForFonts"] as const;

/** Paths of options of a PDF that have no effect. @param path - of the options. */
export function unusedInPdf(options: PdfOptions = {}, path: string): string[] {
  const templates = options.displayHeaderFooter === true ? [] : ["headerTemplate", "footerTemplate"];
  return givenIn(path, options, [...unusedPdfOptions, ...templates]);
}

/** Options of a PDF in Puppeteer's words. */
export type PdfOptions = z.output<ReturnType<typeof pdfOptions>>;
export const pdfOptions = () =>
  z.object({
    format: z.optional(text(20)),
    landscape: z.optional(z.boolean()),
    printBackground: z.optional(z.boolean()),
    scale: z.optional(z.number()),
    pageRanges: z.optional(text(200)),
    margin: z.optional(z.record(z.string(), z.union([z.number(), text(20)]))),
    timeout: unused(),
    width: z.optional(z.union([z.number(), text(20)])),
    height: z.optional(z.union([z.number(), text(20)])),
    displayHeaderFooter: z.optional(z.boolean()),
    headerTemplate: z.optional(text(100_000)),
    footerTemplate: z.optional(text(100_000)),
    preferCSSPageSize: z.optional(z.boolean()),
    omitBackground: unused(),
    waitForFonts: unused(),
    fullPage: unused(),
    tagged: z.optional(z.boolean()),
    outline: z.optional(z.boolean()),
  });

/** Elements to describe. */
export const wantedElements = () =>
  checked(
    z.array(z.object({ selector: text(2000), timeout: z.optional(milliseconds()) })),
    z.minLength(1),
    z.maxLength(50),
  );

/** The elements of a selector, as they are described. */
export const describedElements = () =>
  z.object({
    selector: z.string(),
    results: z.array(
      z.object({
        text: z.string(),
        html: z.string(),
        attributes: z.array(z.object({ name: z.string(), value: z.string() })),
        top: z.number(),
        left: z.number(),
        width: z.number(),
        height: z.number(),
      }),
    ),
  });
