import { ElementHandle } from "../../follow/element-handle.ts";
import { type Examined, frameFunction, frameHitFunction } from "./examine.ts";
import { framesOf } from "../../follow/frame-tree.ts";
import type { Point } from "../../follow/points.ts";

/** Converts a point of a frame's viewport to the page's, and checks in each frame around it that it is visible there. */
export async function throughFrames(element: ElementHandle, point: Point, hit: boolean): Promise<Examined> {
  const { address, sender } = element;
  if (address.frameId === sender.page.mainFrameId) return { x: point.x, y: point.y };
  const frames = await framesOf(sender);
  let { x, y } = point;
  let frame = frames.get(address.frameId);
  while (frame?.parentId !== undefined) {
    const parent = frames.get(frame.parentId);
    if (parent === undefined) return { problem: "removed" };
    const { sessionId } = parent.target;
    const owner = await sender.ask(sender.page.cdp.send("DOM.getFrameOwner", { frameId: frame.frameId }, sessionId));
    const { frameId, loaderId, target } = parent;
    const holder =
      owner && (await ElementHandle.at(sender, { target, frameId, loaderId, backendNodeId: owner.backendNodeId }));
    const place = await holder?.call<Point>(frameFunction, x, y);
    if (holder === undefined || place === undefined) return { problem: "removed" };
    ({ x, y } = place);
    const seen = await holder.call<"outside" | "covered" | "hit">(frameHitFunction, x, y);
    if (seen === undefined) return { problem: "removed" };
    if (seen === "outside" || (seen === "covered" && hit)) return { problem: seen };
    frame = parent;
  }
  return { x, y };
}
