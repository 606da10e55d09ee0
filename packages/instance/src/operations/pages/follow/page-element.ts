import type { CdpConnection } from "../../../browser/cdp/cdp-connection.ts";
import type { FollowedPage, FrameTarget, NodeAddress } from "./followed-page.ts";

/** In CSS pixels of a viewport. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** An element of the page, used from an isolated world, so that the page's scripts cannot interfere. */
export class PageElement<P extends FollowedPage = FollowedPage> {
  readonly page: P;
  readonly address: NodeAddress;
  readonly #objectId: string;
  readonly #cdp: CdpConnection;

  private constructor(page: P, address: NodeAddress, objectId: string) {
    this.page = page;
    this.address = address;
    this.#cdp = page.cdp;
    this.#objectId = objectId;
  }

  /** Returns `undefined` when the element has gone. */
  static async find<P extends FollowedPage>(page: P, address: NodeAddress): Promise<PageElement<P> | undefined> {
    const { backendNodeId, frameId, target } = address;
    const { cdp } = page;
    try {
      const executionContextId = await page.worldOf(frameId, target);
      if (executionContextId === undefined) return undefined;
      const answer = await page.send(
        cdp.send("DOM.resolveNode", { backendNodeId, executionContextId }, target.sessionId),
      );
      const objectId = answer?.object.objectId;
      if (objectId === undefined) return undefined;
      const element = new PageElement(page, address, objectId);
      return (await element.call("function () { return this.isConnected; }")) === true ? element : undefined;
    } catch {
      return undefined;
    }
  }

  /** Calls a function with the element as `this` and awaits its promise. Returns `undefined` when it has gone. */
  async call(declaration: string, ...values: readonly (string | number | boolean)[]): Promise<unknown> {
    const answer = await this.page
      .send(
        this.#cdp.send(
          "Runtime.callFunctionOn",
          {
            functionDeclaration: declaration,
            objectId: this.#objectId,
            arguments: values.map((value) => ({ value })),
            returnByValue: true,
            awaitPromise: true,
            userGesture: true,
          },
          this.address.target.sessionId,
        ),
      )
      .catch(() => undefined);
    return answer?.exceptionDetails === undefined ? answer?.result.value : undefined;
  }

  /** Focuses it without a click. Returns false when it cannot have the focus. */
  async focus(): Promise<boolean> {
    const { backendNodeId, target } = this.address;
    const answer = await this.page
      .send(this.#cdp.send("DOM.focus", { backendNodeId }, target.sessionId))
      .catch(() => undefined);
    return answer !== undefined;
  }

  isFocused(): Promise<boolean> {
    return this.call("function () { return this.isConnected && this.getRootNode().activeElement === this; }").then(
      (focused) => focused === true,
    );
  }

  /** Scrolls to it, and returns its middle in its target's viewport, if it has a size. */
  async reach(): Promise<Point | undefined> {
    const { backendNodeId, target } = this.address;
    await this.page
      .send(this.#cdp.send("DOM.scrollIntoViewIfNeeded", { backendNodeId }, target.sessionId))
      .catch(() => undefined);
    return middleOf(this.page, backendNodeId, target.sessionId);
  }

  /** Whether the point, in the viewport of its target, shows this element, a part of it, or its label. */
  async isAt(point: Point): Promise<boolean> {
    const { target } = this.address;
    const hit = await nodeAt(this.page, target, point, await scrollOf(this.page, target));
    if (hit === undefined || hit === this.address.backendNodeId) return true;
    const top = await PageElement.find(this.page, { ...this.address, backendNodeId: hit });
    return top === undefined || (await this.#contains(top));
  }

  async #contains(other: PageElement): Promise<boolean> {
    const answer = await this.page
      .send(
        this.#cdp.send(
          "Runtime.callFunctionOn",
          {
            functionDeclaration: containsFunction,
            objectId: this.#objectId,
            arguments: [{ objectId: other.#objectId }],
            returnByValue: true,
          },
          this.address.target.sessionId,
        ),
      )
      .catch(() => undefined);
    // Elements of different frames cannot be compared.
    return answer?.result.value !== false;
  }
}

const containsFunction = `function (hit) {
  const upwards = (node) => node.assignedSlot ?? node.parentNode ?? node.host;
  for (let at = hit; at; at = upwards(at)) if (at === this || (this.labels && [...this.labels].includes(at))) return true;
  for (let at = this; at; at = upwards(at)) if (at === hit) return true;
  return false;
}`;

/** How far a target's document is scrolled, in CSS pixels. */
export async function scrollOf(page: FollowedPage, { sessionId }: FrameTarget): Promise<Point> {
  const answer = await page.send(page.cdp.send("Page.getLayoutMetrics", undefined, sessionId)).catch(() => undefined);
  const { pageX = 0, pageY = 0 } = answer?.cssVisualViewport ?? {};
  return { x: pageX, y: pageY };
}

/** Returns the `backendNodeId` of the element at a point in a target's viewport, if Chromium answers. */
export async function nodeAt(
  page: FollowedPage,
  { sessionId }: FrameTarget,
  { x, y }: Point,
  scroll: Point,
): Promise<number | undefined> {
  // Chromium counts from the start of the document.
  const params = { x: Math.floor(x + scroll.x), y: Math.floor(y + scroll.y), ignorePointerEventsNone: true };
  const answer = await page.send(page.cdp.send("DOM.getNodeForLocation", params, sessionId)).catch(() => undefined);
  return answer?.backendNodeId;
}

async function middleOf(page: FollowedPage, backendNodeId: number, sessionId: string): Promise<Point | undefined> {
  const answer = await page
    .send(page.cdp.send("DOM.getContentQuads", { backendNodeId }, sessionId))
    .catch(() => undefined);
  for (const quad of answer?.quads ?? []) {
    const xs = quad.filter((_, place) => place % 2 === 0);
    const ys = quad.filter((_, place) => place % 2 === 1);
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    if (right - left >= 1 && bottom - top >= 1) return { x: (left + right) / 2, y: (top + bottom) / 2 };
  }
  return undefined;
}

/** Adds the positions of the frames around a target: input events need the page's viewport. */
export async function inPage(page: FollowedPage, target: FrameTarget, { x, y }: Point): Promise<Point> {
  const { parent, targetId } = target;
  if (parent === undefined) return { x, y };
  const owner = await page.send(page.cdp.send("DOM.getFrameOwner", { frameId: targetId }, parent.sessionId));
  if (owner === undefined) return { x, y };
  const corner = await cornerOf(page, owner.backendNodeId, parent);
  return inPage(page, parent, { x: x + corner.x, y: y + corner.y });
}

async function cornerOf(page: FollowedPage, backendNodeId: number, { sessionId }: FrameTarget): Promise<Point> {
  const answer = await page.send(page.cdp.send("DOM.getBoxModel", { backendNodeId }, sessionId));
  const [x = 0, y = 0] = answer?.model.content ?? [];
  return { x, y };
}
