import type { PageDialog, RenderRedirect } from "@shoal/schemas";
import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import type { FollowedPage } from "../follow/followed-page.ts";
import { shownAddress } from "../tabs/shown-address.ts";

const maxRedirects = 20;
const maxDialogs = 10;
const maxHeaderCharacters = 2_000;

/** About the content and its caching. Others may identify a visitor, such as `set-cookie`. */
const shownHeaders: ReadonlySet<string> = new Set([
  ...["age", "cache-control", "content-disposition", "content-language", "content-length", "content-location"],
  ...["content-security-policy", "content-type", "date", "etag", "expires", "last-modified", "link"],
  ...["referrer-policy", "retry-after", "server", "strict-transport-security", "vary", "www-authenticate"],
  ...["x-content-type-options", "x-frame-options", "x-robots-tag"],
]);

/** The document of the main frame. */
interface MainResponse {
  readonly status: number;
  readonly mimeType: string;
  readonly headers: Record<string, string>;
}

/** Follows the main document of a page: its states of loading, redirects, response, dialogs and downloads. */
export class PageWatch {
  readonly redirects: RenderRedirect[] = [];
  readonly dialogs: PageDialog[] = [];
  response: MainResponse | undefined;
  /** Of the last request for the page. */
  requestedUrl: string | undefined;
  /** The name of a file that the address turned out to be. */
  download: string | undefined;
  readonly #page: FollowedPage;
  readonly #stopDownloads: () => void;
  readonly #states = new Set<string>();
  #loaderId: string | undefined;
  #changed = Promise.withResolvers<undefined>();

  private constructor(page: FollowedPage) {
    this.#page = page;
    this.#stopDownloads = page.cdp.on("Browser.downloadWillBegin", ({ suggestedFilename }, sessionId) => {
      if (sessionId !== undefined) return;
      this.download ??= suggestedFilename.slice(0, 255);
      this.#change();
    });
    this.#follow();
  }

  static async open(page: FollowedPage): Promise<PageWatch> {
    const watch = new PageWatch(page);
    const { cdp, session } = page;
    await Promise.all([
      cdp.send("Page.setLifecycleEventsEnabled", { enabled: true }, session.sessionId),
      // Without bodies: they would need memory of the browser.
      cdp.send("Network.enable", { maxTotalBufferSize: 0, maxResourceBufferSize: 0 }, session.sessionId),
    ]);
    return watch;
  }

  /** Forgets the states of the document that a new one replaces. */
  restart(): void {
    this.#states.clear();
  }

  /** Resolves when the present document has reached the state, or when the address became a download. */
  async reached(state: string): Promise<void> {
    while (!this.#states.has(state) && this.download === undefined) await this.#changed.promise;
  }

  close(): void {
    this.#stopDownloads();
  }

  #change(): void {
    this.#changed.resolve(undefined);
    this.#changed = Promise.withResolvers();
  }

  #follow(): void {
    const page = this.#page;
    page.on("Page.lifecycleEvent", ({ frameId, loaderId, name }, target) => {
      if (!page.isMainFrame(target, frameId)) return;
      if (name === "init" || loaderId !== this.#loaderId) this.#states.clear();
      this.#loaderId = loaderId;
      this.#states.add(name);
      this.#change();
    });
    page.on(
      "Network.requestWillBeSent",
      ({ frameId, loaderId, redirectResponse, request, requestId, type }, target) => {
        if (type !== "Document" || requestId !== loaderId || !page.isMainFrame(target, frameId)) return;
        this.requestedUrl = request.url;
        if (redirectResponse !== undefined) this.#redirected(redirectResponse);
      },
    );
    page.on("Network.responseReceived", ({ frameId, loaderId, requestId, response, type }, target) => {
      if (type !== "Document" || requestId !== loaderId || !page.isMainFrame(target, frameId)) return;
      this.response = {
        status: response.status,
        mimeType: response.mimeType,
        headers: headersOf(response.headers),
      };
      this.#change();
    });
    page.on("Page.javascriptDialogOpening", (dialog, { sessionId }) => {
      this.#dismiss(dialog, sessionId);
    });
  }

  #redirected({ status, url }: Protocol.Network.Response): void {
    if (this.redirects.length < maxRedirects) this.redirects.push({ url: shownAddress(url), status });
  }

  #dismiss({ defaultPrompt, message, type }: Protocol.Page.JavascriptDialogOpeningEvent, sessionId: string): void {
    if (this.dialogs.length < maxDialogs)
      this.dialogs.push({
        type,
        message: message.slice(0, 2_000),
        ...(defaultPrompt !== undefined && defaultPrompt !== "" && { default_text: defaultPrompt.slice(0, 2_000) }),
      });
    const { cdp } = this.#page;
    const answering = this.#page.session.dialog?.sessionId ?? sessionId;
    cdp.send("Page.handleJavaScriptDialog", { accept: type === "beforeunload" }, answering).catch(() => undefined);
  }
}

function headersOf(headers: Protocol.Network.Headers): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers as Record<string, unknown>)) {
    const known = name.toLowerCase();
    if (shownHeaders.has(known)) shown[known] = String(value).slice(0, maxHeaderCharacters);
  }
  return shown;
}
