import pLimit from "p-limit";
import type { FollowedPage } from "../follow/followed-page.ts";
import { intersection } from "../sight/boxes.ts";
import type { DomNode } from "../capture/dom-snapshot.ts";
import type { Box } from "../sight/document-nodes.ts";
import { labelOf } from "./names.ts";
import { countItems, type PageItem, type PageItemElement, type TextItem } from "./page-items.ts";
import type { PageTree } from "./page-tree.ts";

/** Those after it are not listed. */
export const maxTests = 300;
const parallel = 20;
const maxWrapperLevels = 3;
/** Its area as a multiple of the control's. */
const mostWrapper = 2;

type Leaf = TextItem | PageItemElement;

interface Reached {
  readonly tree: PageTree;
  readonly behind: number;
  /** Elements that a click does not reach now. */
  readonly covered: ReadonlySet<unknown>;
}

/** Removes what a click does not reach: parts behind a modal dialog, and controls that the page does not show. */
export async function keepReachable(page: FollowedPage, tree: PageTree): Promise<Reached> {
  const modal = tree.elements.findLast(({ isModal, isVisible }) => isModal && isVisible);
  const doubtful = tree.elements.some(({ isDoubtful }) => isDoubtful);
  if (modal === undefined && !doubtful) return { tree, behind: 0, covered: new Set() };
  const tests = testsOf(tree.items, modal);
  const tested = testedOf([...tests].toSorted((first, second) => rank(first) - rank(second)));
  const hits = await hitTests(page, tested, tree.places);
  const isKept = (item: Leaf): boolean => !tests.has(item) || hits.has(item);
  const items = pruned(tree.items, isKept, modal);
  const elements = tree.elements.filter((element) => !element.isDoubtful || isKept(element));
  const behind = modal === undefined ? 0 : countItems(tree.items) - countItems(items);
  // Behind a banner that calls itself modal, elements out of view may be in reach.
  const coversAll = modal !== undefined && tested.length > 0 && hits.size === 0;
  const covered = new Set(coversAll ? tests : tested.filter((item) => !hits.has(item)));
  return { tree: { ...tree, items, elements }, behind, covered };
}

/** What must be hit to be listed. Doubtful elements outside of the visible part are listed: a click scrolls to them. */
function testsOf(items: readonly PageItem[], modal: PageItemElement | undefined): ReadonlySet<Leaf> {
  const tests = new Set<Leaf>();
  const visit = (item: PageItem): void => {
    if (item.kind === "line") for (const part of item.parts) visit(part);
    else if (item.kind === "text") {
      if (modal !== undefined) tests.add(item);
    } else if (item !== modal) {
      const isLeaf = item.isUsable || item.role === "image" || item.children.length === 0;
      if ((modal !== undefined && isLeaf) || (item.isDoubtful && item.isVisible && isLeaf)) tests.add(item);
      for (const child of item.children) visit(child);
    }
  };
  for (const item of items) visit(item);
  return tests;
}

/** What a hit test needs to know. */
export interface Tested {
  readonly node: DomNode;
  /** In the page's viewport. */
  readonly box: Box | undefined;
  readonly isVisible: boolean;
  /** Whether the part around it may be hit instead. */
  readonly isDoubtful?: boolean;
}

/** Returns the items that a click in the visible part of the page reaches. It tests the first {@link maxTests} only. */
export async function hitTests<T extends Tested>(
  page: FollowedPage,
  tests: readonly T[],
  places: PageTree["places"],
): Promise<ReadonlySet<T>> {
  const hits = new Set<T>();
  const limit = pLimit(parallel);
  await Promise.all(
    testedOf(tests).map((item) =>
      limit(async () => {
        if (await isHit(page, item, places)) hits.add(item);
      }),
    ),
  );
  return hits;
}

function testedOf<T extends Tested>(tests: readonly T[]): readonly T[] {
  return tests.filter(({ isVisible }) => isVisible).slice(0, maxTests);
}

function rank(item: Leaf): number {
  return item.kind === "element" && item.isUsable ? 0 : 1;
}

async function isHit(page: FollowedPage, item: Tested, places: PageTree["places"]): Promise<boolean> {
  const { box, node } = item;
  const place = places.get(node.document);
  if (box === undefined || place === undefined) return false;
  const shown = intersection(box, place.clip);
  for (const [across, down] of [
    [0.5, 0.5],
    [0.1, 0.5],
    [0.9, 0.5],
  ] as const) {
    const x = Math.floor(shown.x + shown.width * across - place.x);
    const y = Math.floor(shown.y + shown.height * down - place.y);
    const answer = await page.ask(page.cdp.send("DOM.getNodeForLocation", { x, y }, place.target.sessionId));
    const hit = answer && node.document.find(answer.backendNodeId);
    if (hit !== undefined && belongsTogether(item, hit)) return true;
  }
  return false;
}

function belongsTogether({ isDoubtful, node }: Tested, hit: DomNode): boolean {
  const own = node.isText ? node.parent : node;
  const accepted = new Set([own, node, labelOf(node), isDoubtful === true ? wrapperOf(node) : undefined]);
  for (let at: DomNode | undefined = hit; at !== undefined; at = at.parent) if (accepted.has(at)) return true;
  return false;
}

/** The element of about the same size around a transparent control below what the page draws for it. */
function wrapperOf(node: DomNode): DomNode | undefined {
  const own = areaOf(node.box);
  let at = node.parent;
  for (let level = 0; at !== undefined && level < maxWrapperLevels; level++, at = at.parent)
    if (at.box !== undefined) return areaOf(at.box) <= own * mostWrapper ? at : undefined;
  return undefined;
}

function areaOf(box: Box | undefined): number {
  return box === undefined ? 0 : box.width * box.height;
}

function pruned(
  items: readonly PageItem[],
  isKept: (item: Leaf) => boolean,
  modal: PageItemElement | undefined,
): PageItem[] {
  return items.flatMap((item): PageItem[] => {
    if (item === modal) return [item];
    if (item.kind === "text") return isKept(item) ? [item] : [];
    if (item.kind === "line") {
      const parts = item.parts.filter(isKept);
      return parts.length === 0 ? [] : [{ ...item, parts }];
    }
    const children = pruned(item.children, isKept, modal);
    const isShown =
      children.length > 0 || (item.children.length === 0 && isKept(item)) || (item.isUsable && isKept(item));
    return isShown ? [{ ...item, children }] : [];
  });
}
