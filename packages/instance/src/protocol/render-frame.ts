import { lazyObject, PageDialog, RenderRedirect } from "@shoal/schemas";
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
