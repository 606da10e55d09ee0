import { checked, lazyObject } from "@shoal/schemas";
import * as z from "zod/mini";

const text = (maxLength = 8192) => checked(z.string(), z.maxLength(maxLength));
const milliseconds = () => checked(z.int(), z.minimum(0), z.maximum(600_000));
const unused = () => z.optional(z.unknown());
const unusedText = () => z.optional(z.string());

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

const pageFields = () => ({
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
  rejectRequestPattern: unused(),
  requestInterceptors: unused(),
  addScriptTag: unused(),
  addStyleTag: unused(),
  waitForFunction: unused(),
  waitForEvent: unused(),
});

export interface PageBody extends z.output<typeof PageBody> {}
export const PageBody = lazyObject(pageFields);

export interface ScreenshotBody extends z.output<typeof ScreenshotBody> {}
export const ScreenshotBody = lazyObject(() => ({
  ...pageFields(),
  options: z.optional(
    z.object({
      type: z.optional(z.enum(["png", "jpeg", "webp"])),
      quality: z.optional(z.int()),
      fullPage: z.optional(z.boolean()),
      omitBackground: z.optional(z.boolean()),
      encoding: z.optional(z.enum(["binary", "base64"])),
      captureBeyondViewport: unused(),
      optimizeForSpeed: unused(),
      clip: unused(),
    }),
  ),
  selector: z.optional(text(2000)),
  scrollPage: unused(),
}));

export interface PdfBody extends z.output<typeof PdfBody> {}
export const PdfBody = lazyObject(() => ({
  ...pageFields(),
  options: z.optional(
    z.object({
      format: z.optional(text(20)),
      landscape: z.optional(z.boolean()),
      printBackground: z.optional(z.boolean()),
      scale: z.optional(z.number()),
      pageRanges: z.optional(text(200)),
      margin: z.optional(z.record(z.string(), z.union([z.number(), text(20)]))),
      timeout: unused(),
      width: unused(),
      height: unused(),
      displayHeaderFooter: unused(),
      headerTemplate: unused(),
      footerTemplate: unused(),
      preferCSSPageSize: unused(),
      omitBackground: unused(),
      fullPage: unused(),
      tagged: unused(),
      outline: unused(),
    }),
  ),
}));

export interface ScrapeBody extends z.output<typeof ScrapeBody> {}
export const ScrapeBody = lazyObject(() => ({
  ...pageFields(),
  elements: checked(
    z.array(z.object({ selector: text(2000), timeout: z.optional(milliseconds()) })),
    z.minLength(1),
    z.maxLength(50),
  ),
  debugOpts: unused(),
}));

export interface RenderQuery extends z.output<typeof RenderQuery> {}
export const RenderQuery = lazyObject(() => ({
  timeout: z.optional(checked(z.int(), z.minimum(1), z.maximum(600_000))),
  launch: z.optional(text(100_000)),
  stealth: z.optional(z.boolean()),
  headless: unusedText(),
  blockAds: unusedText(),
  trackingId: unusedText(),
}));

export const Scraped = lazyObject(() => ({
  data: z.array(
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
    }),
  ),
  debug: z.null(),
}));

export interface RunningSession extends z.output<typeof RunningSession> {}
export const RunningSession = lazyObject(() => ({
  id: z.string(),
  browserId: z.string(),
  browser: z.string(),
  trackingId: z.nullable(z.string()),
  running: z.boolean(),
  startedOn: z.number(),
  timeAliveMs: z.number(),
  type: z.string(),
  killURL: z.string(),
}));

export const Pressure = lazyObject(() => ({
  pressure: z.object({
    cpu: z.null(),
    memory: z.null(),
    date: z.number(),
    isAvailable: z.boolean(),
    reason: z.string(),
    message: z.string(),
    running: z.int(),
    queued: z.int(),
    maxConcurrent: z.int(),
    maxQueued: z.int(),
    recentlyRejected: z.int(),
  }),
}));
