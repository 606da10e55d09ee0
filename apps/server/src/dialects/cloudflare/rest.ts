import type { Handlers } from "@shoal/router";
import { RenderedLink } from "@shoal/schemas";
import * as z from "zod/mini";
import type { Rendered } from "../../sessions/render/renders.ts";
import type { DialectCaller, DialectParts } from "../kit/dialect.ts";
import { reportIgnored } from "../kit/ignored.ts";
import { bytesOf, elementsOf, jsonOf, renderFor, textOf } from "../kit/rendering.ts";
import type * as contract from "./contract.ts";
import { type PagePlan, plans } from "./plan.ts";
import type { PageBody, RenderQuery } from "./shapes.ts";

interface RenderCall<Body extends PageBody> {
  readonly body: Body;
  readonly query: RenderQuery;
  readonly context: DialectCaller;
  readonly signal: AbortSignal;
}

const Links = z.array(RenderedLink);

async function render<Body extends PageBody>(
  parts: DialectParts,
  { body, context, query, signal }: RenderCall<Body>,
  toPlan: (body: Body) => PagePlan,
): Promise<Rendered> {
  const { ignored, more, page } = toPlan(body);
  reportIgnored(context.request, [...ignored, ...(query.cacheTTL === undefined ? [] : ["query.cacheTTL"])]);
  return renderFor(parts, context, { dialect: "cloudflare", page, more, signal });
}

const answer = <Result>(result: Result) => ({ success: true, result, errors: [], messages: [] });

export function handlers(parts: DialectParts): Handlers<typeof contract, DialectCaller> {
  return {
    getContent: async (call) => answer(textOf(await render(parts, call, plans.content), "html")),
    getMarkdown: async (call) => answer(textOf(await render(parts, call, plans.markdown), "markdown")),
    async listLinks(call) {
      const rendered = await render(parts, call, plans.links);
      const links = (await jsonOf(rendered, "links", Links)).map(({ url }) => url);
      const host = URL.parse(rendered.head.url)?.host;
      return answer(
        call.body.excludeExternalLinks === true ? links.filter((url) => URL.parse(url)?.host === host) : links,
      );
    },
    scrapeElements: async (call) => answer(await elementsOf(await render(parts, call, plans.scrape))),
    async takeSnapshot(call) {
      const rendered = await render(parts, call, plans.snapshot);
      const picture = rendered.parts.get("screenshot");
      return answer({
        ...(rendered.parts.has("html") && { content: textOf(rendered, "html") }),
        ...(picture && { screenshot: picture.content.toString("base64") }),
        ...(rendered.parts.has("markdown") && { markdown: textOf(rendered, "markdown") }),
      });
    },
    takeScreenshot: async (call) =>
      bytesOf(await render(parts, call, plans.screenshot), "screenshot", call.body.screenshotOptions?.encoding),
    printPdf: async (call) => bytesOf(await render(parts, call, plans.pdf), "pdf"),
  };
}
