import type { Handlers } from "@shoal/router";
import { type RenderPage, RenderedLink } from "@shoal/schemas";
import * as z from "zod/mini";
import type { Rendered } from "../../sessions/render/renders.ts";
import type { DialectCaller, DialectParts } from "../kit/dialect.ts";
import { reportIgnored } from "../kit/ignored.ts";
import { inSession, notSupported, refuseFields, toRenderPage } from "../kit/render-body.ts";
import { bytesOf, elementsOf, jsonOf, renderFor, textOf, toPdf, toScreenshot, withinLimits } from "../kit/rendering.ts";
import type * as contract from "./contract.ts";
import type { PageBody, RenderQuery } from "./shapes.ts";

interface RenderCall {
  readonly body: PageBody;
  readonly query: RenderQuery;
  readonly context: DialectCaller;
  readonly signal: AbortSignal;
}

type Outputs = Pick<RenderPage, "elements" | "markdown" | "outputs" | "pdf" | "screenshot">;

const loadMs = 30_000;
const rejectInstead = "Use rejectResourceTypes.";

const missing = {
  rejectRequestPattern: inSession,
  allowRequestPattern: inSession,
  allowResourceTypes: rejectInstead,
  addScriptTag: inSession,
  addStyleTag: inSession,
};
const wholePage = { markdown: { content: "all" } } as const;

const Links = z.array(RenderedLink);

async function render(
  parts: DialectParts,
  { body, context, query, signal }: RenderCall,
  outputs: Outputs,
): Promise<Rendered> {
  refuseFields(body, missing);
  const { ignored, page } = toRenderPage(body);
  reportIgnored(context.request, [...ignored, ...(query.cacheTTL === undefined ? [] : ["query.cacheTTL"])]);
  const timeoutMs = (body.gotoOptions?.timeout ?? loadMs) + (body.actionTimeout ?? 0);
  const asked = { ...page, ...outputs, timeout_ms: withinLimits(timeoutMs) };
  return renderFor(parts, context, { dialect: "cloudflare", page: asked, signal });
}

const answer = <Result>(result: Result) => ({ success: true, result, errors: [], messages: [] });

export function handlers(parts: DialectParts): Handlers<typeof contract, DialectCaller> {
  return {
    getContent: async (call) => answer(textOf(await render(parts, call, { outputs: ["html"] }), "html")),
    getMarkdown: async (call) => answer(textOf(await render(parts, call, wholePage), "markdown")),
    async listLinks(call) {
      const { excludeExternalLinks: isInternal = false, visibleLinksOnly = false } = call.body;
      if (visibleLinksOnly)
        notSupported("visibleLinksOnly", "Read the links with scrape: hidden elements have no width.");
      const rendered = await render(parts, call, { outputs: ["links"] });
      const links = (await jsonOf(rendered, "links", Links)).map(({ url }) => url);
      const host = URL.parse(rendered.head.url)?.host;
      return answer(isInternal ? links.filter((url) => URL.parse(url)?.host === host) : links);
    },
    scrapeElements: async (call) =>
      answer(
        await elementsOf(await render(parts, call, { elements: call.body.elements.map(({ selector }) => selector) })),
      ),
    async takeSnapshot(call) {
      const { formats = ["content", "screenshot"], screenshotOptions } = call.body;
      if (formats.includes("accessibilityTree"))
        notSupported("formats", "Use outline of POST /render instead of accessibilityTree.");
      const rendered = await render(parts, call, {
        ...(formats.includes("content") && { outputs: ["html"] }),
        ...(formats.includes("markdown") && wholePage),
        ...(formats.includes("screenshot") && {
          screenshot: toScreenshot(screenshotOptions, { field: "screenshotOptions" }),
        }),
      });
      const picture = rendered.parts.get("screenshot");
      return answer({
        ...(formats.includes("content") && { content: textOf(rendered, "html") }),
        ...(picture && { screenshot: picture.content.toString("base64") }),
        ...(formats.includes("markdown") && { markdown: textOf(rendered, "markdown") }),
      });
    },
    async takeScreenshot(call) {
      const { screenshotOptions, scrollPage, selector } = call.body;
      const screenshot = toScreenshot(screenshotOptions, { field: "screenshotOptions", selector });
      if (scrollPage === true) reportIgnored(call.context.request, ["body.scrollPage"]);
      return bytesOf(await render(parts, call, { screenshot }), "screenshot");
    },
    printPdf: async (call) =>
      bytesOf(await render(parts, call, { pdf: toPdf(call.body.pdfOptions, "pdfOptions") }), "pdf"),
  };
}
