import pLimit from "p-limit";
import type { PageOutline } from "../../../protocol/page.ts";
import type { FrameTarget } from "../../pages/follow/followed-page.ts";
import { nodeAt, scrollOf, type Point } from "../../pages/follow/page-element.ts";
import type { FoundNode } from "./outline-walk.ts";
import type { SnapshotNode } from "./snapshot.ts";
import type { WatchedPage } from "../watched-page.ts";

/** Fields and buttons come first. */
const maxTests = 300;
const parallel = 20;

/** Finds the controls whose middle shows another element. Those outside the viewport are not tested. */
export async function findCovered(
  page: WatchedPage,
  found: readonly FoundNode[],
  viewport: PageOutline["viewport"],
): Promise<ReadonlySet<FoundNode>> {
  const covered = new Set<FoundNode>();
  const tested = found
    .filter((node) => node.kind === "control" && node.hidden === undefined && isInside(node, viewport))
    .sort((first, second) => rank(first) - rank(second))
    .slice(0, maxTests);
  const scrolled = new Map<FrameTarget, Promise<Point>>();
  for (const {
    address: { target },
  } of tested)
    if (!scrolled.has(target)) scrolled.set(target, scrollOf(page, target));
  const limit = pLimit(parallel);
  await Promise.all(
    tested.map((node) =>
      limit(async () => {
        const { address, middle } = node;
        const scroll = await scrolled.get(address.target);
        // Without an answer, nothing covers it.
        const hit = scroll && (await nodeAt(page, address.target, middle, scroll));
        if (hit !== undefined && !belongsTogether(node, hit)) covered.add(node);
      }),
    ),
  );
  return covered;
}

function isInside({ content: { box } }: FoundNode, { width, height }: PageOutline["viewport"]): boolean {
  const x = box.x + box.width / 2;
  const y = box.y + box.height / 2;
  return x >= 0 && y >= 0 && x < width && y < height;
}

function rank({ content: { role } }: FoundNode): number {
  if (role === "link" || role === "clickable") return 1;
  return 0;
}

function belongsTogether({ node, read }: FoundNode, hit: number): boolean {
  const { nodes } = read.document;
  const top = nodes.find(({ backendNodeId }) => backendNodeId === hit);
  // A part of the control that the snapshot omits, or an element of another document.
  if (top === undefined) return true;
  const path = pathOf(top, nodes);
  if (path.includes(node) || pathOf(node, nodes).includes(top)) return true;
  return path.some(
    ({ attributes, tag }) => tag === "label" && attributes.for !== undefined && attributes.for === node.attributes.id,
  );
}

function pathOf(node: SnapshotNode, nodes: readonly SnapshotNode[]): readonly SnapshotNode[] {
  const path: SnapshotNode[] = [];
  for (let at: SnapshotNode | undefined = node; at !== undefined; at = nodes[at.parent]) path.push(at);
  return path;
}
