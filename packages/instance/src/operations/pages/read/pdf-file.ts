import { ServiceError } from "@shoal/router";
import type { ElementHandle } from "../follow/element-handle.ts";
import { pageNotResponding } from "../tabs/page-errors.ts";
import type { OpenTab, SessionPages } from "../tabs/session-pages.ts";

export interface PdfAddress {
  readonly url: string;
  /** Whose cookies a request for it has. */
  readonly frameId: string;
  readonly sessionId: string;
}

const pdfType = "application/pdf";
const maxBytes = 32 * 2 ** 20;
const chunkBytes = 2 ** 20;
const fetchMs = 20_000;
const maxAddressCharacters = 8_192;

const sourceFunction = `function () {
  const address = this.src || this.data;
  if (!["IFRAME", "EMBED", "OBJECT"].includes(this.tagName) || typeof address !== "string") return "";
  return this.type === "${pdfType}" || /\\.pdf$/i.test(new URL(address, document.baseURI).pathname) ? address : "";
}`;

/** The PDF that a tab shows, or an element of it; `undefined` for other documents. */
export async function pdfOf(
  pages: SessionPages,
  { page }: OpenTab,
  element: ElementHandle | undefined,
): Promise<PdfAddress | undefined> {
  if (element !== undefined) {
    const { frameId, target } = element.address;
    const url = await element.call<string>(sourceFunction);
    return isWeb(url) ? { url, frameId, sessionId: target.sessionId } : undefined;
  }
  const { sessionId } = page.session;
  const tree = await page.ask(page.cdp.send("Page.getFrameTree", undefined, sessionId));
  if (tree === undefined) return undefined;
  const { id: frameId, mimeType, url: shown } = tree.frameTree.frame;
  if (mimeType === pdfType) return isWeb(shown) ? { url: shown, frameId, sessionId } : undefined;
  // A browser without a viewer downloads the file, and leaves the tab as it was.
  const isEmpty = shown === "" || shown === ":" || shown === "about:blank";
  const url = page.isDownload || isEmpty ? pages.downloadOf(frameId) : undefined;
  return isWeb(url) && /\.pdf$/i.test(URL.parse(url)?.pathname ?? "") ? { url, frameId, sessionId } : undefined;
}

/** A page may claim any address. */
function isWeb(url: string | undefined): url is string {
  return typeof url === "string" && url.length <= maxAddressCharacters && /^https?:/i.test(url);
}

/**
 * Requests a PDF as the page would, with the cookies and rules of the session. Returns `undefined` for other files.
 * @throws {ServiceError} 409 if it is too large or does not arrive.
 */
export async function fetchPdf(tab: OpenTab, { frameId, sessionId, url }: PdfAddress): Promise<Uint8Array | undefined> {
  const { cdp } = tab.page;
  const signal = AbortSignal.timeout(fetchMs);
  const options = { disableCache: false, includeCredentials: true };
  const answer = await tab.page.ask(cdp.send("Network.loadNetworkResource", { frameId, url, options }, sessionId));
  const { stream: handle } = answer?.resource ?? {};
  if (handle === undefined) throw ServiceError.of(pageNotResponding(tab.id, "is a PDF that could not be loaded again"));
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for (let isDone = false; !isDone;) {
      const part = await tab.page.ask(cdp.send("IO.read", { handle, size: chunkBytes }, sessionId));
      if (part === undefined || signal.aborted)
        throw ServiceError.of(pageNotResponding(tab.id, "is a PDF that did not arrive in time"));
      const chunk = Buffer.from(part.data, part.base64Encoded === true ? "base64" : "latin1");
      chunks.push(chunk);
      size += chunk.length;
      if (size > maxBytes) throw ServiceError.of(pageNotResponding(tab.id, "is a PDF of more than 32 MiB"));
      isDone = part.eof;
    }
  } finally {
    void tab.page.ask(cdp.send("IO.close", { handle }, sessionId));
  }
  const bytes = Buffer.concat(chunks);
  // The mark may follow some bytes of other data.
  return bytes.subarray(0, 1024).includes("%PDF-") ? new Uint8Array(bytes) : undefined;
}
