import type { FrameTarget } from "../../pages/follow/followed-page.ts";
import { accessibleNodes, type AccessibleNodes, readAccessibleTree } from "../../pages/capture/accessibility.ts";
import type { WatchedPage } from "../watched-page.ts";
import { recognize } from "./kinds.ts";
import type { SnapshotDocument } from "./snapshot.ts";

/** Chromium needs seconds for the whole tree of a larger document. */
const maxWholeTree = 3_000;
const maxSingleNodes = 300;

/** Reads names by backend node id; nodes that are hidden from assistive technology are absent. */
export async function readAccessibility(
  page: WatchedPage,
  { sessionId }: FrameTarget,
  document: SnapshotDocument,
): Promise<AccessibleNodes> {
  if (document.nodes.length <= maxWholeTree)
    return (await readAccessibleTree(page, sessionId, document.frameId))?.nodes ?? new Map();
  return readControls(page, sessionId, document);
}

async function readControls(
  page: WatchedPage,
  sessionId: string,
  { nodes }: SnapshotDocument,
): Promise<AccessibleNodes> {
  const controls = nodes.filter((node) => node.box !== undefined && recognize(node, undefined)?.kind === "control");
  const fieldsFirst = [...controls.filter(({ tag }) => tag !== "a"), ...controls.filter(({ tag }) => tag === "a")];
  const read = fieldsFirst.slice(0, maxSingleNodes).map(async ({ backendNodeId }) => {
    const params = { backendNodeId, fetchRelatives: false };
    const answer = await page
      .send(page.cdp.send("Accessibility.getPartialAXTree", params, sessionId))
      .catch(() => undefined);
    return answer?.nodes ?? [];
  });
  return accessibleNodes((await Promise.all(read)).flat());
}
