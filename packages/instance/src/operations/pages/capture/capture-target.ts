import type { FollowedPage, FrameTarget } from "../follow/followed-page.ts";
import { framesBelow } from "../follow/frame-tree.ts";
import { type CapturedProcess, capturedStyles, snapshotParameters } from "../sight/captured-page.ts";
import { type AccessibleTree, readAccessibleNodes, readAccessibleTree } from "./accessibility.ts";
import { DomDocument } from "./dom-snapshot.ts";
import { type Captured, maxDocuments } from "./page-document.ts";
import { type PlainNodes, plainNodes } from "./plain-nodes.ts";

/** Chromium needs more than a second for the accessibility tree of a larger document. */
const maxAccessibleNodes = 12_000;
/** The styles of a larger document would take seconds more. */
const maxStyledNodes = 30_000;
/** What a large document may take longer, once its process has answered. */
export const largeMs = 20_000;
/** Chromium does not lay out parts of a page that are far from the viewport. A person would, by scrolling there. */
const layOutExpression = `(() => {
  const maxElements = 100000;
  let looked = 0;
  const layOut = (root) => {
    for (const element of root.querySelectorAll("*")) {
      if (++looked > maxElements) return;
      if (element.shadowRoot) layOut(element.shadowRoot);
      if (getComputedStyle(element).contentVisibility === "auto") element.querySelector("*")?.getBoundingClientRect();
    }
  };
  layOut(document);
})()`;
/** No other computed style of the snapshot has only this value; a text of the page may. */
const skippedStyle = "auto";

/** The part of a large document's time that is kept for its tree. */
const treeMs = 10_000;

/** Documents of targets whose last outline needed a whole tree, by their loader. */
const wholes = new WeakMap<FrameTarget, string>();
/** In the time for one node, Chromium reads this many of its whole tree. */
const nodesInsteadOfOne = 8;

export interface CaptureOptions {
  readonly timeoutMs: number;
  /** Whether to read Chromium's whole accessibility tree, with the focus of each frame. */
  readonly isWhole: boolean;
}

/** Captures the documents of one process. Returns `undefined` without an answer. */
export async function captureTarget(
  page: FollowedPage,
  target: FrameTarget,
  options: CaptureOptions,
): Promise<Captured[] | undefined> {
  const { session } = page;
  const answers = await session.outcome(readTarget(page, target, options), options.timeoutMs + largeMs);
  if (answers.kind === "gone") throw session.endError();
  if (answers.kind !== "done" || answers.result === undefined) return undefined;
  const read = answers.result;
  for (const { dom, frames: embedded } of read)
    for (const [index, child] of dom.childDocuments) {
      const document = read[child];
      if (document !== undefined) embedded.set(dom.backendNodeIds[index] ?? 0, document);
    }
  return read;
}

async function readTarget(
  page: FollowedPage,
  target: FrameTarget,
  { isWhole, timeoutMs }: CaptureOptions,
): Promise<Captured[] | undefined> {
  const { cdp, session } = page;
  const started = performance.now();
  const sizes = Promise.all([
    cdp.send("Page.getFrameTree", undefined, target.sessionId),
    cdp.send("Memory.getDOMCounters", undefined, target.sessionId),
  ]);
  const answer = await session.outcome(sizes, timeoutMs);
  if (answer.kind !== "done") return undefined;
  const [tree, counters] = answer.result;
  const frames = framesBelow(tree.frameTree, target).slice(0, maxDocuments);
  const loaders = new Map(frames.map(({ frameId, loaderId }) => [frameId, loaderId]));
  // These include nodes of earlier documents that wait for the garbage collector, and nodes that are in no document.
  const isLarge = counters.nodes > maxStyledNodes;
  const size = { isBasic: isLarge, timeoutMs: isLarge ? timeoutMs + largeMs : timeoutMs };
  const snapshot = captureProcess(page, target, size);
  const loaderId = frames[0]?.loaderId ?? "";
  const isEarly = counters.nodes <= maxAccessibleNodes && (isWhole || wholes.get(target) === loaderId);
  // Chromium reads them while the snapshot is decoded.
  const early = new Map(
    (isEarly ? frames : []).map(({ frameId }) => [frameId, readAccessibleTree(page, target.sessionId, frameId)]),
  );
  const first = await snapshot;
  if (first === undefined) return undefined;
  const left = timeoutMs + largeMs - treeMs - (performance.now() - started);
  const isCounted = isLarge && nodesIn(first) <= maxStyledNodes;
  const captured = (isCounted ? await captureStyled(page, target, left) : first) ?? first;
  const isSmall = nodesIn(captured) <= maxAccessibleNodes;
  const doms = captured.documents.slice(0, maxDocuments).map((one) => new DomDocument(one, captured.strings));
  const plains = doms.map((dom) => (isSmall && !isWhole ? plainOf(dom) : undefined));
  if (!isWhole) {
    if (isSmall && plains.includes(undefined)) wholes.set(target, loaderId);
    else wholes.delete(target);
  }
  return Promise.all(
    doms.map(async (dom, place): Promise<Captured> => {
      const { frameId } = dom;
      const known = captured.isLaidOutLater ? undefined : early.get(frameId);
      if (isSmall) dom.accessible = await (known ?? readNeeded(page, target, { dom, plain: plains[place] }));
      return { dom, target, loaderId: loaders.get(frameId) ?? "", frames: new Map() };
    }),
  );
}

/** A second snapshot, with styles. Without an answer in this time, the first has to do. */
async function captureStyled(page: FollowedPage, target: FrameTarget, timeoutMs: number): Promise<Laid | undefined> {
  if (timeoutMs <= 0) return undefined;
  const snapshot = captureProcess(page, target, { isBasic: false, timeoutMs });
  const answer = await page.session.outcome(snapshot, timeoutMs);
  return answer.kind === "done" ? answer.result : undefined;
}

/** `undefined` where asking about single nodes would take longer than the whole tree. */
function plainOf(dom: DomDocument): PlainNodes | undefined {
  const plain = plainNodes(dom);
  return plain && plain.asked.length * nodesInsteadOfOne <= dom.size ? plain : undefined;
}

/** Reads single nodes of Chromium's tree, where the markup tells the others. */
async function readNeeded(
  page: FollowedPage,
  target: FrameTarget,
  { dom, plain }: { readonly dom: DomDocument; readonly plain: PlainNodes | undefined },
): Promise<AccessibleTree | undefined> {
  if (plain === undefined) return readAccessibleTree(page, target.sessionId, dom.frameId);
  const asked = await readAccessibleNodes(page, target.sessionId, plain.asked);
  return {
    nodes: new Map([...plain.nodes, ...asked.nodes]),
    ignored: new Set([...plain.ignored, ...asked.ignored]),
  };
}

function nodesIn({ documents }: CapturedProcess): number {
  return documents.reduce((sum, { nodes }) => sum + (nodes.parentIndex?.length ?? 0), 0);
}

interface Laid extends CapturedProcess {
  /** Whether parts were laid out for it. */
  readonly isLaidOutLater: boolean;
}

interface SnapshotSize {
  readonly isBasic: boolean;
  readonly timeoutMs: number;
}

/** Targets whose last snapshot had no element that scrolls. */
const still = new WeakSet<FrameTarget>();

/** Takes the snapshot of a process, with parts whose layout Chromium skips. Runs no scripts of the page. */
export async function captureProcess(
  page: FollowedPage,
  target: FrameTarget,
  size: SnapshotSize,
): Promise<Laid | undefined> {
  const first = await capture(page, target, size);
  if (first === undefined) return undefined;
  const place = capturedStyles.indexOf("content-visibility");
  const auto = first.strings.indexOf(skippedStyle);
  const skipping = first.documents.filter(
    ({ layout }) => auto >= 0 && layout.styles.some((one) => one[place] === auto),
  );
  if (skipping.length === 0) return { ...first, isLaidOutLater: false };
  await Promise.all(
    skipping.map(async ({ frameId }) => {
      const contextId = await page.worldOf(first.strings[frameId] ?? "", target);
      const params = { expression: layOutExpression, timeout: 2_000 };
      if (contextId !== undefined)
        await page.send(page.cdp.send("Runtime.evaluate", { ...params, contextId }, target.sessionId));
    }),
  );
  return { ...((await capture(page, target, size)) ?? first), isLaidOutLater: true };
}

async function capture(
  { cdp, session }: FollowedPage,
  target: FrameTarget,
  { isBasic, timeoutMs }: SnapshotSize,
): Promise<CapturedProcess | undefined> {
  const take = async (scrolls: boolean): Promise<CapturedProcess | undefined> => {
    const params = snapshotParameters({ isBasic, scrolls });
    const snapshot = cdp.send("DOMSnapshot.captureSnapshot", params, target.sessionId);
    const answer = await session.outcome(snapshot, timeoutMs);
    if (answer.kind === "gone") throw session.endError();
    return answer.kind === "done" ? answer.result : undefined;
  };
  const wasStill = still.has(target);
  const first = await take(!wasStill);
  if (first === undefined) return undefined;
  const scrolls = hasScroller(first);
  if (scrolls) still.delete(target);
  else still.add(target);
  return scrolls && wasStill ? take(true) : first;
}

function hasScroller({ documents, strings }: CapturedProcess): boolean {
  const places = [capturedStyles.indexOf("overflow-x"), capturedStyles.indexOf("overflow-y")];
  const scrolling = new Set(["auto", "scroll"].map((word) => strings.indexOf(word)).filter((index) => index >= 0));
  if (scrolling.size === 0) return false;
  return documents.some(({ layout }) =>
    layout.styles.some((styles) => places.some((place) => scrolling.has(styles[place] ?? -1))),
  );
}
