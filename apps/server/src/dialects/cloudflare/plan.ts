import type { RenderMore } from "@shoal/placement";
import type { RenderPage } from "@shoal/schemas";
import { givenIn, givenInList } from "../kit/ignored.ts";
import { unusedInPdf, unusedScreenshotOptions } from "../kit/page-shapes.ts";
import { inSession, notSupported, refuseFields, toRenderPage } from "../kit/render-body.ts";
import { toPdf, toScreenshot, withinLimits } from "../kit/rendering.ts";
import type { LinksBody, PageBody, PdfBody, ScrapeBody, ScreenshotBody, SnapshotBody } from "./shapes.ts";

interface Outputs extends Pick<RenderPage, "elements" | "markdown" | "outputs" | "pdf" | "screenshot"> {
  readonly more?: RenderMore;
  readonly encoding?: "base64" | "binary";
}

export interface PagePlan {
  readonly page: RenderPage;
  readonly more: RenderMore;
  /** Of a picture that is the whole answer. */
  readonly encoding: "base64" | "binary" | undefined;
  /** Fields that have no effect, with their paths. */
  readonly ignored: readonly string[];
}

const loadMs = 30_000;
const missing = {
  allowRequestPattern: inSession,
  allowResourceTypes: "Use rejectResourceTypes.",
};
const wholePage = { markdown: { content: "all" } } as const;

function planOf(
  body: PageBody,
  { encoding, more: outputMore, ...outputs }: Outputs,
  unused: readonly string[] = [],
): PagePlan {
  refuseFields(body, missing);
  const { ignored, more, page } = toRenderPage(body);
  const timeoutMs = (body.gotoOptions?.timeout ?? loadMs) + (body.actionTimeout ?? 0);
  return {
    page: { ...page, ...outputs, timeout_ms: withinLimits(timeoutMs) },
    more: { ...more, ...outputMore },
    encoding,
    ignored: [...ignored, ...unused],
  };
}

const field = "screenshotOptions";
const unusedIn = (options: object | undefined) => givenIn(`body.${field}`, options, unusedScreenshotOptions);

/** Translates the body of each operation. @throws {ServiceError} 501 for fields that would change the result. */
export const plans = {
  content: (body: PageBody) => planOf(body, { outputs: ["html"] }),
  markdown: (body: PageBody) => planOf(body, wholePage),
  links: (body: LinksBody): PagePlan => {
    if (body.visibleLinksOnly === true)
      notSupported("visibleLinksOnly", "Read the links with scrape: hidden elements have no width.");
    return planOf(body, { outputs: ["links"] });
  },
  scrape: (body: ScrapeBody) =>
    planOf(
      body,
      { elements: body.elements.map(({ selector }) => selector) },
      givenInList("body.elements", body.elements, ["timeout"]),
    ),
  snapshot: (body: SnapshotBody): PagePlan => {
    const { formats = ["content", "screenshot"], screenshotOptions } = body;
    if (formats.includes("accessibilityTree"))
      notSupported("formats", "Use outline of POST /render instead of accessibilityTree.");
    const outputs: Outputs = {
      ...(formats.includes("content") && { outputs: ["html"] }),
      ...(formats.includes("markdown") && wholePage),
      ...(formats.includes("screenshot") && toScreenshot(screenshotOptions, { field })),
    };
    return planOf(body, outputs, unusedIn(screenshotOptions));
  },
  screenshot: (body: ScreenshotBody): PagePlan => {
    const { screenshotOptions, selector } = body;
    const unused = [...unusedIn(screenshotOptions), ...givenIn("body", body, ["scrollPage"])];
    return planOf(body, toScreenshot(screenshotOptions, { field, selector }), unused);
  },
  pdf: (body: PdfBody) =>
    planOf(body, toPdf(body.pdfOptions, "pdfOptions"), unusedInPdf(body.pdfOptions, "body.pdfOptions")),
};
