import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import type { CommandSender, FrameTarget } from "./followed-page.ts";

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

const maxFrames = 200;

/** Returns the documents of a page by the ids of their frames, the main one first. */
export async function framesOf(sender: CommandSender): Promise<ReadonlyMap<string, Frame>> {
  const { cdp, targets } = sender.page;
  const trees = await Promise.all(
    targets.map(async (target) => {
      const answer = await sender.ask(cdp.send("Page.getFrameTree", undefined, target.sessionId));
      return answer === undefined ? [] : framesBelow(answer.frameTree, target);
    }),
  );
  const frames = trees.flat().slice(0, maxFrames);
  return new Map(frames.map((frame) => [frame.frameId, frame]));
}
