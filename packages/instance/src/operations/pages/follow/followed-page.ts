import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import type { ProtocolMapping } from "devtools-protocol/types/protocol-mapping.d.ts";
import type { CdpConnection } from "../../../browser/cdp/cdp-connection.ts";
import { openPageSession, type PageSession } from "../../computer/page-session.ts";

type Events = ProtocolMapping.Events;

/** A process that renders the page or some of its frames. */
export interface FrameTarget {
  readonly sessionId: string;
  /** Also the id of its topmost frame. */
  readonly targetId: string;
  readonly parent: FrameTarget | undefined;
}

/** A node of a document. */
export interface NodeAddress {
  readonly target: FrameTarget;
  readonly frameId: string;
  readonly loaderId: string;
  readonly backendNodeId: number;
}

/** The isolated world of a document. */
export interface World {
  readonly contextId: number;
  /** Its global object. */
  readonly objectId: string;
  /** How the ids of its objects begin, unique among all processes. */
  readonly realm: string;
}

/** A followed page, or an action on one with its time limit. */
export interface CommandSender {
  readonly page: FollowedPage;
  /** Returns `undefined` when the browser rejects the command. */
  ask<T>(command: Promise<T>): Promise<T | undefined>;
}

/** With a name, each call returns the same world. */
const worldName = "shoal-page";
const maxTargets = 50;
const commandMs = 10_000;

/** Follows one page with all its frames until it is closed. Answers no dialogs and changes nothing in the page. */
export class FollowedPage implements CommandSender {
  readonly cdp: CdpConnection;
  readonly session: PageSession;
  /** Whether the last navigation of its main frame became a download: the document before it is still there. */
  isDownload = false;
  /** Fields whose characters are hidden, by the keys of their nodes. */
  readonly masked = new Set<string>();
  /** Worlds of documents that were used, by session and frame. */
  readonly worlds = new Map<string, World>();
  /** Of the topmost frames of targets, by session. */
  readonly #loaders = new Map<string, string>();
  readonly #targets = new Map<string, FrameTarget>();
  readonly #stops: (() => void)[] = [];
  #mainFrameId: string;

  protected constructor(session: PageSession) {
    this.session = session;
    this.cdp = session.cdp;
    this.#mainFrameId = session.targetId;
    this.on("Page.frameNavigated", ({ frame }, { parent, sessionId, targetId }) => {
      this.worlds.delete(`${sessionId} ${frame.id}`);
      if (frame.parentId === undefined || frame.id === targetId) this.#loaders.set(sessionId, frame.loaderId);
      if (parent !== undefined || frame.parentId !== undefined) return;
      this.#mainFrameId = frame.id;
      this.isDownload = false;
    });
    this.on("Target.attachedToTarget", (event, target) => {
      this.#attached(event, target);
    });
    const detached = this.cdp.on("Target.detachedFromTarget", ({ sessionId }) => {
      this.#targets.delete(sessionId);
    });
    this.#stops.push(detached);
  }

  /** @throws {ServiceError | CdpError} when the page has ended. */
  static async open(cdp: CdpConnection, targetId: string): Promise<FollowedPage> {
    const page = new FollowedPage(await openPageSession(cdp, targetId));
    await page.begin();
    return page;
  }

  /** Differs from the target's id when the page was rendered in advance. */
  get mainFrameId(): string {
    return this.#mainFrameId;
  }

  isMainFrame({ parent }: FrameTarget, frameId: string | undefined): boolean {
    return parent === undefined && frameId === this.#mainFrameId;
  }

  /** Asks the browser for the main frame: a page that was rendered in advance brings its own, perhaps without an event. */
  async findMainFrame(): Promise<void> {
    const { sessionId } = this.session;
    const answer = await this.send(this.cdp.send("Page.getFrameTree", undefined, sessionId)).catch(() => undefined);
    this.#mainFrameId = answer?.frameTree.frame.id ?? this.#mainFrameId;
  }

  /** Names the topmost document of a target; `undefined` for the document that it had when it was attached. */
  loaderOf({ sessionId }: FrameTarget): string | undefined {
    return this.#loaders.get(sessionId);
  }

  /** The page first, then the targets of frames from other sites. */
  get targets(): readonly FrameTarget[] {
    return [...this.#targets.values()];
  }

  hasTarget(sessionId: string | undefined): boolean {
    return sessionId !== undefined && this.#targets.has(sessionId);
  }

  /**
   * Sends a command to the page or a frame. Returns `undefined` without an answer within 10 seconds, and while a dialog
   * is open. @throws {ServiceError | CdpError} when it has ended.
   */
  async send<T>(command: Promise<T>): Promise<T | undefined> {
    const outcome = await this.session.outcome(command, commandMs);
    if (outcome.kind === "gone") throw this.session.endError();
    return outcome.kind === "done" ? outcome.result : undefined;
  }

  get page(): this {
    return this;
  }

  /** Like {@link FollowedPage.send}; also `undefined` when the page has ended. */
  ask<T>(command: Promise<T>): Promise<T | undefined> {
    return this.send(command).catch(() => undefined);
  }

  /** Returns the isolated world of a frame's document: its page's scripts cannot interfere there. */
  async worldOf(frameId: string, target: FrameTarget): Promise<number | undefined> {
    const { sessionId } = target;
    const world = await this.send(this.cdp.send("Page.createIsolatedWorld", { frameId, worldName }, sessionId));
    return world?.executionContextId;
  }

  /** Calls `listener` for events of the page and its frames until the page is closed. */
  on<E extends keyof Events>(event: E, listener: (params: Events[E][0], target: FrameTarget) => void): void {
    // Other parts of the instance have sessions on the same connection.
    const stop = this.cdp.on(event, (params, sessionId) => {
      const target = sessionId === undefined ? undefined : this.#targets.get(sessionId);
      if (target !== undefined) listener(params, target);
    });
    this.#stops.push(stop);
  }

  async close(): Promise<void> {
    for (const stop of this.#stops.splice(0)) stop();
    this.#targets.clear();
    await this.session.close();
  }

  protected async begin(): Promise<void> {
    const { sessionId, targetId } = this.session;
    await this.#take({ sessionId, targetId, parent: undefined });
    if (this.session.dialog === undefined) await this.findMainFrame();
  }

  /** Commands to a new target. */
  protected prepare({ sessionId }: FrameTarget): readonly Promise<unknown>[] {
    return [this.cdp.send("Page.enable", {}, sessionId), this.cdp.send("DOM.enable", {}, sessionId)];
  }

  protected stopAtClose(stop: () => void): void {
    this.#stops.push(stop);
  }

  async #take(target: FrameTarget): Promise<void> {
    if (this.#targets.size >= maxTargets) return;
    const { parent, sessionId } = target;
    this.#targets.set(sessionId, target);
    const followFrames = this.cdp.send(
      "Target.setAutoAttach",
      { autoAttach: true, waitForDebuggerOnStart: false, flatten: true, filter: [{ type: "iframe" }] },
      sessionId,
    );
    // A frame may have gone; a page with an open dialog does not answer.
    await this.send(Promise.all([followFrames, ...this.prepare(target)])).catch((error: unknown) => {
      if (parent === undefined) throw error;
    });
  }

  #attached({ sessionId, targetInfo }: Protocol.Target.AttachedToTargetEvent, parent: FrameTarget): void {
    if (targetInfo.type === "iframe") void this.#take({ sessionId, targetId: targetInfo.targetId, parent });
    else this.cdp.send("Target.detachFromTarget", { sessionId }, parent.sessionId).catch(() => undefined);
  }
}
