import { checked, lazyObject } from "@shoal/schemas";
import * as z from "zod/mini";
import {
  describedElements,
  milliseconds,
  pageFields,
  pdfOptions,
  screenshotOptions,
  text,
  unused,
  wantedElements,
} from "../kit/page-shapes.ts";

const fields = () => ({
  ...pageFields(),
  /** Milliseconds for reading the page, in addition to those for loading it. */
  actionTimeout: z.optional(milliseconds()),
  allowRequestPattern: unused(),
  allowResourceTypes: unused(),
});

export interface PageBody extends z.output<typeof PageBody> {}
export const PageBody = lazyObject(fields);

export interface LinksBody extends z.output<typeof LinksBody> {}
export const LinksBody = lazyObject(() => ({
  ...fields(),
  excludeExternalLinks: z.optional(z.boolean()),
  visibleLinksOnly: z.optional(z.boolean()),
}));

export interface ScrapeBody extends z.output<typeof ScrapeBody> {}
export const ScrapeBody = lazyObject(() => ({ ...fields(), elements: wantedElements() }));

export interface ScreenshotBody extends z.output<typeof ScreenshotBody> {}
export const ScreenshotBody = lazyObject(() => ({
  ...fields(),
  screenshotOptions: z.optional(screenshotOptions()),
  selector: z.optional(text(2000)),
  scrollPage: z.optional(z.boolean()),
}));

export interface PdfBody extends z.output<typeof PdfBody> {}
export const PdfBody = lazyObject(() => ({ ...fields(), pdfOptions: z.optional(pdfOptions()) }));

export interface SnapshotBody extends z.output<typeof SnapshotBody> {}
export const SnapshotBody = lazyObject(() => ({
  ...fields(),
  formats: z.optional(
    checked(z.array(z.enum(["content", "screenshot", "markdown", "accessibilityTree"])), z.minLength(1)),
  ),
  screenshotOptions: z.optional(screenshotOptions()),
}));

/** Any account is accepted, because the key decides the project. */
export const Account = lazyObject(() => ({ account_id: checked(z.string(), z.minLength(1), z.maxLength(255)) }));

export interface RenderQuery extends z.output<typeof RenderQuery> {}
export const RenderQuery = lazyObject(() => ({
  /** Accepted, and without effect: each call renders the page. */
  cacheTTL: z.optional(checked(z.int(), z.minimum(0), z.maximum(86_400))),
}));

/** The form of every answer in JSON. */
const answer = <Result extends z.ZodMiniType>(result: () => Result) =>
  lazyObject(() => ({
    success: z.boolean(),
    result: result(),
    errors: z.array(z.object({ code: z.int(), message: z.string() })),
    messages: z.array(z.string()),
  }));

export const Text = answer(z.string);
export const Links = answer(() => z.array(z.string()));
export const Scraped = answer(() => z.array(describedElements()));
export const Snapshot = answer(() =>
  z.object({
    content: z.optional(z.string()),
    /** Base64. */
    screenshot: z.optional(z.string()),
    markdown: z.optional(z.string()),
  }),
);
