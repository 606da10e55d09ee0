import type { FollowedPage, FrameTarget } from "./followed-page.ts";

/** In CSS pixels of a viewport. */
export interface Point {
  readonly x: number;
  readonly y: number;
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
