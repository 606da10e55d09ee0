import { ElementHandle, inWorld } from "../follow/element-handle.ts";
import type { CommandSender } from "../follow/followed-page.ts";
import { framesOf } from "../follow/frame-tree.ts";
import type { Point } from "../follow/points.ts";
import { type ElementState, stateFunction } from "./element-state.ts";

/** An element before it gets the input of a person. */
export interface SeenElement {
  readonly element: ElementHandle;
  readonly state: ElementState;
}

const maxDepth = 10;

/** What a person means: the control around the point, or the control of its label. */
const atPointFunction = `function (x, y) {
  let hit = document.elementFromPoint(x, y);
  for (let root = hit?.shadowRoot; root; root = hit.shadowRoot) {
    const inner = root.elementFromPoint(x, y);
    if (!inner || inner === hit) break;
    hit = inner;
  }
  const wanted = "a[href], area, button, input, select, textarea, summary, iframe, frame, label, [role], [onclick], [tabindex], [contenteditable=''], [contenteditable=true], [contenteditable=plaintext-only]";
  for (let at = hit; at; at = at.parentElement ?? at.getRootNode().host) {
    if (!at.matches(wanted)) continue;
    return at.localName === "label" ? at.control ?? at : at;
  }
  return hit;
}`;

const focusedFunction = `function () {
  let active = document.activeElement;
  while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
  return active ?? document.body ?? document.documentElement;
}`;

/** Where a point is in the document of a frame; nothing for other elements. */
const insideFunction = `function (x, y) {
  if (!/^(iframe|frame)$/.test(this.localName)) return null;
  const box = this.getBoundingClientRect(), style = getComputedStyle(this);
  const across = box.width / (this.offsetWidth || 1) || 1, down = box.height / (this.offsetHeight || 1) || 1;
  return { x: (x - box.left) / across - this.clientLeft - parseFloat(style.paddingLeft),
    y: (y - box.top) / down - this.clientTop - parseFloat(style.paddingTop) };
}`;

/** The element that gets a click at a point of the page. */
export function elementAt(sender: CommandSender, point: Point): Promise<SeenElement | undefined> {
  return lookThroughFrames(sender, atPointFunction, point);
}

/** Whether an element still gets keys: one command instead of a search. */
export const hasFocusFunction = `function () {
  let active = document.hasFocus() ? document.activeElement : null;
  while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
  return active === this;
}`;

/** The element that gets keys. */
export function focusedElement(sender: CommandSender): Promise<SeenElement | undefined> {
  return lookThroughFrames(sender, focusedFunction, { x: 0, y: 0 });
}

async function lookThroughFrames(sender: CommandSender, find: string, start: Point): Promise<SeenElement | undefined> {
  const frames = await framesOf(sender);
  let { x, y } = start;
  let frame = frames.get(sender.page.mainFrameId);
  for (let depth = 0; depth < maxDepth && frame !== undefined; depth++) {
    const place = frame;
    const element = await inWorld(sender, place, ({ objectId }) =>
      new ElementHandle(sender, { ...place, backendNodeId: 0 }, objectId).related(find, x, y),
    );
    const [inside, state] = await Promise.all([
      element?.call<Point | null>(insideFunction, x, y),
      element?.call<ElementState>(stateFunction),
    ]);
    if (element === undefined || inside === undefined || state === undefined) return undefined;
    if (inside === null) return { element, state };
    ({ x, y } = inside);
    const { objectId } = element;
    const owner = await sender.ask(sender.page.cdp.send("DOM.describeNode", { objectId }, place.target.sessionId));
    frame = frames.get(owner?.node.frameId ?? "");
  }
  return undefined;
}

/** Whether both are the same node, also by two looks. */
export function isSame(one: ElementHandle | undefined, other: ElementHandle | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  const { backendNodeId, frameId, loaderId, target } = one.address;
  const { address } = other;
  return (
    backendNodeId === address.backendNodeId &&
    frameId === address.frameId &&
    loaderId === address.loaderId &&
    target.sessionId === address.target.sessionId
  );
}
