import type { CheckedRequestOf, printPage as endpoint } from "@shoal/contract";
import { invalid } from "@shoal/contract/refusals";
import { type BytesReply, ServiceError } from "@shoal/router";
import { Readable } from "node:stream";
import { CdpError } from "../../../browser/cdp/cdp-connection.ts";
import type { FollowedPage } from "../follow/followed-page.ts";
import { dialogOpen, pageNotResponding } from "../tabs/page-errors.ts";
import type { RenderMore } from "../../../protocol/render-frame.ts";
import type { OpenTab } from "../tabs/session-pages.ts";

export type PrintOptions = CheckedRequestOf<typeof endpoint>["body"];

/** Width and height in inches. */
const papers: Readonly<Record<PrintOptions["format"], readonly [width: number, height: number]>> = {
  A3: [11.6929, 16.5354],
  A4: [8.2677, 11.6929],
  A5: [5.8268, 8.2677],
  Letter: [8.5, 11],
  Legal: [8.5, 14],
  Tabloid: [11, 17],
};
const printMs = 60_000;
const chunkBytes = 256 * 1024;
const maxBytes = 256 * 2 ** 20;

/** Prints a tab. @throws {ServiceError} 400 for options that leave no content, 409 if the page does not answer. */
export async function printPage(
  tab: OpenTab,
  options: PrintOptions,
  more: NonNullable<RenderMore["pdf"]> = {},
): Promise<BytesReply> {
  const { page } = tab;
  const [paperWidth, paperHeight] = papers[options.format];
  const margin = options.margin_inches;
  const { bottom = margin, left = margin, right = margin, top = margin } = more.margins ?? {};
  const printing = page.cdp
    .send(
      "Page.printToPDF",
      {
        landscape: options.landscape,
        printBackground: options.print_background,
        scale: options.scale,
        paperWidth: more.paper?.width ?? paperWidth,
        paperHeight: more.paper?.height ?? paperHeight,
        marginTop: top,
        marginBottom: bottom,
        marginLeft: left,
        marginRight: right,
        ...((more.header ?? more.footer) !== undefined && {
          displayHeaderFooter: true,
          headerTemplate: more.header ?? "",
          footerTemplate: more.footer ?? "",
        }),
        ...(more.page_size_of_styles === true && { preferCSSPageSize: true }),
        ...(more.tagged !== undefined && { generateTaggedPDF: more.tagged }),
        ...(more.outline === true && { generateDocumentOutline: true }),
        transferMode: "ReturnAsStream",
        ...(options.page_ranges !== undefined && { pageRanges: options.page_ranges }),
      },
      page.session.sessionId,
    )
    .catch((error: unknown) => {
      throw refusalOf(error) ?? error;
    });
  const outcome = await page.session.outcome(printing, printMs);
  if (outcome.kind === "gone") throw page.session.endError();
  if (outcome.kind !== "done") {
    const { dialog } = page.session;
    throw ServiceError.of(
      dialog === undefined
        ? pageNotResponding(tab.id, "could not be printed in 60 seconds")
        : dialogOpen(tab.id, dialog),
    );
  }
  const { stream } = outcome.result;
  if (stream === undefined) throw new Error("Chromium returned no stream for a PDF.");
  return { stream: Readable.from(readStream(page, stream)) };
}

function refusalOf(error: unknown): ServiceError | undefined {
  if (!(error instanceof CdpError)) return undefined;
  if (error.message.includes("exceeds page count"))
    return ServiceError.of(invalid("body.page_ranges", "begins after the last page"));
  if (/page range/i.test(error.message))
    return ServiceError.of(invalid("body.page_ranges", "is invalid", { limit: "ranges such as 1-3,5" }));
  if (error.message.includes("content area is empty"))
    return ServiceError.of(invalid("body.margin_inches", "leaves no room for content on this paper"));
  return undefined;
}

async function* readStream({ cdp, session }: FollowedPage, handle: string): AsyncGenerator<Buffer> {
  try {
    for (let bytes = 0; bytes <= maxBytes;) {
      const { base64Encoded, data, eof } = await cdp.send("IO.read", { handle, size: chunkBytes }, session.sessionId);
      const chunk = Buffer.from(data, base64Encoded === true ? "base64" : "utf8");
      bytes += chunk.length;
      if (chunk.length > 0) yield chunk;
      if (eof) return;
    }
    throw new Error(`The PDF has more than ${String(maxBytes)} bytes.`);
  } finally {
    cdp.send("IO.close", { handle }, session.sessionId).catch(() => undefined);
  }
}
