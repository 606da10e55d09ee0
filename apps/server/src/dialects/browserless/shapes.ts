import { checked, lazyObject } from "@shoal/schemas";
import * as z from "zod/mini";
import {
  describedElements,
  pageFields as sharedFields,
  pdfOptions,
  screenshotOptions,
  text,
  unused,
  wantedElements,
} from "../kit/page-shapes.ts";

const Interceptor = z.object({
  pattern: text(1000),
  response: z.object({
    status: z.optional(checked(z.int(), z.minimum(200), z.maximum(599))),
    headers: z.optional(z.record(z.string(), z.string())),
    contentType: z.optional(text(200)),
    /** Text, or base64. */
    body: z.optional(text(5_000_000)),
  }),
});

const pageFields = () => ({
  ...sharedFields(),
  requestInterceptors: z.optional(checked(z.array(Interceptor), z.maxLength(50))),
  waitForFunction: z.optional(z.object({ fn: text(100_000), polling: unused(), timeout: unused() })),
  waitForEvent: z.optional(z.object({ event: text(200), timeout: unused() })),
});

const unusedText = () => z.optional(z.string());

export interface PageBody extends z.output<typeof PageBody> {}
export const PageBody = lazyObject(pageFields);

export interface ScreenshotBody extends z.output<typeof ScreenshotBody> {}
export const ScreenshotBody = lazyObject(() => ({
  ...pageFields(),
  options: z.optional(screenshotOptions()),
  selector: z.optional(text(2000)),
  scrollPage: unused(),
}));

export interface PdfBody extends z.output<typeof PdfBody> {}
export const PdfBody = lazyObject(() => ({
  ...pageFields(),
  options: z.optional(pdfOptions()),
}));

export interface ScrapeBody extends z.output<typeof ScrapeBody> {}
export const ScrapeBody = lazyObject(() => ({
  ...pageFields(),
  elements: wantedElements(),
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
  data: z.array(describedElements()),
  debug: z.null(),
}));

const usualTtlMs = 300_000;

/** Of the session API. */
export interface CreateSession extends z.output<typeof CreateSession> {}
export const CreateSession = lazyObject(() => ({
  /** Milliseconds until the session ends. */
  ttl: z._default(checked(z.int(), z.minimum(10_000), z.maximum(604_800_000)), usualTtlMs),
  stealth: z.optional(z.boolean()),
  headless: z.optional(z.boolean()),
  browser: z.optional(z.enum(["chromium", "chrome", "stealth"])),
  args: z.optional(checked(z.array(text(1000)), z.maxLength(100))),
  blockAds: unused(),
  processKeepAlive: unused(),
  proxy: unused(),
  profile: unused(),
}));

export interface CreatedSession extends z.output<typeof CreatedSession> {}
export const CreatedSession = lazyObject(() => ({
  id: z.string(),
  /** A CDP address, which needs no further key. */
  connect: z.string(),
  /** DELETE of this address ends the session, without a key. */
  stop: z.string(),
  /** Milliseconds. */
  ttl: z.int(),
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
