import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import type { FrameTarget } from "./followed-page.ts";

/** A document of the page. */
export interface Frame {
  readonly target: FrameTarget;
  readonly frameId: string;
  readonly loaderId: string;
  readonly parentId: string | undefined;
}

/** Returns the documents of a target, each before its children. */
export function framesBelow(
  { childFrames = [], frame }: Protocol.Page.FrameTree,
  target: FrameTarget,
): readonly Frame[] {
  const { id: frameId, loaderId, parentId } = frame;
  return [{ target, frameId, loaderId, parentId }, ...childFrames.flatMap((child) => framesBelow(child, target))];
}
