import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import { type CdpConnection, CdpError } from "../cdp/cdp-connection.ts";
import { attachToPage } from "../pages/visible-page.ts";

/** Beyond it, targets and frames are looked up again. */
const maxKnown = 20_000;

/** The targets of one browser context, for all its clients. */
export class OwnTargets {
  readonly #cdp: CdpConnection;
  readonly #contextId: string;
  readonly #targets = new Set<string>();
  readonly #frames = new Map<string, Promise<boolean>>();

  /** @param cdp - connection to the whole browser. */
  constructor(cdp: CdpConnection, contextId: string) {
    this.#cdp = cdp;
    this.#contextId = contextId;
  }

  isKnown(targetId: string): boolean {
    return this.#targets.has(targetId);
  }

  /** Also after its end, because events about it may follow. */
  add(targetId: string): void {
    if (this.#targets.size >= maxKnown) this.#targets.clear();
    this.#targets.add(targetId);
  }

  has(targetId: string): boolean | Promise<boolean> {
    return this.isKnown(targetId) || this.#ask(targetId);
  }

  /** Whether a frame is in a page of the context. A page's main frame has the id of its target. */
  hasFrame(frameId: string): Promise<boolean> {
    const known = this.#frames.get(frameId);
    if (known !== undefined) return known;
    if (this.#frames.size >= maxKnown) this.#frames.clear();
    const found = this.#findFrame(frameId);
    this.#frames.set(frameId, found);
    return found;
  }

  async #ask(targetId: string): Promise<boolean> {
    try {
      const { targetInfo } = await this.#cdp.send("Target.getTargetInfo", { targetId });
      if (targetInfo.browserContextId !== this.#contextId) return false;
      this.add(targetId);
      return true;
    } catch (error) {
      if (error instanceof CdpError) return false;
      throw error;
    }
  }

  async #findFrame(frameId: string): Promise<boolean> {
    if (await this.has(frameId)) return true;
    const { targetInfos } = await this.#cdp.send("Target.getTargets", {
      filter: [{ type: "page" }, { type: "iframe" }],
    });
    const own = targetInfos.filter(({ browserContextId }) => browserContextId === this.#contextId);
    const found = await Promise.all(own.map(({ targetId }) => this.#contains(targetId, frameId)));
    return found.includes(true);
  }

  async #contains(targetId: string, frameId: string): Promise<boolean> {
    try {
      await using page = await attachToPage(this.#cdp, targetId);
      const { frameTree } = await this.#cdp.send("Page.getFrameTree", undefined, page.sessionId);
      return containsFrame(frameTree, frameId);
    } catch (error) {
      // The page is closed.
      if (error instanceof CdpError) return false;
      throw error;
    }
  }
}

function containsFrame({ childFrames = [], frame }: Protocol.Page.FrameTree, frameId: string): boolean {
  return frame.id === frameId || childFrames.some((child) => containsFrame(child, frameId));
}
