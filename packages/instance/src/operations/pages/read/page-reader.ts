import { withoutCredentials } from "../tabs/shown-address.ts";
import type { CheckedRequestOf, readPage } from "@shoal/contract";
import { invalid } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import type { PageText } from "@shoal/schemas";
import { estimateTokens } from "../outline/estimate.ts";
import { chooseElement } from "../tabs/choose-element.ts";
import { dialogOpen, pageNotResponding } from "../tabs/page-errors.ts";
import type { OpenTab, SessionPages } from "../tabs/session-pages.ts";
import type { ConvertedPage } from "../text/convert-page.ts";
import type { PdfText } from "../text/pdf-text.ts";
import { capturePage } from "./capture-page.ts";
import { cutPart } from "./cut-part.ts";
import { MarkdownThread } from "./markdown-thread.ts";
import { fetchPdf, type PdfAddress, pdfOf } from "./pdf-file.ts";

type Options = CheckedRequestOf<typeof readPage>["body"];

const convertMs = 10_000;
/** The parts of a text fit together for this time. */
const maxPdfAgeMs = 120_000;

/** Reads pages as Markdown. */
export class PageReader {
  readonly #pages: SessionPages;
  readonly #withoutSecrets: (text: string) => string;
  readonly #thread = new MarkdownThread();
  /** The last text, so that its parts fit together while the page changes. */
  #last: { readonly key: string; readonly text: ConvertedPage } | undefined;

  #lastPdf: { readonly key: string; readonly text: PdfText; readonly atMs: number } | undefined;

  /** @param withoutSecrets - applied before a text is cut into parts, of which none may begin inside a secret. */
  constructor(pages: SessionPages, withoutSecrets: (text: string) => string) {
    this.#pages = pages;
    this.#withoutSecrets = withoutSecrets;
  }

  /** @throws {ServiceError} 400, 404, or 409 if the page does not answer. */
  async read(options: Options): Promise<PageText> {
    const { max_tokens: maxTokens, offset } = options;
    const { markdown: whole, title, url } = await this.#text(options);
    const markdown = this.#withoutSecrets(whole);
    if (offset > markdown.length)
      throw ServiceError.of(
        invalid("body.offset", "is after the end of the text", {
          limit: markdown.length,
          hint: "The page may have changed: read it again from offset 0.",
        }),
      );
    const part = cutPart(markdown, { offset, maxTokens, estimate: estimateTokens });
    return {
      url: withoutCredentials(url),
      title,
      markdown: part.text,
      tokens: estimateTokens(part.text),
      ...(part.nextOffset !== undefined && { next_offset: part.nextOffset }),
    };
  }

  close(): Promise<void> {
    this.#last = undefined;
    this.#lastPdf = undefined;
    return this.#thread.close();
  }

  /** Says that a tab shows a PDF, in the place of an outline; `undefined` for other tabs. */
  async describePdf(tab: OpenTab): Promise<PdfText | undefined> {
    const address = await pdfOf(this.#pages, tab, undefined);
    return address && this.#pdf(tab, address);
  }

  async #pdf(tab: OpenTab, address: PdfAddress): Promise<PdfText | undefined> {
    const key = JSON.stringify([tab.targetId, address]);
    if (this.#lastPdf?.key === key && Date.now() - this.#lastPdf.atMs < maxPdfAgeMs) return this.#lastPdf.text;
    const bytes = await fetchPdf(tab, address);
    if (bytes === undefined) return undefined;
    const text = await this.#thread.convert({ kind: "pdf", bytes, url: address.url }, convertMs);
    if (text === undefined) throw ServiceError.of(pageNotResponding(tab.id, "is a PDF that is too large to be read"));
    this.#lastPdf = { key, text, atMs: Date.now() };
    return text;
  }

  async #text({ content, links, offset, ref, selector, tab: tabId }: Options): Promise<ConvertedPage> {
    const { element, tab } = await chooseElement(this.#pages, { ref, selector, tab: tabId });
    const { dialog } = tab.page.session;
    if (dialog !== undefined) throw ServiceError.of(dialogOpen(tab.id, dialog));
    const address = await pdfOf(this.#pages, tab, element);
    const pdf = address && (await this.#pdf(tab, address));
    if (pdf !== undefined) return pdf;
    const key = JSON.stringify([tab.targetId, await documentOf(tab), content, links, ref, selector]);
    if (offset > 0 && this.#last?.key === key) return this.#last.text;
    const captured = await capturePage(tab, element);
    const text = await this.#thread.convert({ ...captured, content, links }, convertMs);
    if (text === undefined)
      throw ServiceError.of({
        ...pageNotResponding(tab.id, "is too large to be read"),
        hint: "Read a part of it, with ref or selector.",
      });
    this.#last = { key, text };
    return text;
  }
}

/** The document of a tab, and its address: pages may change it without loading a document. */
async function documentOf({ id, page }: OpenTab): Promise<string> {
  const answer = await page.send(page.cdp.send("Page.getFrameTree", undefined, page.session.sessionId));
  if (answer === undefined) throw ServiceError.of(pageNotResponding(id, "did not answer within 10 seconds"));
  const { loaderId, url, urlFragment = "" } = answer.frameTree.frame;
  return `${loaderId} ${url}${urlFragment}`;
}
