import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import type { FrameTarget } from "../../follow/followed-page.ts";
import type { ActRun } from "../act-run.ts";

/** A document of the page. */
export interface Frame {
  readonly target: FrameTarget;
  readonly frameId: string;
  readonly loaderId: string;
  readonly parentId: string | undefined;
}

const maxFrames = 60;

/** Returns the documents of a page, the main one first. */
export async function framesOf(run: ActRun): Promise<readonly Frame[]> {
  const { cdp, targets } = run.page;
  const trees = await Promise.all(
    targets.map(async (target) => {
      const answer = await run.ask(cdp.send("Page.getFrameTree", undefined, target.sessionId));
      return answer === undefined ? [] : framesBelow(answer.frameTree, target);
    }),
  );
  const byId = new Map(trees.flat().map((frame) => [frame.frameId, frame]));
  return [...byId.values()].slice(0, maxFrames);
}

function framesBelow({ childFrames = [], frame }: Protocol.Page.FrameTree, target: FrameTarget): readonly Frame[] {
  const { id: frameId, loaderId, parentId } = frame;
  return [{ target, frameId, loaderId, parentId }, ...childFrames.flatMap((child) => framesBelow(child, target))];
}
