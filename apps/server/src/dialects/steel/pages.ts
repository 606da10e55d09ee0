import { type RenderPage, RenderedElements, RenderedLink } from "@shoal/schemas";
import * as z from "zod/mini";
import type { Rendered } from "../../sessions/render/renders.ts";
import type { DialectCaller, DialectParts } from "../kit/dialect.ts";
import { reportIgnored } from "../kit/ignored.ts";
import { notSupported } from "../kit/render-body.ts";
import { jsonOf, renderFor, textOf, withinLimits } from "../kit/rendering.ts";
import type { PageBody, ScrapeBody, ScreenshotBody } from "./shapes.ts";

interface PageCall<Body> {
  readonly body: Body;
  readonly context: DialectCaller;
  readonly signal: AbortSignal;
}

const loadMs = 30_000;
const metaTags = "meta[name], meta[property]";
const iconLinks = "link[rel=canonical], link[rel~=icon]";

function render(
  parts: DialectParts,
  { body, context, signal }: PageCall<PageBody>,
  outputs: Pick<RenderPage, "elements" | "markdown" | "outputs" | "pdf" | "screenshot">,
): Promise<Rendered> {
  if (body.useProxy === true) notSupported("useProxy", "Use POST /render and proxy, or a session with useProxy.");
  if (body.region !== undefined && body.region !== null) reportIgnored(context.request, ["body.region"]);
  const { delay = 0, url } = body;
  const page = {
    url,
    ...outputs,
    ...(delay > 0 && { wait_for: { time_ms: delay } }),
    timeout_ms: withinLimits(loadMs + delay),
  };
  return renderFor(parts, context, { dialect: "steel", page, signal });
}

/** An address that contains the file, because nothing is stored. */
function fileOf(rendered: Rendered, name: "pdf" | "screenshot"): { readonly url: string } {
  const { content = Buffer.alloc(0), type = "" } = rendered.parts.get(name) ?? {};
  return { url: `data:${type};base64,${content.toString("base64")}` };
}

export async function screenshot(parts: DialectParts, call: PageCall<z.output<typeof ScreenshotBody>>) {
  const full = call.body.fullPage === true ? { full_page: true } : {};
  return fileOf(await render(parts, call, { screenshot: full }), "screenshot");
}

export async function pdf(parts: DialectParts, call: PageCall<PageBody>) {
  return fileOf(await render(parts, call, { pdf: {} }), "pdf");
}

export async function scrape(parts: DialectParts, call: PageCall<z.output<typeof ScrapeBody>>) {
  const { format = ["html"], pdf: asPdf, screenshot: asPicture } = call.body;
  for (const name of ["readability", "cleaned_html"] as const)
    if (format.includes(name)) notSupported("format", `Use html or markdown instead of ${name}.`);
  const rendered = await render(parts, call, {
    outputs: format.includes("html") ? ["html", "links"] : ["links"],
    elements: [metaTags, iconLinks],
    ...(format.includes("markdown") && { markdown: { content: "all" } }),
    ...(asPicture === true && { screenshot: {} }),
    ...(asPdf === true && { pdf: {} }),
  });
  return {
    content: {
      ...(format.includes("html") && { html: textOf(rendered, "html") }),
      ...(format.includes("markdown") && { markdown: textOf(rendered, "markdown") }),
    },
    metadata: await metadataOf(rendered),
    links: await jsonOf(rendered, "links", z.array(RenderedLink)),
    ...(asPicture === true && { screenshot: fileOf(rendered, "screenshot") }),
    ...(asPdf === true && { pdf: fileOf(rendered, "pdf") }),
  };
}

const named: Readonly<Record<string, string>> = {
  author: "author",
  description: "description",
  keywords: "keywords",
  "og:description": "ogDescription",
  "og:image": "ogImage",
  "og:site_name": "ogSiteName",
  "og:title": "ogTitle",
  "og:url": "ogUrl",
};

async function metadataOf(rendered: Rendered): Promise<Record<string, string | number>> {
  const { status, title, url } = rendered.head;
  const found: Record<string, string> = {};
  const [tags, icons] = await jsonOf(rendered, "elements", z.array(RenderedElements));
  for (const { attributes } of tags?.results ?? []) {
    const field = named[(attributes.name ?? attributes.property ?? "").toLowerCase()];
    if (field !== undefined && attributes.content !== undefined) found[field] ??= attributes.content;
  }
  for (const { attributes } of icons?.results ?? []) {
    const address = URL.parse(attributes.href ?? "", url)?.href;
    if (address !== undefined) found[attributes.rel === "canonical" ? "canonical" : "favicon"] ??= address;
  }
  return { statusCode: status ?? 200, title, urlSource: url, timestamp: new Date().toISOString(), ...found };
}
