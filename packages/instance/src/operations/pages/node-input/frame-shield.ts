import type { FollowedPage, FrameTarget, NodeAddress } from "../follow/followed-page.ts";
import { ElementHandle } from "../follow/element-handle.ts";
import { type Frame, framesOf } from "../follow/frame-tree.ts";
import { hitTest } from "./hit-test.ts";

/**
 * Makes the frames of this element's document inert, except those inside it and its own, also frames that the page adds
 * meanwhile. Waits until the browser no longer sends them pointer input. Returns how many frames
 * it has found, and how many of them are inside the element.
 */
const raiseFunction = `async function () {${hitTest}
  globalThis.shoalShield?.lower();
  const frames = "iframe, frame, object, embed, fencedframe";
  const made = new Set();
  let found = 0, inside = 0;
  const take = (frame) => {
    found++;
    for (let at = frame; at; at = around(at)) if (at === this) return inside++;
    if (frame.inert) return;
    frame.inert = true;
    made.add(frame);
  };
  const observer = new MutationObserver((records) => {
    for (const { addedNodes } of records) for (const node of addedNodes) if (node instanceof Element) look(node);
  });
  const look = (root) => {
    if (root instanceof Element && root.matches(frames)) take(root);
    for (const frame of root.querySelectorAll(frames)) take(frame);
    const walk = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT);
    for (let at = root; at; at = walk.nextNode()) if (at.shadowRoot) enter(at.shadowRoot);
  };
  const enter = (root) => {
    observer.observe(root, { childList: true, subtree: true });
    look(root);
  };
  const lower = () => {
    clearTimeout(timer);
    observer.disconnect();
    for (const frame of made) frame.inert = false;
    globalThis.shoalShield = undefined;
  };
  // The action may end without a call.
  const timer = setTimeout(lower, 15000);
  globalThis.shoalShield = { take, lower };
  enter(document);
  // Closed roots around the element.
  for (let root = this.getRootNode(); root !== document && root.host; root = root.host.getRootNode()) enter(root);
  const frame = () => new Promise((done) => { requestAnimationFrame(() => done()); setTimeout(done, 100); });
  if (made.size > 0) for (let count = 0; count < 2; count++) await frame();
  return [found, inside];
}`;

/** Frames in closed shadow roots are known to the browser alone. */
const takeFunction = `function () { globalThis.shoalShield?.take(this); }`;
const lowerFunction = `function () { globalThis.shoalShield?.lower(); }`;

/** Keeps pointer input from the frames that do not contain the element for which it is meant. */
export class FrameShield {
  /** Whether the page has frames that are not for this input. */
  readonly hasOthers: boolean;
  /** Whether the element shows frames, which then receive the input. */
  readonly hasInner: boolean;
  readonly #raised: readonly ElementHandle[];

  private constructor(
    raised: readonly ElementHandle[],
    { hasInner, hasOthers }: { hasInner: boolean; hasOthers: boolean },
  ) {
    this.#raised = raised;
    this.hasInner = hasInner;
    this.hasOthers = hasOthers;
  }

  static async raise(page: FollowedPage, of: ElementHandle): Promise<FrameShield> {
    const [frames, first] = await Promise.all([framesOf(page), of.call<number[]>(raiseFunction)]);
    const raised: ElementHandle[] = [];
    let [others, inner] = [0, 0];
    let element: ElementHandle | undefined = of;
    while (element !== undefined) {
      const { frameId }: NodeAddress = element.address;
      const children = [...frames.values()].filter(({ parentId }) => parentId === frameId);
      const [found = 0, inside = 0] = (element === of ? first : await element.call<number[]>(raiseFunction)) ?? [];
      raised.push(element);
      if (found < children.length) await takeHidden(page, element.address, children);
      others += Math.max(found, children.length) - inside;
      if (element === of) inner = inside;
      const owner: NodeAddress | undefined = await ownerOf(page, frames, frameId);
      element = owner && (await ElementHandle.connectedAt(page, owner));
    }
    return new FrameShield(raised, { hasInner: inner > 0, hasOthers: others > 0 });
  }

  async lower(): Promise<void> {
    await Promise.all(this.#raised.map((element) => element.call(lowerFunction).catch(() => undefined)));
  }
}

async function takeHidden(page: FollowedPage, { frameId, loaderId, target }: NodeAddress, children: readonly Frame[]) {
  await Promise.all(
    children.map(async (child) => {
      const backendNodeId = await ownerNodeOf(page, child.frameId, target);
      if (backendNodeId === undefined) return;
      const owner = await ElementHandle.connectedAt(page, { target, frameId, loaderId, backendNodeId });
      await owner?.call(takeFunction);
    }),
  );
}

/** Returns the element that shows a frame; `undefined` for the page itself. */
async function ownerOf(
  page: FollowedPage,
  frames: ReadonlyMap<string, Frame>,
  frameId: string,
): Promise<NodeAddress | undefined> {
  const parent = frames.get(frames.get(frameId)?.parentId ?? "");
  if (parent === undefined) return undefined;
  const backendNodeId = await ownerNodeOf(page, frameId, parent.target);
  return backendNodeId === undefined ? undefined : { ...parent, backendNodeId };
}

async function ownerNodeOf(
  page: FollowedPage,
  frameId: string,
  { sessionId }: FrameTarget,
): Promise<number | undefined> {
  const owner = await page.ask(page.cdp.send("DOM.getFrameOwner", { frameId }, sessionId));
  return owner?.backendNodeId;
}
