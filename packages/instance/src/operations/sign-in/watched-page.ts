import { ServiceError } from "@shoal/router";
import type { CdpConnection } from "../../browser/cdp/cdp-connection.ts";
import { openPageSession, type PageSession } from "../computer/page-session.ts";
import type { ElementSource } from "../pages/tabs/element-source.ts";
import { ElementHandle } from "../pages/follow/element-handle.ts";
import { FollowedPage, type FrameTarget } from "../pages/follow/followed-page.ts";
import type { FormNode } from "../pages/form/form-view.ts";
import { unknownReference } from "../pages/tabs/page-errors.ts";
import { References } from "../pages/tabs/references.ts";
import { HttpAuthentication } from "./http-authentication.ts";
import { watchChanges } from "./page-changes.ts";
import { PageLog } from "./page-log.ts";
import { passkeyBinding, watchPasskeys } from "./passkey-watch.ts";

const tabId = "the front tab";

/** Follows one page for a login, from the first call until it is closed. */
export class WatchedPage extends FollowedPage implements ElementSource {
  readonly log = new PageLog();
  readonly authentication: HttpAuthentication;
  readonly references = new References();
  /** The last field that got a value. */
  filled: ElementHandle | undefined;
  #cookies: ReadonlyMap<string, string> = new Map();

  private constructor(session: PageSession) {
    super(session);
    this.authentication = new HttpAuthentication(this.cdp, this.log, (sessionId) => this.hasTarget(sessionId));
    this.#follow();
  }

  static override async open(cdp: CdpConnection, targetId: string): Promise<WatchedPage> {
    const page = new WatchedPage(await openPageSession(cdp, targetId));
    const { dialog } = page.session;
    if (dialog !== undefined) page.#answer(dialog, dialog.sessionId);
    await page.begin();
    return page;
  }

  /** References stay the same for the same node of the same document. */
  refOf({ address, content, node }: FormNode): string {
    const { name, role } = content;
    return this.references.refOf(tabId, { address, name, role, path: "", url: node.document.url });
  }

  async resolve(ref: string): Promise<{ readonly element: ElementHandle; readonly replaced: false }> {
    const known = this.references.get(ref);
    const isPresent = known !== undefined && this.hasTarget(known.address.target.sessionId);
    const element = isPresent ? await ElementHandle.connectedAt(this, known.address) : undefined;
    if (element === undefined) throw ServiceError.of(unknownReference(ref, tabId));
    return { element, replaced: false };
  }

  /** The origin of a document as it is now: `null` for an opaque one, empty if it does not answer. */
  async originOf(frameId: string, target: FrameTarget): Promise<string> {
    const contextId = await this.worldOf(frameId, target).catch(() => undefined);
    const params = { expression: "self.origin", returnByValue: true };
    const answer =
      contextId === undefined
        ? undefined
        : await this.ask(this.cdp.send("Runtime.evaluate", { ...params, contextId }, target.sessionId));
    const origin: unknown = answer?.result.value;
    return typeof origin === "string" ? origin : "";
  }

  /** Begins the report of a new act. */
  async beginAct(): Promise<void> {
    this.log.begin();
    this.#cookies = await this.#readCookies();
  }

  async changedCookies(): Promise<{ name: string; http_only: boolean }[]> {
    const now = await this.#readCookies();
    const changed = [...now].filter(([key, value]) => this.#cookies.get(key) !== value);
    return changed.slice(0, 100).map(([key]) => {
      const [httpOnly, , name = ""] = key.split(" ");
      return { name: name.slice(0, 200), http_only: httpOnly === "h" };
    });
  }

  protected override prepare(target: FrameTarget): readonly Promise<unknown>[] {
    const { cdp } = this;
    const { parent, sessionId } = target;
    return [
      ...super.prepare(target),
      cdp.send("Network.enable", { maxTotalBufferSize: 0, maxResourceBufferSize: 0 }, sessionId),
      watchPasskeys(cdp, sessionId, parent === undefined),
      ...(parent === undefined ? [watchChanges(cdp, sessionId)] : []),
      this.authentication.enable(sessionId),
    ];
  }

  async #readCookies(): Promise<Map<string, string>> {
    const answer = await this.ask(this.cdp.send("Network.getCookies", {}, this.session.sessionId));
    return new Map(
      answer?.cookies.map(({ name, domain, value, httpOnly }) => [`${httpOnly ? "h" : "s"} ${domain} ${name}`, value]),
    );
  }

  #follow(): void {
    const { log } = this;
    const isMain = (target: FrameTarget, frameId: string | undefined): boolean =>
      target.parent === undefined && frameId === target.targetId;
    this.on("Network.requestWillBeSent", (event) => {
      log.requested(event);
    });
    this.on("Network.responseReceived", (event, target) => {
      log.answered(event, isMain(target, event.frameId));
    });
    this.on("Network.loadingFinished", ({ requestId }) => {
      log.ended(requestId);
    });
    this.on("Network.loadingFailed", ({ requestId }) => {
      log.ended(requestId);
    });
    this.on("Page.frameStartedLoading", ({ frameId }, target) => {
      if (isMain(target, frameId)) log.loading(true);
    });
    this.on("Page.frameStoppedLoading", ({ frameId }, target) => {
      if (isMain(target, frameId)) log.loading(false);
    });
    this.on("Page.frameNavigated", ({ frame }, target) => {
      if (isMain(target, frame.id)) log.navigated(frame.url);
    });
    this.on("Page.navigatedWithinDocument", ({ frameId, url }, target) => {
      if (isMain(target, frameId)) log.navigated(url);
    });
    this.on("Page.javascriptDialogOpening", (event, target) => {
      this.#answer(event, target.sessionId);
    });
    this.on("Runtime.bindingCalled", ({ name, payload }) => {
      if (name === passkeyBinding) log.passkeyCalled(payload);
    });
    for (const stop of this.authentication.follow()) this.stopAtClose(stop);
  }

  /** Accepts messages and refuses questions, so that the page continues. */
  #answer({ message, type }: { readonly type: string; readonly message: string }, sessionId: string): void {
    this.log.dialog(type, message);
    const accept = type === "alert" || type === "beforeunload";
    this.cdp.send("Page.handleJavaScriptDialog", { accept }, sessionId).catch(() => undefined);
  }
}
