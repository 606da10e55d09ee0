import type { ProtocolMapping } from "devtools-protocol/types/protocol-mapping.d.ts";
import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import type { CdpConnection } from "../../browser/cdp/pipe-connection.ts";
import { openPageSession, type PageSession } from "../computer/page-session.ts";
import { HttpAuthentication } from "./http-authentication.ts";
import { PageLog } from "./page-log.ts";
import { passkeyBinding, watchPasskeys } from "./passkey-watch.ts";

type Events = ProtocolMapping.Events;

/** A process that renders the page or some of its frames. */
export interface FrameTarget {
  readonly sessionId: string;
  /** Also the id of its topmost frame. */
  readonly targetId: string;
  readonly parent: FrameTarget | undefined;
}

export interface NodeAddress {
  readonly target: FrameTarget;
  readonly frameId: string;
  readonly loaderId: string;
  readonly backendNodeId: number;
}

/** With a name, each call returns the same world. */
const worldName = "shoal-page";
const maxTargets = 50;
const maxRefs = 20_000;
const commandMs = 10_000;

/** Follows one page with all its frames, from the first call until it is closed. */
export class WatchedPage {
  readonly cdp: CdpConnection;
  readonly session: PageSession;
  readonly log = new PageLog();
  readonly authentication: HttpAuthentication;
  /** References of fields whose characters are hidden. */
  readonly masked = new Set<string>();
  readonly #targets = new Map<string, FrameTarget>();
  readonly #stops: (() => void)[] = [];
  #refs = new Map<string, string>();
  #lastRef = 0;
  #addresses = new Map<string, NodeAddress>();
  #cookies: ReadonlyMap<string, string> = new Map();

  private constructor(session: PageSession) {
    this.session = session;
    this.cdp = session.cdp;
    const isOwn = (sessionId: string | undefined): boolean => sessionId !== undefined && this.#targets.has(sessionId);
    this.authentication = new HttpAuthentication(this.cdp, this.log, isOwn);
    this.#follow();
  }

  static async open(cdp: CdpConnection, targetId: string): Promise<WatchedPage> {
    const page = new WatchedPage(await openPageSession(cdp, targetId));
    const { sessionId } = page.session;
    await page.#take({ sessionId, targetId, parent: undefined });
    return page;
  }

  /** The page first, then the targets of frames from other sites. */
  get targets(): readonly FrameTarget[] {
    return [...this.#targets.values()];
  }

  /** Sends a command to the page or a frame. @throws {ServiceError | CdpError} when it has ended or does not answer. */
  async send<T>(command: Promise<T>): Promise<T | undefined> {
    const outcome = await this.session.outcome(command, commandMs);
    if (outcome.kind === "gone") throw this.session.endError();
    return outcome.kind === "done" ? outcome.result : undefined;
  }

  /** Returns the isolated world of a frame's document: its page's scripts cannot interfere there. */
  async worldOf(frameId: string, { sessionId }: FrameTarget): Promise<number | undefined> {
    const world = await this.send(this.cdp.send("Page.createIsolatedWorld", { frameId, worldName }, sessionId));
    return world?.executionContextId;
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
    return address !== undefined && this.#targets.has(address.target.sessionId) ? address : undefined;
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

  async close(): Promise<void> {
    for (const stop of this.#stops.splice(0)) stop();
    this.#targets.clear();
    await this.session.close();
  }

  async #readCookies(): Promise<Map<string, string>> {
    const answer = await this.send(this.cdp.send("Network.getCookies", {}, this.session.sessionId)).catch(
      () => undefined,
    );
    return new Map(
      answer?.cookies.map(({ name, domain, value, httpOnly }) => [`${httpOnly ? "h" : "s"} ${domain} ${name}`, value]),
    );
  }

  async #take(target: FrameTarget): Promise<void> {
    if (this.#targets.size >= maxTargets) return;
    const { sessionId, parent } = target;
    this.#targets.set(sessionId, target);
    const { cdp } = this;
    const ready = Promise.all([
      cdp.send(
        "Target.setAutoAttach",
        { autoAttach: true, waitForDebuggerOnStart: false, flatten: true, filter: [{ type: "iframe" }] },
        sessionId,
      ),
      cdp.send("Page.enable", {}, sessionId),
      cdp.send("Network.enable", { maxTotalBufferSize: 0, maxResourceBufferSize: 0 }, sessionId),
      cdp.send("DOM.enable", {}, sessionId),
      watchPasskeys(cdp, sessionId, parent === undefined),
      this.authentication.enable(sessionId),
    ]);
    // A frame may have gone; a page with an open dialog does not answer.
    await this.send(ready).catch((error: unknown) => {
      if (parent === undefined) throw error;
    });
  }

  #follow(): void {
    const { cdp, log } = this;
    const isMain = (target: FrameTarget, frameId: string | undefined): boolean =>
      target.parent === undefined && frameId === target.targetId;
    this.#on("Target.attachedToTarget", (event, target) => {
      this.#attached(event, target);
    });
    this.#on("Network.requestWillBeSent", (event) => {
      log.requested(event);
    });
    this.#on("Network.responseReceived", (event, target) => {
      log.answered(event, isMain(target, event.frameId));
    });
    this.#on("Network.loadingFinished", ({ requestId }) => {
      log.ended(requestId);
    });
    this.#on("Network.loadingFailed", ({ requestId }) => {
      log.ended(requestId);
    });
    this.#on("Page.frameStartedLoading", ({ frameId }, target) => {
      if (isMain(target, frameId)) log.loading(true);
    });
    this.#on("Page.frameStoppedLoading", ({ frameId }, target) => {
      if (isMain(target, frameId)) log.loading(false);
    });
    this.#on("Page.frameNavigated", ({ frame }, target) => {
      if (isMain(target, frame.id)) log.navigated(frame.url);
    });
    this.#on("Page.navigatedWithinDocument", ({ frameId, url }, target) => {
      if (isMain(target, frameId)) log.navigated(url);
    });
    this.#on("Page.javascriptDialogOpening", (event, target) => {
      this.#answer(event, target);
    });
    this.#on("Runtime.bindingCalled", ({ name, payload }) => {
      if (name === passkeyBinding) log.passkeyCalled(payload);
    });
    const detached = cdp.on("Target.detachedFromTarget", ({ sessionId }) => {
      this.#targets.delete(sessionId);
    });
    this.#stops.push(detached, ...this.authentication.follow());
  }

  /** Other parts of the instance have sessions on the same connection. */
  #on<E extends keyof Events>(event: E, listener: (params: Events[E][0], target: FrameTarget) => void): void {
    const stop = this.cdp.on(event, (params, sessionId) => {
      const target = sessionId === undefined ? undefined : this.#targets.get(sessionId);
      if (target !== undefined) listener(params, target);
    });
    this.#stops.push(stop);
  }

  #attached({ sessionId, targetInfo }: Protocol.Target.AttachedToTargetEvent, parent: FrameTarget): void {
    if (targetInfo.type === "iframe") void this.#take({ sessionId, targetId: targetInfo.targetId, parent });
    else this.cdp.send("Target.detachFromTarget", { sessionId }, parent.sessionId).catch(() => undefined);
  }

  /** Accepts messages and refuses questions, so that the page continues. */
  #answer({ type, message }: Protocol.Page.JavascriptDialogOpeningEvent, { sessionId }: FrameTarget): void {
    this.log.dialog(type, message);
    const accept = type === "alert" || type === "beforeunload";
    this.cdp.send("Page.handleJavaScriptDialog", { accept }, sessionId).catch(() => undefined);
  }
}
