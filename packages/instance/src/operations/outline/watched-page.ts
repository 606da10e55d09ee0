import type { CdpConnection } from "../../browser/cdp/cdp-connection.ts";
import { openPageSession, type PageSession } from "../computer/page-session.ts";
import { FollowedPage, type FrameTarget, type NodeAddress } from "../pages/follow/followed-page.ts";
import { HttpAuthentication } from "./http-authentication.ts";
import { watchChanges } from "./page-changes.ts";
import { PageLog } from "./page-log.ts";
import { passkeyBinding, watchPasskeys } from "./passkey-watch.ts";

const maxRefs = 20_000;

/** Follows one page for a login, from the first call until it is closed. */
export class WatchedPage extends FollowedPage {
  readonly log = new PageLog();
  readonly authentication: HttpAuthentication;
  /** References of fields whose characters are hidden. */
  readonly masked = new Set<string>();
  #refs = new Map<string, string>();
  #lastRef = 0;
  #addresses = new Map<string, NodeAddress>();
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
  refOf(address: NodeAddress): string {
    const key = `${address.target.sessionId} ${address.loaderId} ${String(address.backendNodeId)}`;
    let ref = this.#refs.get(key);
    if (ref === undefined) {
      ref = `e${String(++this.#lastRef)}`;
      this.#refs.set(key, ref);
    }
    return ref;
  }

  /** Makes these references valid, and no others. */
  remember(addresses: Map<string, NodeAddress>): void {
    this.#addresses = addresses;
    if (this.#refs.size > maxRefs) this.#refs = new Map([...this.#refs].filter(([, ref]) => addresses.has(ref)));
  }

  addressOf(ref: string): NodeAddress | undefined {
    const address = this.#addresses.get(ref);
    return address !== undefined && this.hasTarget(address.target.sessionId) ? address : undefined;
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
    const answer = await this.send(this.cdp.send("Network.getCookies", {}, this.session.sessionId)).catch(
      () => undefined,
    );
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
