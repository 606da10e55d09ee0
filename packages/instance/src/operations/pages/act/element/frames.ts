import { type Frame, framesBelow } from "../../follow/frame-tree.ts";
import type { ActRun } from "../act-run.ts";

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
