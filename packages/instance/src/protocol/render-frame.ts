import { checked, lazyObject, PageDialog, RenderPage, RenderRedirect } from "@shoal/schemas";
import * as z from "zod/mini";

/** Names of the parts of a rendered page, in their order. `links` and `elements` are JSON. */
export const renderParts = ["html", "markdown", "text", "links", "outline", "elements", "screenshot", "pdf"] as const;
export type RenderPart = (typeof renderParts)[number];

/** Of the head, and of all parts together. */
export const maxRenderHeadBytes = 256 * 1024;
export const maxRenderBytes = 64 * 2 ** 20;

/**
 * The start of the answer of `renderPage`: after four bytes with its length, this head as JSON; then the bytes of its
 * parts. So the service needs to parse nothing large.
 */
export interface RenderHead extends z.output<typeof RenderHead> {}
export const RenderHead = lazyObject(() => ({
  url: z.string(),
  status: z.optional(z.int()),
  title: z.string(),
  redirects: z.array(RenderRedirect),
  headers: z.record(z.string(), z.string()),
  dialogs: z.array(PageDialog),
  cut: z.array(z.enum(renderParts)),
  timed_out: z.boolean(),
  parts: z.array(z.object({ name: z.enum(renderParts), type: z.string(), bytes: z.int().check(z.minimum(0)) })),
}));

const text = (maxLength: number) => checked(z.string(), z.maxLength(maxLength));
const inches = (maximum: number) => checked(z.number(), z.minimum(0), z.maximum(maximum));
const pixels = () => checked(z.number(), z.minimum(1), z.maximum(16_384));

/** By its address, or by its text. */
const Tag = () =>
  z.object({
    url: z.optional(text(8192)),
    content: z.optional(text(1_000_000)),
    id: z.optional(text(200)),
    type: z.optional(text(200)),
  });
/** A regular expression for addresses. */
const Pattern = () => text(1000);

/** What clients of other services can request of a page, in addition to `browsers.render`. */
export interface RenderMore extends z.output<typeof RenderMore> {}
export const RenderMore = lazyObject(() => ({
  /** Emulate a mobile device, and touch. */
  mobile: z.optional(z.boolean()),
  touch: z.optional(z.boolean()),
  /** Added after loading. */
  styles: z.optional(checked(z.array(Tag()), z.maxLength(20))),
  scripts: z.optional(checked(z.array(Tag()), z.maxLength(20))),
  /** Requests that fail, except that for the page. */
  blocked: z.optional(checked(z.array(Pattern()), z.maxLength(100))),
  /** Requests that are answered instead of sent. */
  answered: z.optional(
    checked(
      z.array(
        z.object({
          pattern: Pattern(),
          status: checked(z.int(), z.minimum(200), z.maximum(599)),
          headers: z.record(z.string(), z.string()),
          /** Base64. */
          body: text(8_000_000),
        }),
      ),
      z.maxLength(50),
    ),
  ),
  /** A function of the page, or an expression, whose value becomes true. */
  wait_function: z.optional(text(100_000)),
  /** A DOM event of the page. */
  wait_event: z.optional(text(200)),
  /** A part of the page instead of the visible part. CSS pixels. */
  clip: z.optional(z.object({ x: z.number(), y: z.number(), width: pixels(), height: pixels() })),
  pdf: z.optional(
    z.object({
      /** Width and height of the paper. */
      paper: z.optional(z.object({ width: inches(200), height: inches(200) })),
      margins: z.optional(z.object({ top: inches(20), right: inches(20), bottom: inches(20), left: inches(20) })),
      header: z.optional(text(100_000)),
      footer: z.optional(text(100_000)),
      page_size_of_styles: z.optional(z.boolean()),
      tagged: z.optional(z.boolean()),
      outline: z.optional(z.boolean()),
    }),
  ),
}));

/** A page to render. */
export const InstanceRender = lazyObject(() => ({ page: RenderPage, more: z.optional(RenderMore) }));
